/**
 * Reads the Markdown of the help topics and renders it as plain text. Supports only the headings, paragraphs, lists,
 * tables and code blocks of the topics: a library for all of Markdown is larger than the rest of the program.
 */

/**
 * The texts of a block still have their inline marks; {@link plain} removes them. The first row of a table is its
 * header.
 */
export type Block =
  | { readonly kind: "heading" | "paragraph"; readonly text: string }
  | { readonly kind: "code" | "list"; readonly lines: readonly string[] }
  | { readonly kind: "table"; readonly rows: readonly (readonly string[])[] };

export function readMarkdown(markdown: string): readonly Block[] {
  // A code block, which may have empty lines, or the lines up to an empty one.
  const blocks = markdown.trim().match(/^```.*?^```$|\S(?:(?!\n{2,}\S).)*/gms) ?? [];
  return blocks.map(readBlock);
}

function readBlock(block: string): Block {
  const lines = block.split("\n");
  const [first = ""] = lines;
  const joined = (text: string) => text.replace(/\s+/g, " ");
  if (first.startsWith("```")) return { kind: "code", lines: lines.slice(1, -1) };
  if (first.startsWith("#")) return { kind: "heading", text: first.replace(/^#+ /, "") };
  if (first.startsWith("- ")) {
    return { kind: "list", lines: block.split(/\n(?=- )/).map((item) => joined(item.slice(2))) };
  }
  if (!first.startsWith("|")) return { kind: "paragraph", text: joined(block) };
  const rows = lines
    .filter((line) => !/^\|[\s|:-]+\|$/.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll("\\|", "|")),
    );
  return { kind: "table", rows };
}

/** @param width longest line, in columns; code and longer words are not broken */
export function renderMarkdown(markdown: string, width: number): string {
  return `${readMarkdown(markdown)
    .map((block) => renderBlock(block, width))
    .join("\n\n")}\n`;
}

function renderBlock(block: Block, width: number): string {
  switch (block.kind) {
    case "code":
      return block.lines.map((line) => `  ${line}`.trimEnd()).join("\n");
    case "heading":
      return plain(block.text).toUpperCase();
    case "table":
      return renderTable(block.rows, width);
    case "list":
      return block.lines.map((item) => wrap(plain(item), width, "- ", "  ")).join("\n");
    case "paragraph":
      return wrap(plain(block.text), width, "", "");
  }
}

/** Aligns the columns. If the table is too wide, its widest columns are narrowed and their cells wrapped. */
function renderTable(marked: readonly (readonly string[])[], width: number): string {
  const rows = marked.map((cells) => cells.map(plain));
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const room = width - 2 * widths.length;
  while (widths.reduce((sum, one) => sum + one, 0) > room && Math.max(...widths) > 10) {
    widths[widths.indexOf(Math.max(...widths))]!--;
  }
  return rows.flatMap((row) => renderRow(row, widths)).join("\n");
}

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

export const plain = (text: string): string =>
  text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/\*\*|`/g, "");

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
