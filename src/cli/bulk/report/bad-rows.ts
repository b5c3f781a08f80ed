/** Reports bad rows that are skipped or kept: the first ones on standard error, all of them in a file if one is given. */

import { BadRowCounts, type RowFault } from "../../../core/table/bad-rows.js";
import { quoteField } from "../../../core/table/quotes.js";
import { found } from "../../../files/found.js";
import { openOutputFile } from "../../../files/output.js";
import type { TableSink } from "../../../files/table-sink.js";
import { say } from "../../terminal/terminal.js";

const named = 20;

export const badRowsHeader = "file,line,reason,record\n";

/** `hasOnlyCopy` if rows are taken out of their file: those of earlier runs are nowhere else and have to stay. */
export function badRowsTable(path: string, hasOnlyCopy: boolean) {
  let isContinued = hasOnlyCopy && (found(path)?.size ?? 0) > 0;
  return {
    /** Replaces an older table, or continues that of this run or of earlier ones. @throws FileError */
    async open(signal: AbortSignal): Promise<TableSink> {
      const sink = await openOutputFile(path, isContinued ? "append" : "replace", signal);
      if (isContinued) return sink;
      try {
        await sink.write(Buffer.from(badRowsHeader));
        return sink;
      } catch (error) {
        await sink.discard();
        throw error;
      }
    },
    startNext() {
      isContinued = true;
    },
  };
}

export class BadRows {
  readonly counts = new BadRowCounts();
  readonly #unwritten: Buffer[] = [];

  constructor(
    readonly sink: TableSink | undefined,
    private readonly annotate: ((fault: RowFault) => void) | undefined,
  ) {}

  add(fault: RowFault, record: Uint8Array): void {
    this.counts.add(fault);
    this.annotate?.(fault);
    if (this.counts.count <= named) say(fault.message);
    if (this.counts.count === named + 1) say("more bad rows are only counted");
    if (this.sink === undefined) return;
    const fields = [fault.file, String(fault.line), fault.reason].map((field) => quoteField(field, ","));
    // Latin-1 copies byte by byte: a record need not be UTF-8.
    const quoted = quoteField(Buffer.from(record).toString("latin1"), ",");
    this.#unwritten.push(Buffer.from(`${fields.join(",")},`), Buffer.from(`${quoted}\n`, "latin1"));
  }

  async flush(): Promise<void> {
    const bytes = Buffer.concat(this.#unwritten.splice(0));
    if (bytes.length > 0) await this.sink?.write(bytes);
  }
}
