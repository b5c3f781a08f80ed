/** The distinct items of a batched run and their statuses. Tells which items have to be submitted. */
import { randomFillSync } from "node:crypto";
import { hashItem, type ItemHash } from "../../classifier/item-hash.js";
import { reasonCode } from "../../classifier/outcomes.js";
import { ServiceError } from "../../validator/errors.js";
import {
  type Kind,
  notChecked,
  type QuotaState,
  type Status,
  type Validator,
  type Verdict,
} from "../../validator/validator.js";
import type { CachePort } from "../cache-port.js";
import { type CellOptions, Cells, decidesBefore, usualCells } from "../cells.js";
import { DistinctItems } from "../distinct-items.js";
import { tooManyKept } from "../earlier-fields.js";
import { itemKey } from "../item.js";
import type { RunOptions } from "../run-options.js";
import type { RunCounts } from "../session.js";
import { mostStatuses, noItemCode } from "../status-codes.js";

/** Added to the state of an item whose verdict is in the cache, until the item occurs in the table. */
const unseen = 128;

/** The item of a row. */
export interface RowItem extends ItemHash {
  readonly item: string;
  /** Digest of the item in the cache; empty without a cache. */
  readonly digest: string;
  /** Whether this row is the first one with the item. */
  readonly isFirst: boolean;
  /** First occurrence, decided neither by the cache nor by the precheck: must be submitted. */
  readonly isOpen: boolean;
}

export class ItemLedger {
  /** Statuses that occurred, by their codes. The first is that of a row without an item. */
  readonly statuses: Status[] = [""];
  /** The codes of the reasons of these statuses, where they are known. A status has a code for each of its reasons. */
  readonly reasons: (string | undefined)[] = [undefined];
  /** Seed of the hashes for `--dedupe`: secret and new for each run, so that no list can be made to collide. */
  readonly keySeed = randomFillSync(new Int32Array(2));
  readonly #kind: Kind;
  readonly #validator: Validator;
  readonly #cache: CachePort | undefined;
  readonly #cells: Cells;
  readonly #deciding: CellOptions["deciding"];
  /** The state of an item is the code of its status. */
  readonly #items = new DistinctItems();
  /** Statuses of open items that another run has added to the cache meanwhile. */
  readonly #answeredElsewhere = new Map<string, Status>();
  #distinct = 0;
  #cached = 0;
  #prechecked = 0;
  #charged = 0;
  #quota: QuotaState | undefined;

  constructor({ kind, validator, cache, cells }: Pick<RunOptions, "kind" | "validator" | "cache" | "cells">) {
    const options = { kind, ...(cells ?? usualCells) };
    this.#cells = new Cells(options);
    this.#deciding = options.deciding;
    this.#kind = kind;
    this.#validator = validator;
    this.#cache = cache;
  }

  /** Loads the verdicts of earlier runs. */
  async load(): Promise<void> {
    await this.#cache?.load((low, high, status) => this.remember({ low, high }, status));
  }

  /**
   * Takes a verdict from the cache, added by an earlier or a concurrent run. Ignores it if there are too many statuses.
   */
  remember(hash: ItemHash, status: Status): void {
    if (!this.statuses.includes(status) && this.statuses.length > mostStatuses) return;
    const state = this.#items.get(hash);
    if (state === 0 || state > unseen) this.#items.set(hash, this.#codeFor({ status }) + unseen);
    else if (this.statuses[state] === notChecked.status) this.#answeredElsewhere.set(keyOf(hash), status);
  }

  /** Settles an open item if another run has got its verdict meanwhile. Returns whether it has. */
  settleFromCache(item: RowItem): boolean {
    const key = keyOf(item);
    const status = this.#answeredElsewhere.get(key);
    if (status === undefined) return false;
    this.#answeredElsewhere.delete(key);
    this.#cached++;
    this.settle(item, { status });
    return true;
  }

  /** Number of values with a word that stands for no item. */
  get emptied(): number {
    return this.#cells.emptied;
  }

  /** Returns the items in a value of the table. */
  itemsIn(value: string): readonly string[] {
    return this.#cells.itemsIn(value);
  }

