/**
 * The common back half of a run, however its verdicts are made: counts rows, applies the filter, removes duplicates, splits
 * by status, and writes. Rows arrive in input order and leave in input order.
 */
import { isSplit, type TableSink } from "../files/output.js";
import type { Status } from "../validator/validator.js";
import { DistinctItems } from "./distinct-items.js";
import type { RunOptions, RunReport } from "./run-options.js";
import { hasItem, noItem, notARow } from "./status-codes.js";
import { WriteBehind } from "./write-behind.js";

/** Some rows with their verdicts, in input order. */
export interface RowsWithStatus {
  /** The code of each row's status. */
  readonly codes: Uint8Array;
  /** 1 for each row whose item no row before has. */
  readonly isFirst: Uint8Array;
  /** The hash of each row's mailbox in two words; needed for `--dedupe=canonical` only. */
  readonly mailboxes?: Int32Array | undefined;
  /** Renders all rows. The bytes are good until `release` is called. */
  all(): Uint8Array;
  /** Renders the rows that are wanted, possibly in the memory of all rows: nothing else can be rendered afterwards. */
  keep(isWanted: (row: number) => boolean): Uint8Array;
  /** Renders the rows that are wanted, in memory of their own. */
  copy(isWanted: (row: number) => boolean): Uint8Array;
  /** Called when the bytes are written. */
  release?(): void;
}

export class RowWriter {
  /** Rows so far. */
  rows = 0;
  readonly #statuses: readonly Status[];
  readonly #filter: NonNullable<RunOptions["filter"]>;
  readonly #split: ((status: Status) => Promise<TableSink>) | undefined;
  readonly #output: WriteBehind;
  readonly #mailboxes = new DistinctItems();
  readonly #rowsByCode = new Float64Array(256);
  #written = 0;

  /** @param statuses the statuses by their codes; the list may grow */
  constructor({ sink, filter = {} }: Pick<RunOptions, "sink" | "filter">, statuses: readonly Status[]) {
    this.#statuses = statuses;
    this.#filter = filter;
    this.#output = new WriteBehind(sink);
    this.#split = isSplit(sink) ? (status) => sink.of(status) : undefined;
  }

  /** Writes what stands above the rows. */
  async start(bytes: Uint8Array): Promise<void> {
    await this.#output.write(bytes);
  }

  /** Counts some rows, and writes those that pass the filter. */
  async write(rows: RowsWithStatus): Promise<void> {
    const { codes } = rows;
    let count = 0;
    for (let row = 0; row < codes.length; row++) {
      this.#rowsByCode[codes[row]!]!++;
      if (codes[row] !== notARow) count++;
    }
    this.rows += count;
    const isKept = this.#keptRows(rows);
    const release = () => rows.release?.();
    if (isKept === undefined && !this.#split) {
      this.#written += count;
      await this.#output.write(rows.all(), release);
      return;
    }
    for (let row = 0; row < codes.length; row++) {
      if (codes[row] !== notARow && (isKept === undefined || isKept[row] === 1)) this.#written++;
    }
    if (!this.#split) {
      await this.#output.write(
        rows.keep((row) => isKept![row] === 1),
        release,
      );
      return;
    }
    for (const code of new Set(codes)) {
      if (code === notARow) continue;
      const bytes = rows.copy((row) => codes[row] === code && (isKept === undefined || isKept[row] === 1));
      if (bytes.length > 0) {
        await this.#output.write(bytes, undefined, await this.#split(this.#statuses[code]!));
      }
    }
    release();
  }

  /** Resolves when everything is written. */
  flush(): Promise<void> {
    return this.#output.flush();
  }

  /** The counts of this half of the run. */
  report(): Pick<RunReport, "rows" | "written" | "emptyRows" | "statuses"> {
    const statuses = new Map<Status, number>();
    for (const [code, status] of this.#statuses.entries()) {
      const rows = this.#rowsByCode[code]!;
      if (code !== noItem && rows > 0) statuses.set(status, rows);
    }
    return { rows: this.rows, written: this.#written, emptyRows: this.#rowsByCode[noItem]!, statuses };
  }

  /** 1 for each row that passes the filter; undefined when all do. */
  #keptRows({ codes, isFirst, mailboxes }: RowsWithStatus): Uint8Array | undefined {
    const { keeps, dedupe } = this.#filter;
    if (!keeps && !dedupe) return undefined;
    const keptCodes = this.#statuses.map((status) => keeps?.(status) !== false);
    // Without an item: a row whose status is left out hides no other one of its mailbox.
    const candidates = codes.map((code) => (code === notARow || keptCodes[code] ? code : noItem));
    const isNew =
      dedupe === "canonical" && mailboxes ? this.#mailboxes.addAll(mailboxes, candidates, 1).isNew : isFirst;
    return codes.map((code, row) => {
      if (code === notARow) return 1;
      return Number(keptCodes[code] && (!dedupe || !hasItem(code) || isNew[row] === 1));
    });
  }
}
