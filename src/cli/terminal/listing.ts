/** Lists on standard output: aligned under a header on a terminal, tab-separated without a header anywhere else. */
import type { ChalkInstance } from "chalk";
import { print } from "./standard-output.js";
import { colours, printable } from "./terminal.js";

/** A list to print. */
export interface Listing {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Returns the colour of a cell; none if absent. */
  readonly colourOf?: (
    chalk: ChalkInstance,
    column: number,
    text: string,
  ) => ((text: string) => string) | undefined;
}

/** Prints a list. Cells may hold any text. */
export async function printListing({ header, rows, colourOf }: Listing): Promise<void> {
  if (!process.stdout.isTTY) {
    for (const row of rows) print(`${row.map(printable).join("\t").trimEnd()}\n`);
    return;
  }
  if (rows.length === 0) return;
  const chalk = await colours(process.stdout, process.env);
  const cells = [header, ...rows].map((row) => header.map((_, column) => printable(row[column] ?? "")));
  const widths = header.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  const isNumber = header.map((_, column) =>
    cells.slice(1).every((row) => /^[\d,]+$|^-?$/.test(row[column]!)),
  );
  for (const [line, row] of cells.entries()) {
    const padded = row.map((text, column) => {
      const wide = isNumber[column] ? text.padStart(widths[column]!) : text.padEnd(widths[column]!);
      const colour = chalk && (line === 0 ? chalk.bold : colourOf?.(chalk, column, text));
      return colour ? colour(wide) : wide;
    });
    print(`${padded.join("  ").trimEnd()}\n`);
  }
}
