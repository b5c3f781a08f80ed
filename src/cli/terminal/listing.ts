/**
 * Lists on standard output: aligned under a header on a terminal, or a line for each cell where it is too narrow;
 * tab-separated without a header anywhere else; or CSV.
 */
import type { ChalkInstance } from "chalk";
import { printable } from "../../text.js";
import { allPrinted, print } from "./standard-output.js";
import { colours, say } from "./terminal.js";
import { terminalWidth } from "./wrap.js";

type Rows = readonly (readonly string[])[];

export interface Listing {
  readonly header: readonly string[];
  /** In pages for lists that are too long for memory. Later pages are aligned like the first. */
  readonly rows: Rows | AsyncIterable<Rows>;
  /** Prints CSV with a header, everywhere. */
  readonly isCsv?: boolean | undefined;
  /** Said on a terminal in the place of an empty list. */
  readonly none?: string;
  readonly colourOf?: (chalk: ChalkInstance, column: number, text: string) => ((text: string) => string) | undefined;
}

/** Cells may hold any text. @throws FileError, ClosedPipe for pages */
export async function printListing({ rows, isCsv, none, ...listing }: Listing): Promise<void> {
  if (isCsv) return printCsv(listing.header, rows);
  const widths: number[] = [];
  let isEmpty = true;
  for await (const page of Symbol.asyncIterator in rows ? rows : [rows]) {
    isEmpty &&= page.length === 0;
    await printPage(page, listing, widths);
    await allPrinted();
  }
  if (isEmpty && none !== undefined && process.stdout.isTTY) say(none);
}

async function printCsv(header: readonly string[], rows: Listing["rows"]): Promise<void> {
  const { stringify } = await import("csv-stringify/sync");
  if (header.length > 0) print(stringify([header]));
  for await (const page of Symbol.asyncIterator in rows ? rows : [rows]) {
    print(stringify([...page]));
    await allPrinted();
  }
}

/** `widths` has those of earlier pages and is updated; if it is empty, the header is printed. */
async function printPage(rows: Rows, { header, colourOf }: Omit<Listing, "rows">, widths: number[]): Promise<void> {
  if (!process.stdout.isTTY) {
    print(rows.map((row) => `${row.map(printable).join("\t").trimEnd()}\n`).join(""));
    return;
  }
  if (rows.length === 0) return;
  const chalk = await colours(process.stdout, process.env);
  const cells = rows.map((row) => header.map((_, column) => printable(row[column] ?? "")));
  const isNumber = header.map((_, column) => cells.every((row) => /^[\d,]+$|^-?$/.test(row[column]!)));
  const isFirst = widths.length === 0;
  for (const [column, name] of header.entries()) {
    widths[column] = Math.max(widths[column] ?? name.length, ...cells.map((row) => row[column]!.length));
  }
  const startOf = (column: number) => widths.slice(0, column).reduce((sum, each) => sum + each + 2, 0);
  const endOf = (text: string, column: number) => (text === "" ? 0 : startOf(column) + text.length);
  const ends = cells.map((row) => Math.max(...row.map(endOf)));
  // A few long ones are easier to read than a list without columns.
  if (ends.filter((end) => end > terminalWidth()).length > cells.length / 4) {
    const most = Math.max(...header.map(({ length }) => length));
    const named = (text: string, column: number) => {
      const name = header[column]!.padEnd(most);
      const shown = (chalk && colourOf?.(chalk, column, text)?.(text)) ?? text;
      return text === "" ? "" : `${chalk?.bold(name) ?? name}  ${shown}\n`;
    };
    print(cells.map((row, i) => (i === 0 && isFirst ? "" : "\n") + row.map(named).join("")).join(""));
    return;
  }
  for (const [line, row] of (isFirst ? [header, ...cells] : cells).entries()) {
    const padded = row.map((text, column) => {
      const wide = isNumber[column] ? text.padStart(widths[column]!) : text.padEnd(widths[column]!);
      const isHeader = isFirst && line === 0;
      const colour = chalk && (isHeader ? chalk.bold : colourOf?.(chalk, column, text));
      return colour ? colour(wide) : wide;
    });
    print(`${padded.join("  ").trimEnd()}\n`);
  }
}
