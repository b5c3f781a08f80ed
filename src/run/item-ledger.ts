/** The distinct items of a session, each with the code of its status, and what they have cost. Knows their hashes only. */
import { createHmac, randomFillSync } from "node:crypto";
import type { ItemHash } from "../classifier/item-hash.js";
import type { AddedItems } from "../kernel/distinct-table.js";
import { seedWords } from "../kernel/layout.js";
import { ServiceError } from "../validator/errors.js";
import type { QuotaState, Verdict } from "../validator/validator.js";
import type { ChunkVerdicts } from "./blocks/block-classifier.js";
import { DistinctItems } from "./distinct-items.js";
import type { RunCounts } from "./session.js";
import {
  hasItem,
  isKept,
  isRow,
  mostStatuses,
  noItemCode,
  notCheckedCode,
  StatusCodes,
} from "./status-codes.js";

/** Share of the input that must be read before the number of all items is estimated. */
const estimatingShare = 1 / 8;

/** A chunk whose items are in the ledger. */
export interface Numbered {
  /** 1 for each item that is new to the session. */
  readonly isNew: Uint8Array;
  readonly newItems: number;
  /** The marks that its new items have passed, and the last one at its end. */
  readonly marks: AddedItems["marks"];
}

export class ItemLedger {
  readonly codes = new StatusCodes();
  /** Seed of the item hashes. It is secret: no list can be made to collide. */
  readonly seed: Int32Array;
  /** The quota after the last charge; undefined when nothing was charged. */
  quota: QuotaState | undefined;
  cached = 0;
  prechecked = 0;
  charged = 0;
  /** Units that a run has paid which did not end, and when. */
  paidBefore = { units: 0, time: 0 };
  readonly #items = new DistinctItems();
  readonly #engine: string;
  #distinct = 0;

  /**
   * @param engine its name, for messages
   * @param secret from which the seed is derived, so that other runs have the same hashes; new for each session if absent
   */
  constructor(engine: string, secret?: Uint8Array) {
    this.#engine = engine;
    this.seed = secret ? seedOf(secret) : randomFillSync(new Int32Array(seedWords));
  }

  /** Adds units that another run has paid. */
  addPaidBefore(units: number, time: number): void {
    this.paidBefore = { units: this.paidBefore.units + units, time };
  }

