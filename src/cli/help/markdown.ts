/**
 * Renders the Markdown of the help topics as plain text: headings, paragraphs, lists, tables and code blocks. It knows
 * only what the topics use; libraries for all of Markdown are larger than the rest of the program.
 */

/**
 * Renders Markdown.
 *
 * @param width longest line, in columns; code and longer words are not broken
 */
export function renderMarkdown(markdown: string, width: number): string {
  const blocks = markdown.trim().split(/\n{2,}(?=\S)/);
  return `${blocks.map((block) => renderBlock(block, width)).join("\n\n")}\n`;
}

function renderBlock(block: string, width: number): string {
  const lines = block.split("\n");
  const [first = ""] = lines;
  if (first.startsWith("```")) {
    return lines
      .slice(1, -1)
      .map((line) => `  ${line}`.trimEnd())
      .join("\n");
  }
  if (first.startsWith("#")) return plain(first.replace(/^#+ /, "")).toUpperCase();
  if (first.startsWith("|")) return renderTable(lines, width);
  if (first.startsWith("- ")) {
    return block
      .split(/\n(?=- )/)
      .map((item) => wrap(plain(item.slice(2).replace(/\s+/g, " ")), width, "- ", "  "))
      .join("\n");
  }
  return wrap(plain(block.replace(/\s+/g, " ")), width, "", "");
}

/** Aligns the columns of a table. Where they are too wide together, the widest give way and their cells are wrapped. */
function renderTable(lines: readonly string[], width: number): string {
  const rows = lines
    .filter((line) => !/^\|[\s|:-]+\|$/.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split("|")
        .map((cell) => plain(cell.trim())),
    );
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const room = width - 2 * widths.length;
  while (widths.reduce((sum, one) => sum + one, 0) > room && Math.max(...widths) > 10) {
    widths[widths.indexOf(Math.max(...widths))]!--;
  }
  return rows.flatMap((row) => renderRow(row, widths)).join("\n");
}

/** Renders a row of a table; it has as many lines as its longest cell. */
function renderRow(row: readonly string[], widths: readonly number[]): string[] {
  const cells = row.map((cell, i) => wrap(cell, widths[i]!, "", "").split("\n"));
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    cells
      .map((lines, i) => `  ${(lines[line] ?? "").padEnd(widths[i]!)}`)
      .join("")
      .trimEnd(),
  );
}

/** Returns text without the marks of code, emphasis and links. */
const plain = (text: string): string => text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/\*\*|`/g, "");

function wrap(text: string, width: number, start: string, indent: string): string {
  const lines: string[] = [];
  let line = start;
  let isEmpty = true;
  for (const word of text.split(" ")) {
    if (!isEmpty && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent;
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line].join("\n");
}
