import { stringify } from "csv-stringify/sync";
import type { BadRow } from "../table/bad-rows.js";
import type { TableSink } from "../table/output.js";
import { say } from "./terminal.js";

/** How many bad rows stderr names before it only counts them. */
const named = 20;

/** Tells of the rows that are skipped or kept as they are: the first on stderr, all of them in a file if wanted. */
export class BadRowsReport {
  count = 0;
  readonly #file: TableSink | undefined;
  #unwritten: string[][];

  /** @param file gets a CSV table of all */
  constructor(file: TableSink | undefined) {
    this.#file = file;
    this.#unwritten = [["file", "line", "reason", "record"]];
  }

  add({ error, record }: BadRow): void {
    this.count++;
    if (this.count <= named) say(error.message);
    if (this.count === named + 1) say("more bad rows are only counted");
    if (this.#file === undefined) return;
    const text = Buffer.from(record).toString("utf8");
    this.#unwritten.push([error.file, String(error.line), error.reason, text]);
  }

  /** Writes what was added since. */
  async flush(): Promise<void> {
    const rows = this.#unwritten;
    this.#unwritten = [];
    if (rows.length > 0) await this.#file?.write(Buffer.from(stringify(rows)));
  }
}
