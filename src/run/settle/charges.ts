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
import { type EmbeddedEngine, type Mark, type ReceiptMarks, unitsOf } from "../../validator/validator.js";
import type { ItemLedger } from "../item-ledger.js";
import { notCheckedCode } from "../status-codes.js";
import { PaidItems } from "./paid-items.js";
import type { NumberedChunk, Settler } from "./settler.js";

/**
 * Number of new items at which they are charged. A durable charge takes as long as thousands of verdicts, but without receipts a
 * crash wastes its units.
 */
const chargedItems = 20_000;
/** Number of chunks and rows at which their items are charged, whatever their number. */
const chargedChunks = 8;
const chargedRows = 65_536;
/** Chunks that wait at most for the next mark to tell whether they are paid for. */
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
  /** Number of new items, of those that were charged or are paid for, and of those that the quota has granted. */
  #items = 0;
  #asked = 0;
  #granted = 0;
  /** The marks that the next charge passes. */
  #marks: Mark[] = [];
  #paid: PaidItems | undefined;
  #hasBegun = false;
  /** The charge under way. It never rejects. */
  #charging: Promise<void> | undefined;
  #isExhausted = false;
  #isAbandoned = false;

  constructor(ledger: ItemLedger, engine: EmbeddedEngine) {
    this.#ledger = ledger;
    this.#engine = engine;
  }

  get differs(): boolean {
    return this.#isExhausted;
  }

  /** Begins with a file. Each has receipts of its own. */
  begin(): void {
    const { receipts } = this.#engine;
    receipts?.renew();
    this.#ledger.restartDigest();
    this.#paid = receipts && new PaidItems(receipts);
    this.#hasBegun = false;
    this.#isAbandoned = false;
    this.#marks = [];
    this.#items = 0;
    this.#asked = 0;
    this.#granted = 0;
  }

  async add(chunk: NumberedChunk): Promise<void> {
    this.#items += chunk.newItems;
    if (this.#paid) this.#marks.push(...chunk.marks);
    this.#paid?.pass(chunk.marks);
    this.#wantMark();
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

  /** Asks for a mark where the receipts of another run end: the list may have been continued since. */
  #wantMark(): void {
    if (this.#paid) this.#ledger.wantMark(this.#paid.endAfter(this.#items));
  }

  #chargeIfDue(): void {
    if (this.#charging !== undefined || this.#waiting.length === 0 || this.#isAbandoned) return;
    const chunks = this.#waiting.length;
    const rows = this.#waiting.reduce((sum, { chunk }) => sum + chunk.codes.length, 0);
    const isBeforePause = this.#waiting.some(({ chunk }) => chunk.isBeforePause);
    const isMuch = rows >= chargedRows || chunks >= chargedChunks;
    if (!isBeforePause && !isMuch && this.#items - this.#asked < chargedItems) return;
    // The next mark tells whether the items after the last one are paid for.
    if (this.#hasBegun && chunks < mostChunks && this.#paid?.mayBePaid(this.#items)) {
      if (this.#paid.count > this.#asked) void this.#charge(this.#paid.count);
      return;
    }
    const mark = this.#marks.findLast(({ items }) => items % itemsToMark === 0)?.items ?? 0;
    // Where there are hardly any new items, rows do not wait for a mark.
    void this.#charge(isBeforePause || mark <= this.#asked ? this.#items : mark);
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

  async #chargeUpTo(wanted: number, isEnd: boolean): Promise<void> {
    if (!this.#hasBegun) await this.#paid?.begin();
    this.#wantMark();
    const mayWait = !this.#hasBegun && !isEnd && this.#paid?.mayBePaid(wanted);
    this.#hasBegun = true;
    const target = mayWait ? this.#paid!.count : wanted;
    const paid = Math.min(target, this.#paid?.count ?? 0);
    const from = Math.max(this.#asked, paid);
    const marks = this.#marks.filter(({ items }) => items <= target);
    this.#marks = this.#marks.slice(marks.length);
    // What is paid for is granted, though another file has used up the quota.
    if (this.#isExhausted) this.#granted = Math.max(this.#granted, paid);
    else this.#granted = from + (await this.#take(target - from, { items: target, marks }));
    if (from > this.#asked) this.#ledger.addPaidBefore(from - this.#asked, this.#paid!.time);
    this.#asked = target;
  }

  /** Charges up to `units`. Returns the number of units granted. */
  async #take(units: number, receipt: ReceiptMarks): Promise<number> {
    if (units === 0) return 0;
    const { charged, exhausted, quota } = await this.#engine
      .charge(units, this.#paid && receipt)
      .catch((error: unknown) => {
        this.#ledger.charged += unitsOf(error);
        throw error;
      });
    this.#ledger.charged += charged;
    this.#isExhausted = exhausted;
    this.#ledger.quota = quota;
    return charged;
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
