import type { TableSink } from "../../files/output.js";
import type { RowFault } from "../../table/bad-rows.js";
import { quoteField } from "../../table/quotes.js";
import { say } from "../terminal/terminal.js";

/** How many bad rows stderr names before it only counts them. */
const named = 20;

/** Tells of the rows that are skipped or kept as they are: the first on stderr, all of them in a file if wanted. */
export class BadRowsReport {
  count = 0;
  readonly #file: TableSink | undefined;
  #unwritten = "file,line,reason,record\n";

  /** @param file gets a CSV table of all */
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

  /** Writes what was added since. */
  async flush(): Promise<void> {
    const text = this.#unwritten;
    this.#unwritten = "";
    if (text !== "") await this.#file?.write(Buffer.from(text));
  }
}
