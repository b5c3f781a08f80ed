/**
 * Reports bad rows that are skipped or kept: the first ones on standard error, all of them in a file if one is given.
 */
import type { TableSink } from "../../files/output.js";
import type { RowFault } from "../../table/bad-rows.js";
import { quoteField } from "../../table/quotes.js";
import { say } from "../terminal/terminal.js";

/** Number of bad rows reported on standard error. Further ones are only counted. */
const named = 20;

/** Collects the bad rows of a run. */
export class BadRowsReport {
  count = 0;
  readonly #file: TableSink | undefined;
  #unwritten = "file,line,reason,record\n";

  /** @param file sink for a CSV table of all bad rows; undefined for none */
  constructor(file: TableSink | undefined) {
    this.#file = file;
  }

  add(fault: RowFault, record: Uint8Array): void {
    this.count++;
    if (this.count <= named) say(fault.message);
    if (this.count === named + 1) say("more bad rows are only counted");
    if (this.#file === undefined) return;
    const fields = [fault.file, String(fault.line), fault.reason, Buffer.from(record).toString()];
    this.#unwritten += `${fields.map((field) => quoteField(field, ",")).join(",")}\n`;
  }

  /** Writes the bad rows that were added since the last call. */
  async flush(): Promise<void> {
    const text = this.#unwritten;
    this.#unwritten = "";
    if (text !== "") await this.#file?.write(Buffer.from(text));
  }
}
