/**
 * The charges of the offline engine. Its verdicts are there at once; chunks wait until their new items are charged, many at a time:
 *
 * - While the disk or a database makes a charge, the next chunks wait for the next one: it is the larger, the longer the last
 *   one takes.
 * - A charge goes up to a mark if it can, so that the receipts of a run that does not end fit the next run over the same items;
 *   see paid-items.ts.
 * - Items that the quota does not grant are marked in the ledger as not checked.
 */
import type { ItemHash } from "../../classifier/item-hash.js";
import { itemsToMark } from "../../kernel/layout.js";
import {
  type Charge,
  type EmbeddedEngine,
  type Mark,
  type ReceiptPort,
  unitsOf,
} from "../../validator/validator.js";
import type { ItemLedger } from "../item-ledger.js";
import { notCheckedCode } from "../status-codes.js";
import { PaidItems } from "./paid-items.js";
import type { ClassifiedChunk, NumberedChunk, Settler } from "./settler.js";

/**
 * Number of new items at which they are charged. A durable charge takes as long as thousands of verdicts, but without receipts a
 * crash wastes its units.
 */
const chargedItems = 20_000;
/** Number of chunks and rows at which their items are charged, whatever their number. */
const chargedChunks = 8;
const chargedRows = 65_536;
/** Chunks of a run with a name that wait at most for the next mark. */
const mostChunks = 64;

/** A chunk that waits. */
interface Waiting {
  readonly chunk: NumberedChunk;
  /** Number of new items up to its end. */
  readonly end: number;
  readonly settled: Promise<void>;
  readonly settle: () => void;
  readonly fail: (error: unknown) => void;
}

export class Charges implements Settler {
  readonly #ledger: ItemLedger;
  readonly #engine: EmbeddedEngine;
  #waiting: Waiting[] = [];
  /** Settled when the chunk added last is. */
  #settled: Promise<void> = Promise.resolve();
  /**
   * Number of new items, of those whose charges are made, of those that were charged or are known to be paid for, and of those that
   * the quota has granted. Items between the second and the first of these may turn out not to be paid for.
   */
  #items = 0;
  #asked = 0;
  #paidFor = 0;
  #granted = 0;
  /** The marks that the next charge passes. */
  #marks: Mark[] = [];
  #paid: PaidItems | undefined;
  #hasBegun = false;
  readonly #receipts: ReceiptPort | undefined;
  /** The charge under way. It never rejects. */
  #charging: Promise<void> | undefined;
  #isExhausted = false;
  #isAbandoned = false;

  constructor(ledger: ItemLedger, engine: EmbeddedEngine) {
    this.#ledger = ledger;
    this.#engine = engine;
    this.#receipts = engine.receipts;
  }

  get differs(): boolean {
    return this.#isExhausted;
  }

  /** Begins with a file. Each has receipts of its own. */
  begin(): void {
    this.#receipts?.renew();
    this.#ledger.restartDigest();
    this.#paid = this.#receipts && new PaidItems(this.#receipts);
    this.#hasBegun = false;
    this.#isAbandoned = false;
    this.#marks = [];
    this.#items = 0;
    this.#asked = 0;
    this.#paidFor = 0;
    this.#granted = 0;
  }

