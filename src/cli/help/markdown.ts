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

/** Aligns the columns of a table, and wraps the last one. */
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
  return rows
    .map((row) => {
      const fixed = row.slice(0, -1).map((cell, i) => cell.padEnd(widths[i]!));
      const start = `  ${fixed.join("  ")}${fixed.length > 0 ? "  " : ""}`;
      return wrap(row.at(-1) ?? "", width, start, " ".repeat(start.length));
    })
    .join("\n");
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
