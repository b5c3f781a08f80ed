/** The help topics, in the width of the terminal. `build-help.ts` makes their blocks of the Markdown in `topics/`. */
import { readBuilt } from "../../package/own-files.js";
import { terminalWidth, wrap } from "../terminal/wrap.js";

/** Texts have no marks. The first row of a table is its header. */
export type Block =
  | { readonly kind: "heading" | "paragraph"; readonly text: string }
  | { readonly kind: "code" | "list"; readonly lines: readonly string[] }
  | { readonly kind: "table"; readonly rows: readonly (readonly string[])[] };

export function printTopic(name: string): string {
  const topics = JSON.parse(Buffer.from(readBuilt("help/topics.json")).toString());
  return renderTopic(topics[name], Math.min(terminalWidth(), 100));
}

export const renderTopic = (blocks: readonly Block[], width: number): string =>
  `${blocks.map((block) => renderBlock(block, width)).join("\n\n")}\n`;

function renderBlock(block: Block, width: number): string {
  switch (block.kind) {
    case "code":
      return block.lines.map((line) => `  ${line}`.trimEnd()).join("\n");
    case "heading":
      return block.text.toUpperCase();
    case "table":
      return renderTable(block.rows, width);
    case "list":
      return block.lines.map((item) => wrap(item, width, "- ")).join("\n");
    case "paragraph":
      return wrap(block.text, width);
  }
}

/** If the table is too wide, its widest columns are narrowed and their cells wrapped. */
function renderTable(rows: readonly (readonly string[])[], width: number): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const room = width - 2 * widths.length;
  while (widths.reduce((sum, one) => sum + one, 0) > room && Math.max(...widths) > 10) {
    widths[widths.indexOf(Math.max(...widths))]!--;
  }
  return rows.flatMap((row) => renderRow(row, widths)).join("\n");
}

function renderRow(row: readonly string[], widths: readonly number[]): string[] {
  const cells = row.map((cell, i) => wrap(cell, widths[i]!).split("\n"));
  const height = Math.max(...cells.map((lines) => lines.length));
  const lineOf = (line: number) => cells.map((lines, i) => `  ${(lines[line] ?? "").padEnd(widths[i]!)}`).join("");
  return Array.from({ length: height }, (_, line) => lineOf(line).trimEnd());
}