  async expect(chunk: ClassifiedChunk): Promise<void> {
    if (this.#paid === undefined) return;
    const first = this.#hasBegun ? undefined : this.#ledger.firstItem(chunk);
    if (first) {
      this.#hasBegun = true;
      await this.#paid.begin(first);
    }
    // Where the receipts of another run end: the list may have been continued since.
    if (this.#hasBegun) this.#ledger.wantMarks(this.#paid.marksAfter(this.#items));
  }

  async add(chunk: NumberedChunk): Promise<void> {
    this.#items += chunk.newItems;
    if (this.#paid) this.#marks.push(...chunk.marks);
    this.#paid?.pass(chunk.marks);
    const waiting = newWaiting(chunk, this.#items);
    this.#settled = waiting.settled;
    this.#waiting.push(waiting);
    this.#chargeIfDue();
  }

  settled(): Promise<void> {
    return this.#settled;
  }

  async flush(): Promise<void> {
    while (this.#charging) await this.#charging;
    if (this.#waiting.length > 0) await this.#charge(this.#items, true);
  }

  settledRows(): number {
    return 0;
  }

  async abandon(): Promise<void> {
    this.#isAbandoned = true;
    await this.#charging;
    for (const { chunk, end } of this.#waiting.splice(0)) {
      const before = Math.max(0, this.#asked - (end - chunk.newItems));
      eachNew(chunk, before, (item) => this.#ledger.forget(item));
    }
  }

  #chargeIfDue(): void {
    if (this.#charging !== undefined || this.#waiting.length === 0 || this.#isAbandoned) return;
    const chunks = this.#waiting.length;
    const rows = this.#waiting.reduce((sum, { chunk }) => sum + chunk.codes.length, 0);
    const isBeforePause = this.#waiting.some(({ chunk }) => chunk.isBeforePause);
    const isMuch = rows >= chargedRows || chunks >= chargedChunks;
    if (!isBeforePause && !isMuch && this.#items - this.#asked < chargedItems) return;
    const mark = this.#marks.findLast(({ items }) => items % itemsToMark === 0)?.items ?? 0;
    const isMarked = mark > this.#asked;
    // All runs of a name charge up to the same marks.
    if (this.#paid?.isShared && !isMarked && this.#items > this.#asked && chunks < mostChunks) return;
    // Where there are hardly any new items, rows do not wait for a mark.
    const isUpToMark = isMarked && (!isBeforePause || this.#paid?.isShared);
    void this.#charge(isUpToMark ? mark : this.#items);
  }

  /** Charges the items up to one. @param isEnd whether the input has ended */
  #charge(target: number, isEnd = false): Promise<void> {
    this.#charging = this.#chargeUpTo(target, isEnd)
      .then(
        () => {
          const count = this.#waiting.findIndex(({ end }) => end > this.#asked);
          for (const waiting of this.#waiting.splice(0, count === -1 ? this.#waiting.length : count)) {
            this.#settle(waiting);
          }
        },
        (error: unknown) => {
          for (const { fail } of this.#waiting.splice(0)) fail(error);
        },
      )
      .then(() => {
        this.#charging = undefined;
        this.#chargeIfDue();
      });
    return this.#charging;
  }

  #settle({ chunk, end, settle }: Waiting): void {
    const before = Math.max(0, this.#granted - (end - chunk.newItems));
    if (before < chunk.newItems) eachNew(chunk, before, (item) => this.#ledger.give(item, notCheckedCode));
    settle();
  }

  async #chargeUpTo(target: number, isEnd: boolean): Promise<void> {
    const paid = this.#paid;
    const known = Math.min(target, paid?.count ?? 0);
    if (known > this.#paidFor) {
      this.#ledger.addPaidBefore(known - this.#paidFor, paid!.time);
      this.#paidFor = known;
    }
    let granted = known;
    if (!isEnd && target > this.#paidFor && paid?.mayCover(target)) granted = target;
    // What is paid for is granted, though another file has used up the quota.
    else if (!this.#isExhausted) {
      const marks = this.#marks.filter(({ items }) => items <= target);
      const units = target - this.#paidFor;
      granted = target - units + (await this.#take(units, target, marks));
      this.#paidFor = target;
      this.#marks = this.#marks.slice(marks.length);
    }
    this.#granted = Math.max(this.#granted, granted);
    this.#asked = target;
  }

  /** Charges up to `units`, for the last items before the target. Returns the number of items granted. */
  async #take(units: number, target: number, marks: readonly Mark[]): Promise<number> {
    if (units === 0) return 0;
    const paid = this.#paid;
    const learn = paid?.isShared
      ? (receipts: Parameters<PaidItems["learn"]>[0]) => paid.learn(receipts, this.#marks)
      : undefined;
    const { charged, granted, exhausted, quota }: Charge = await this.#engine
      .charge(units, paid && { items: target, marks, learn })
      .catch((error: unknown) => {
        this.#ledger.charged += unitsOf(error);
        throw error;
      });
    this.#ledger.charged += charged;
    if (granted > charged) this.#ledger.addPaidBefore(granted - charged, paid!.time);
    this.#isExhausted = exhausted;
    this.#ledger.quota = quota;
    return granted;
  }
}

/** Calls `use` with the new items of a chunk after the first `count` ones. */
function eachNew(
  { hashes, items, isNew }: NumberedChunk,
  count: number,
  use: (item: ItemHash) => void,
): void {
  const all = items?.hashes ?? hashes;
  let seen = 0;
  for (let place = 0; place < isNew.length; place++) {
    if (isNew[place] === 0 || seen++ < count) continue;
    use({ low: all[2 * place]!, high: all[2 * place + 1]! });
  }
}

function newWaiting(chunk: NumberedChunk, end: number): Waiting {
  let [settle, fail]: [Waiting["settle"], Waiting["fail"]] = [() => {}, () => {}];
  const settled = new Promise<void>((resolve, reject) => {
    settle = resolve;
    fail = reject;
  });
  return { chunk, end, settled, settle, fail };
}
