import { hashItem, type ItemHash } from "../../classifier/item-hash.js";
import type { CacheScope } from "../../store/verdict-cache.js";
import { ServiceError } from "../../validator/errors.js";
import {
  type Kind,
  notChecked,
  type QuotaState,
  type Status,
  type Validator,
  type Verdict,
} from "../../validator/validator.js";
import { type Columns, ourFields } from "../columns.js";
import { DistinctItems } from "../distinct-items.js";
import { extractItem, itemKey, mailboxKey } from "../item.js";
import type { RowFilter, RunOptions, RunReport } from "../run-options.js";

const mostStatuses = 127;
/** Added to the state of an item whose verdict is in the cache while nothing in this run has asked for it. */
const unseen = 128;

/** A row's item, and where its verdict is kept. */
export interface RowItem extends ItemHash {
  readonly item: string;
  /** What the memory knows it by, if there is one. */
  readonly digest: string;
  /** No row before has this item. */
  readonly isFirst: boolean;
  /** Nobody but the engine can tell its verdict, and no row before has asked for it. */
  readonly isOpen: boolean;
}

/** Keeps the verdict of every distinct item, and the counts. */
export class ItemLedger {
  readonly #kind: Kind;
  readonly #validator: Validator;
  readonly #memory: CacheScope | undefined;
  readonly #columns: Columns;
  readonly #filter: RowFilter;
  readonly #items = new DistinctItems();
  readonly #mailboxes = new DistinctItems();
  /** The table of items keeps one byte for each: the status's index here, plus 1. */
  readonly #statuses: Status[] = [];
  /** Verdicts that came into the cache while their items were open. */
  readonly #remembered = new Map<string, Status>();
  readonly #rowsOf = new Map<Status, number>();
  readonly #fieldsOfStatus = new Map<Status, string[]>();
  readonly #hasOnlyStatus: boolean;
  #rows = 0;
  #written = 0;
  #emptyRows = 0;
  #distinct = 0;
  #cached = 0;
  #prechecked = 0;
  #charged = 0;
  #quota: QuotaState | undefined;

  constructor({ kind, validator, memory, columns, filter = {} }: RunOptions) {
    this.#filter = filter;
    this.#kind = kind;
    this.#validator = validator;
    this.#memory = memory;
    this.#columns = columns;
    this.#hasOnlyStatus = !columns.withReasons && !columns.withCanonical;
  }

  /** Loads the verdicts of earlier runs. */
  async load(): Promise<void> {
    await this.#memory?.load((low, high, status) => this.remember({ low, high }, status));
  }

