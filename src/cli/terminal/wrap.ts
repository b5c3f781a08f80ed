/** Text in lines of a width. */

export const terminalWidth = (): number => process.stdout.columns || 80;

// Longer words are not broken. The first line starts with `first`; the others are as far to the right. wrap-ansi makes
// the start of every command 15 to 20 ms longer, a fifth.
export function wrap(text: string, width: number, first = ""): string {
  const indent = " ".repeat(first.length);
  const lines: string[] = [];
  let line: string | undefined;
  for (const word of text.split(" ")) {
    if (line === undefined) line = word;
    else if (indent.length + line.length + 1 + word.length <= width) line += ` ${word}`;
    else {
      lines.push(line);
      line = word;
    }
  }
  return first + [...lines, line].join(`\n${indent}`);
}
