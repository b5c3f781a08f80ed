/**
 * The charges of the offline engine. Its verdicts are known at once; chunks wait until their new items are charged, many at a
 * time:
 *
 * - While the disk or a database makes a charge, the next chunks wait for the next charge: the longer one takes, the larger
 *   the next.
 * - A charge goes up to a mark if it can, so that the receipts of an unfinished run fit the next run over the same items; see
 *   paid-items.ts.
 * - Items that the quota does not grant are marked in the ledger as not checked.
 */
import type { ItemHash } from "../../classifier/item-hash.js";
import { itemsToMark } from "../../kernel/layout.js";
import {
  type Charge,
  type EmbeddedEngine,
  type Mark,
  type Receipt,
  unitsOf,
} from "../../validator/validator.js";
import type { ItemLedger } from "../item-ledger.js";
import { notCheckedCode } from "../status-codes.js";
import { isRegular, PaidItems } from "./paid-items.js";
import type { ClassifiedChunk, NumberedChunk, Settler } from "./settler.js";

/**
 * Number of new items at which they are charged. A durable charge takes as long as thousands of verdicts, but without receipts
 * a crash wastes its units.
 */
const chargedItems = 20_000;
/** Chunks and rows at which their items are charged, however few. */
const chargedChunks = 8;
const chargedRows = 65_536;
/** Limit on chunks that wait for the next mark, in a run with a name. */
const mostChunks = 64;

interface Waiting {
  readonly chunk: NumberedChunk;
  /** Number of new items up to the end of the chunk. */
  readonly end: number;
  readonly settled: Promise<void>;
  readonly settle: () => void;
  readonly fail: (error: unknown) => void;
}

export class Charges implements Settler {
  readonly #ledger: ItemLedger;
  readonly #engine: EmbeddedEngine;
  #waiting: Waiting[] = [];
  #settled: Promise<void> = Promise.resolve();
  /**
   * Number of new items, and of those whose charges are made or whose rows need not wait for them; then the units asked
   * for, and the items not asked for because other runs had paid for them.
   */
  #items = 0;
  #asked = 0;
  #units = 0;
  #saved = 0;
  /**
   * Ranges of items refused unless they prove to be paid for, each from the number before its first item to that of its
   * last.
   */
  #refused: [number, number][] = [];
  /**
   * Items up to `#charged` were charged or refused. Items up to `#assumed` were assumed to be paid for; `#given` of
   * these were not, and could not be charged.
   */
  #charged = 0;
  #assumed = 0;
  #given = 0;
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

  /** Begins with a file. Each file has receipts of its own. */
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
    this.#units = 0;
    this.#saved = 0;
    this.#refused = [];
    this.#charged = 0;
    this.#assumed = 0;
    this.#given = 0;
  }

  async expect(chunk: ClassifiedChunk): Promise<void> {
    if (this.#paid === undefined) return;
    const first = this.#hasBegun ? undefined : this.#ledger.firstItem(chunk);
    if (first) {
      this.#hasBegun = true;
      await this.#paid.begin(first);
    }
    // Marks where the receipts of another run end: the list may have been continued since.
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
    if (this.#waiting.length > 0 || this.#assumed > this.#charged) await this.#charge(this.#items, true);
    this.#paid?.end(this.#given);
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
    // Charge all items before a pause of the input, so that no row waits for a mark; but not those of a shared name.
    const isUpToMark = isMarked && (!isBeforePause || this.#paid?.isShared);
    void this.#charge(isUpToMark ? mark : this.#items);
  }

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
    const before = end - chunk.newItems;
    const refused = this.#refused.filter(([from, to]) => from < end && to > before);
    if (refused.length > 0) {
      eachNew(chunk, Math.max(0, refused[0]![0] - before), (item, nth) => {
        const number = before + nth;
        const isRefused = refused.some(([from, to]) => from < number && number <= to);
        if (isRefused && !this.#paid?.isCovered(number)) this.#ledger.give(item, notCheckedCode);
      });
    }
    settle();
  }

  async #chargeUpTo(target: number, isEnd: boolean): Promise<void> {
    const paid = this.#paid;
    if (!isEnd && this.#unitsFor(target) > 0 && paid?.mayCover(target)) {
      this.#assumed = target;
    } else {
      const mayGrant = !this.#isExhausted || paid?.isShared;
      const granted = mayGrant ? await this.#take(target) : this.#charged;
      this.#endAssumption(granted);
      this.#refuse(Math.max(granted, this.#asked), target);
      this.#charged = target;
    }
    this.#asked = target;
    const saved = Math.min(paid?.covered(target) ?? 0, target - this.#units);
    if (saved > this.#saved) {
      this.#ledger.addPaidBefore(saved - this.#saved, paid!.time);
      this.#saved = saved;
    }
  }

  /** Returns the units that the first items still cost: those neither charged nor known to be paid for. */
  #unitsFor(items: number): number {
    const covered = (first: number) => this.#paid?.covered(first) ?? 0;
    return items - this.#charged - (covered(items) - covered(this.#charged));
  }

  #refuse(from: number, to: number): void {
    if (from >= to) return;
    const last = this.#refused.at(-1);
    if (last?.[1] === from) last[1] = to;
    else this.#refused.push([from, to]);
  }

  async #take(target: number): Promise<number> {
    let granted = target;
    const units = this.#unitsFor(target);
    const paid = this.#paid;
    const passed = this.#marks.filter(({ items }) => items <= target);
    // Other runs do not need the marks in between, and marks among paid items are in the receipts of the runs that paid.
    const isLeft = ({ items }: Mark, nth: number) =>
      (isRegular(items) || nth === passed.length - 1) && !paid?.isCovered(items);
    const marks = passed.filter(isLeft);
    if (units > 0) {
      const learn = (receipts: readonly Receipt[]) => {
        paid!.learn(receipts, this.#marks);
        // When the quota has ended, other runs of the name may still have paid.
        return this.#isExhausted ? 0 : this.#unitsFor(target);
      };
      const { charged, quota }: Charge = await this.#engine
        .charge(units, paid && { items: target, marks, learn: paid.isShared ? learn : undefined })
        .catch((error: unknown) => {
          this.#ledger.charged += unitsOf(error);
          throw error;
        });
      this.#ledger.charged += charged;
      this.#ledger.quota = quota;
      const due = this.#unitsFor(target);
      this.#units += Math.max(due, charged);
      this.#isExhausted ||= charged < due;
      const refused = Math.max(0, due - charged);
      granted = paid?.before(target, refused) ?? target - refused;
    }
    this.#marks = this.#marks.slice(passed.length);
    return granted;
  }

  #endAssumption(granted: number): void {
    const [from, to] = [Math.max(this.#charged, granted), this.#assumed];
    if (this.#paid && from < to) {
      this.#given += to - this.#paid.covered(to) - (from - this.#paid.covered(from));
    }
  }
}

/** Calls `use` with the new items of a chunk after the first `count` ones, and their numbers in the chunk, from 1. */
function eachNew(
  { hashes, items, isNew }: NumberedChunk,
  count: number,
  use: (item: ItemHash, nth: number) => void,
): void {
  const all = items?.hashes ?? hashes;
  let seen = 0;
  for (let index = 0; index < isNew.length; index++) {
    if (isNew[index] === 0 || seen++ < count) continue;
    use({ low: all[2 * index]!, high: all[2 * index + 1]! }, seen);
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