  /** Takes a verdict from the cache: that of an earlier run, or of one at the same time. */
  remember(hash: ItemHash, status: Status): void {
    const isKnown = this.#statuses.includes(status) || this.#statuses.length < mostStatuses;
    if (!isKnown) return;
    const state = this.#items.get(hash);
    if (state === 0 || state > unseen) this.#items.set(hash, this.#stateOf(status) + unseen);
    else if (this.#statuses[state - 1] === notChecked.status) this.#remembered.set(wordsKey(hash), status);
  }

  /** Settles an open item whose verdict has come into the cache meanwhile, and says whether there is one. */
  takeRemembered(item: RowItem): boolean {
    const key = wordsKey(item);
    const status = this.#remembered.get(key);
    if (status === undefined) return false;
    this.#remembered.delete(key);
    this.#cached++;
    this.settle(item, { status });
    return true;
  }

  /** The item in a value of the table; one that is open is to be submitted. */
  locate(value: string): RowItem | undefined {
    const item = extractItem(this.#kind, value);
    if (item === "") return undefined;
    const key = itemKey(item);
    const digest = this.#memory?.digest(key) ?? "";
    const { low, high } = digest === "" ? hashItem(this.#items.seed, key) : wordsOf(digest);
    const state = this.#items.get({ low, high });
    const isFirst = state === 0 || state > unseen;
    const isOpen = isFirst && !this.#isKnown(item, { low, high }, state);
    if (isFirst) this.#distinct++;
    return { item, low, high, digest, isFirst, isOpen };
  }

  /** Takes a verdict on items that were open. */
  settle(item: RowItem, { status }: Verdict): void {
    this.#items.set(item, this.#stateOf(status));
  }

  /** Takes what a batch took from the quota. */
  charge(units: number, quota: QuotaState): void {
    this.#charged += units;
    this.#quota = quota;
  }

  /** Counts a row and gives our fields for it; undefined when it is not to be written. */
  fields(row: RowItem | undefined): string[] | undefined {
    this.#rows++;
    const status = row === undefined ? "" : this.#statuses[this.#items.get(row) - 1]!;
    if (row === undefined) this.#emptyRows++;
    else this.#rowsOf.set(status, (this.#rowsOf.get(status) ?? 0) + 1);
    const { keeps, dedupe } = this.#filter;
    if (keeps?.(status) === false || (row && dedupe && !this.#isFirst(row, dedupe))) return undefined;
    this.#written++;
    return this.#hasOnlyStatus ? this.#fieldsOf(status) : this.#fieldsFor(row, status);
  }

  /** The same list for every row of a status. */
  #fieldsOf(status: Status): string[] {
    let fields = this.#fieldsOfStatus.get(status);
    if (fields === undefined) {
      fields = ourFields(this.#columns, { status }, this.#kind);
      this.#fieldsOfStatus.set(status, fields);
    }
    return fields;
  }

  #fieldsFor(row: RowItem | undefined, status: Status): string[] {
    const isChecked = row !== undefined && status !== notChecked.status;
    const explained = this.#columns.withReasons && isChecked ? this.#explain(row.item) : undefined;
    const verdict = explained?.status === status ? explained : { status };
    return ourFields(this.#columns, verdict, this.#kind, isChecked ? row.item : undefined);
  }

  report(): RunReport {
    return {
      rows: this.#rows,
      written: this.#written,
      emptyRows: this.#emptyRows,
      distinct: this.#distinct,
      cached: this.#cached,
      prechecked: this.#prechecked,
      statuses: this.#rowsOf,
      charged: this.#charged,
      quota: this.#quota,
    };
  }

  /** Whether the verdict on an item that no row had before is known; it goes into the table in any case. */
  #isKnown(item: string, hash: ItemHash, state: number): boolean {
    if (state > unseen) {
      this.#cached++;
      this.#items.set(hash, state - unseen);
      return true;
    }
    const verdict = this.#validator.precheck?.(this.#kind, item);
    if (verdict !== undefined) this.#prechecked++;
    this.#items.set(hash, this.#stateOf((verdict ?? notChecked).status));
    return verdict !== undefined;
  }

  #explain(item: string): Verdict | undefined {
    const { explain, precheck } = this.#validator;
    return explain ? explain(this.#kind, item) : precheck?.(this.#kind, item);
  }

  /** Whether no row before that was asked about has the same item, or the same canonical one. */
  #isFirst({ item, isFirst }: RowItem, dedupe: "item" | "canonical"): boolean {
    if (dedupe === "item") return isFirst;
    const hash = hashItem(this.#mailboxes.seed, mailboxKey(this.#kind, item));
    const isNew = this.#mailboxes.get(hash) === 0;
    this.#mailboxes.set(hash, 1);
    return isNew;
  }

  /** @throws ServiceError when there are more statuses than a service could mean */
  #stateOf(status: Status): number {
    const index = this.#statuses.indexOf(status);
    if (index !== -1) return index + 1;
    if (this.#statuses.length === mostStatuses) {
      throw new ServiceError(
        `the ${this.#validator.engine} engine gave more than ${mostStatuses} different statuses`,
      );
    }
    return this.#statuses.push(status);
  }
}

const wordsKey = ({ low, high }: ItemHash): string => `${low} ${high}`;

/** The first 64 bits of a digest. */
function wordsOf(digest: string): ItemHash {
  const word = (at: number) =>
    digest.charCodeAt(at) |
    (digest.charCodeAt(at + 1) << 8) |
    (digest.charCodeAt(at + 2) << 16) |
    (digest.charCodeAt(at + 3) << 24);
  return { low: word(0), high: word(4) };
}