  /** Adds an item of a row. */
  add(item: string): RowItem {
    const key = itemKey(item);
    const digest = this.#cache?.digest(key) ?? "";
    const { low, high } = digest === "" ? hashItem(this.#items.seed, key) : wordsOf(digest);
    const state = this.#items.get({ low, high });
    const isFirst = state === 0 || state > unseen;
    const isOpen = isFirst && !this.#decideAtOnce(item, { low, high }, state);
    if (isFirst) this.#distinct++;
    return { item, low, high, digest, isFirst, isOpen };
  }

  /** Takes a verdict on an open item. */
  settle(item: RowItem, verdict: Verdict): void {
    this.#items.set(item, this.#codeFor(verdict));
  }

  /** Forgets an open item that was not submitted: it is new when it comes again. */
  forget(item: RowItem): void {
    this.#items.set(item, 0);
    this.#distinct--;
  }

  /** Adds the charge of a request or a batch. */
  charge(units: number, quota = this.#quota): void {
    this.#charged += units;
    this.#quota = quota;
  }

  /** Returns the item of a value that decides its status; undefined if there is none. */
  decidingOf(items: readonly RowItem[]): RowItem | undefined {
    if (items.length < 2) return items[0];
    return items.reduce((a, b) =>
      decidesBefore(this.statusOf(b), this.statusOf(a), this.#deciding) ? b : a,
    );
  }

  /** Returns the status of an item. */
  statusOf(item: ItemHash): Status {
    return this.statuses[this.codeOf(item)]!;
  }

  /** Returns the code of an item's status among {@link statuses}. */
  codeOf(item: ItemHash): number {
    return this.#items.get(item);
  }

  /**
   * Returns the code of a status that an earlier run gave; that of no item if it is empty.
   *
   * @throws TableError when there are too many different ones
   */
  codeOfKept(status: Status, input = ""): number {
    if (status === "") return noItemCode;
    if (!this.statuses.includes(status) && this.statuses.length > mostStatuses) throw tooManyKept(input);
    return this.#codeFor({ status });
  }

  /** The counts over all files. */
  get counts(): RunCounts {
    return {
      distinct: this.#distinct,
      cached: this.#cached,
      prechecked: this.#prechecked,
      charged: this.#charged,
    };
  }

  /** The quota after the last batch; undefined when nothing was submitted. */
  get quota(): QuotaState | undefined {
    return this.#quota;
  }

  /** Adds an item that is new to the run. Returns whether the cache or the precheck has decided it. */
  #decideAtOnce(item: string, hash: ItemHash, state: number): boolean {
    if (state > unseen) {
      this.#cached++;
      this.#items.set(hash, state - unseen);
      return true;
    }
    const verdict = this.#validator.precheck?.(this.#kind, item);
    if (verdict !== undefined) this.#prechecked++;
    this.#items.set(hash, this.#codeFor(verdict ?? notChecked));
    return verdict !== undefined;
  }

  /**
   * Returns the code of a status and its reason. Gives new ones the next code.
   *
   * @throws ServiceError when there are more than {@link mostStatuses} pairs of them
   */
  #codeFor({ status, reason }: Verdict): number {
    const why = reasonCode(reason);
    let code = 1;
    while (code < this.statuses.length && (this.statuses[code] !== status || this.reasons[code] !== why))
      code++;
    if (code < this.statuses.length) return code;
    if (code > mostStatuses) {
      throw new ServiceError(
        `the ${this.#validator.name} engine gave more than ${mostStatuses} different statuses and reasons`,
      );
    }
    this.statuses.push(status);
    this.reasons.push(why);
    return code;
  }
}

const keyOf = ({ low, high }: ItemHash): string => `${low} ${high}`;

/** Returns the first 64 bits of a digest. */
function wordsOf(digest: string): ItemHash {
  const word = (at: number) =>
    digest.charCodeAt(at) |
    (digest.charCodeAt(at + 1) << 8) |
    (digest.charCodeAt(at + 2) << 16) |
    (digest.charCodeAt(at + 3) << 24);
  return { low: word(0), high: word(4) };
}