  /** The counts so far. */
  get counts(): RunCounts {
    const { cached, prechecked, charged } = this;
    return { distinct: this.#distinct, cached, prechecked, charged };
  }

  /**
   * Estimates the number of items in the whole input from those in the share that was read.
   *
   * @param share from 0 to 1; undefined when it is not known
   * @param before number of items before this input
   */
  expect(share: number | undefined, before: number): void {
    if (share !== undefined && share >= estimatingShare)
      this.#items.expect(Math.ceil(before + (this.#items.size - before) / share));
  }

  /** Begins a new digest, of the items that are added from now on. */
  restartDigest(): void {
    this.#items.restartDigest();
  }

  /** Asks for marks at numbers of items, beyond those so far and increasing, beside the marks that are there anyway. */
  wantMarks(items: readonly number[]): void {
    this.#items.wantMarks(items);
  }

  /** Returns the first item of a chunk, whether or not it is new; undefined if there is none. */
  firstItem(chunk: ChunkVerdicts): ItemHash | undefined {
    const { hashes, codes } = itemsOf(chunk);
    const place = withoutKept(chunk, codes).findIndex(hasItem);
    return place === -1 ? undefined : { low: hashes[2 * place]!, high: hashes[2 * place + 1]! };
  }

  /** Adds the items of a chunk. The code of a new one becomes that of its item. */
  add(chunk: ChunkVerdicts): Numbered {
    const { hashes, codes } = itemsOf(chunk);
    const { isNew, count, marks }: AddedItems = this.#items.addAll(hashes, withoutKept(chunk, codes));
    this.#distinct += count;
    return { isNew, newItems: count, marks };
  }

  /**
   * Gives the items of a chunk the codes that they have now.
   *
   * @returns whether one differs
   */
  takeCodes(chunk: ChunkVerdicts): boolean {
    const { codes } = itemsOf(chunk);
    const found = this.codesOf(chunk);
    let isAny = false;
    for (let place = 0; place < codes.length; place++) {
      if (isKept(codes[place]!) || found[place] === codes[place]) continue;
      codes[place] = found[place]!;
      isAny = true;
    }
    return isAny;
  }

  /** Returns the codes that the items of a chunk have now; that of no item for those whose rows keep their statuses. */
  codesOf(chunk: ChunkVerdicts): Uint8Array {
    const { hashes, codes } = itemsOf(chunk);
    const found = withoutKept(chunk, codes).slice();
    this.#items.takeStates(hashes, found);
    return found;
  }

  /** Returns the number of rows of a chunk whose items have their verdicts. */
  settledRows(chunk: ChunkVerdicts): number {
    const { columns } = chunk;
    const found = this.codesOf(chunk);
    const isOpen = new Uint8Array(chunk.codes.length / columns);
    for (const [place, code] of found.entries()) {
      if (code === notCheckedCode) isOpen[Math.floor((chunk.items?.fields[place] ?? place) / columns)] = 1;
    }
    return isOpen.filter((open, row) => open === 0 && isRow(chunk.codes[row * columns]!)).length;
  }

  /** Returns the code of an item. */
  codeOf({ low, high }: ItemHash): number {
    return this.#items.get({ low, high });
  }

  /**
   * Takes a verdict on an item.
   *
   * @throws ServiceError when there are too many different ones
   */
  settle(item: ItemHash, verdict: Verdict): void {
    this.#items.set(item, this.codeFor(verdict));
  }

  /**
   * Takes verdicts on items.
   *
   * @throws ServiceError when there are too many different ones
   */
  settleAll(items: readonly ItemHash[], verdicts: readonly Verdict[]): void {
    const hashes = new Int32Array(2 * items.length);
    const codes = new Uint8Array(items.length);
    for (let i = 0; i < items.length; i++) {
      hashes[2 * i] = items[i]!.low;
      hashes[2 * i + 1] = items[i]!.high;
      codes[i] = this.codeFor(verdicts[i]!);
    }
    this.#items.giveStates(hashes, codes);
  }

  /** Gives an item another code. */
  give(item: ItemHash, code: number): void {
    this.#items.set(item, code);
  }

  /** Forgets an item that was not submitted: it is new when it comes again. */
  forget(item: ItemHash): void {
    this.#items.set(item, 0);
    this.#distinct--;
  }

  /**
   * Returns the code of a verdict.
   *
   * @throws ServiceError when there are too many different ones
   */
  codeFor(verdict: Verdict): number {
    const code = this.codes.codeOf(verdict);
    if (code !== undefined) return code;
    throw new ServiceError(
      `the ${this.#engine} engine gave more than ${mostStatuses} different statuses and reasons`,
    );
  }
}

/** Derives a seed from a secret: HMAC-SHA-512 has 64 bytes, and a seed takes 56 of them. */
function seedOf(secret: Uint8Array): Int32Array {
  const bytes = createHmac("sha512", secret).update("items").digest();
  return Int32Array.from({ length: seedWords }, (_, word) => bytes.readInt32LE(4 * word));
}

/** Returns the hashes and codes of all items of a chunk, in order. */
const itemsOf = (chunk: ChunkVerdicts): Pick<ChunkVerdicts, "hashes" | "codes"> => chunk.items ?? chunk;

/** Returns codes of which those that rows keep stand for no item. */
function withoutKept({ kept, columns }: ChunkVerdicts, codes: Uint8Array): Uint8Array {
  // A row that keeps the status of one column, and has an item in another, is not counted as kept.
  return kept > 0 || columns > 1 ? codes.map((code) => (isKept(code) ? noItemCode : code)) : codes;
}
