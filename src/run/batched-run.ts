import type { RecordChunk } from "../table/records.js";
import { isSplit } from "../table/split-output.js";
import type { Kind, QuotaState, Status, Validator } from "../validator/validator.js";
import { type Columns, ourFields } from "./columns.js";
import { DistinctItems } from "./distinct-items.js";
import { extractItem, itemKey, mailboxKey } from "./item.js";
import { hashItem, type ItemHash } from "./item-hash.js";
import type { RowFilter, RunOptions, RunReport } from "./run-options.js";
import { WriteBehind } from "./write-behind.js";

const notChecked: Status = "quota_exceeded";

/** The way for any engine and any table: items are strings, and go to the engine in batches. */
export async function runBatched(options: RunOptions): Promise<RunReport> {
  const { table, sink, columns, signal, onProgress } = options;
  const ledger = new Ledger(options);
  const output = new WriteBehind(sink);
  const split = isSplit(sink) ? sink : undefined;
  await output.write(table.start(columns.names));
  for await (const chunk of table.chunks) {
    signal.throwIfAborted();
    const added = await ledger.judge(chunk, signal);
    if (split) {
      for (const status of new Set(added.flatMap((fields) => fields?.[0] ?? []))) {
        const rows = added.map((fields) => (fields?.[0] === status ? fields : undefined));
        await output.write(chunk.append(rows), undefined, await split.of(status));
      }
    } else await output.write(chunk.append(added));
    await onProgress?.(ledger.report().rows);
  }
  await output.flush();
  return ledger.report();
}

/** A row's item, and where its verdict is kept. */
interface RowItem {
  readonly item: string;
  readonly hash: ItemHash;
  /** No row before has this item. */
  isFirst: boolean;
}

/** Keeps the verdict of every distinct item, and the counts. */
class Ledger {
  readonly #kind: Kind;
  readonly #validator: Validator;
  readonly #columns: Columns;
  readonly #filter: RowFilter;
  readonly #items = new DistinctItems();
  readonly #mailboxes = new DistinctItems();
  /** The table of items keeps one byte for each: the status's index here, plus 1. */
  readonly #statuses: Status[] = [];
  readonly #rowsOf = new Map<Status, number>();
  #rows = 0;
  #written = 0;
  #emptyRows = 0;
  #charged = 0;
  #quota: QuotaState | undefined;
  #isExhausted = false;

  constructor({ kind, validator, columns, filter = {} }: RunOptions) {
    this.#filter = filter;
    this.#kind = kind;
    this.#validator = validator;
    this.#columns = columns;
  }

  /** Gets the verdicts on the items that are new, and gives our fields for every row that is to be written. */
  async judge(chunk: RecordChunk, signal: AbortSignal): Promise<(string[] | undefined)[]> {
    const rows = chunk.values.map((value) => this.#locate(value));
    const pending = this.#findNew(rows);
    for (let i = 0; i < pending.length; i += this.#validator.batchSize) {
      await this.#submit(pending.slice(i, i + this.#validator.batchSize), signal);
    }
    return rows.map((row, i) => (chunk.values[i] === undefined ? [] : this.#fields(row)));
  }

  report(): RunReport {
    return {
      rows: this.#rows,
      written: this.#written,
      emptyRows: this.#emptyRows,
      distinct: this.#items.size,
      statuses: this.#rowsOf,
      charged: this.#charged,
      quota: this.#quota,
    };
  }

  #locate(value: string | undefined): RowItem | undefined {
    const item = extractItem(this.#kind, value ?? "");
    if (item === "") return undefined;
    return { item, hash: hashItem(this.#items.seed, itemKey(item)), isFirst: false };
  }

  /** The items of these rows that no row had before, in order; each goes into the table as not checked. */
  #findNew(rows: readonly (RowItem | undefined)[]): RowItem[] {
    const unchecked = this.#stateOf(notChecked);
    return rows.filter((row): row is RowItem => {
      if (row === undefined || this.#items.get(row.hash) !== 0) return false;
      this.#items.set(row.hash, unchecked);
      row.isFirst = true;
      return true;
    });
  }

  async #submit(batch: readonly RowItem[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#isExhausted) return;
    const outcome = await this.#validator.validate(
      this.#kind,
      batch.map(({ item }) => item),
      signal,
    );
    this.#isExhausted = outcome.exhausted;
    this.#charged += outcome.charged;
    this.#quota = outcome.quota;
    batch.forEach(({ hash }, i) => {
      this.#items.set(hash, this.#stateOf(outcome.verdicts[i]!.status));
    });
  }

  /** Counts a row and gives our fields for it; undefined when it is not to be written. */
  #fields(row: RowItem | undefined): string[] | undefined {
    this.#rows++;
    const status = row === undefined ? "" : this.#statuses[this.#items.get(row.hash) - 1]!;
    if (row === undefined) this.#emptyRows++;
    else this.#rowsOf.set(status, (this.#rowsOf.get(status) ?? 0) + 1);
    const { keeps, dedupe } = this.#filter;
    if (keeps?.(status) === false || (row && dedupe && !this.#isFirst(row, dedupe))) return undefined;
    this.#written++;
    const isChecked = row !== undefined && status !== notChecked;
    const explain = this.#columns.withReasons && isChecked ? this.#validator.explain : undefined;
    const verdict = { ...explain?.(this.#kind, row!.item), status };
    return ourFields(this.#columns, verdict, this.#kind, isChecked ? row.item : undefined);
  }

  /** Whether no row before that was asked about has the same item, or the same canonical one. */
  #isFirst({ item, isFirst }: RowItem, dedupe: "item" | "canonical"): boolean {
    if (dedupe === "item") return isFirst;
    const hash = hashItem(this.#mailboxes.seed, mailboxKey(this.#kind, item));
    const isNew = this.#mailboxes.get(hash) === 0;
    this.#mailboxes.set(hash, 1);
    return isNew;
  }

  #stateOf(status: Status): number {
    const index = this.#statuses.indexOf(status);
    if (index !== -1) return index + 1;
    if (this.#statuses.length === 255) throw new Error("the engine gave more than 255 different statuses");
    return this.#statuses.push(status);
  }
}
