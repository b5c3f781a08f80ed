/**
 * The items that other runs have paid for: unfinished runs, or runs of the same name. They left receipts: digests of their
 * first items, in order, at marks on the way. A run over the same items passes the same marks with the same digests, and need
 * not pay for the items before them.
 *
 * Rows do not wait for the next mark: as long as the last mark was the same, the following items are assumed to be paid for, up
 * to the number that the other run has paid. If the next mark differs, or the list ends before it, they are charged then; see
 * charges.ts.
 */
import { createHmac } from "node:crypto";
import type { ItemHash } from "../../classifier/item-hash.js";
import { itemsToFirstMark, itemsToMark } from "../../kernel/layout.js";
import type { Mark, Receipt, ReceiptPort } from "../../validator/validator.js";

const startBytes = 16;

/** Another run over a list that starts with the same item. */
interface OtherRun {
  readonly run: string;
  /** Number of its first items that were paid for, and of those that a finished run has used since. */
  granted: number;
  used: number;
  /** Number of items at its first known mark, and at its last one. */
  first: number;
  last: number;
  isSame: boolean;
  /** Number of its first items that this run uses, as far as is known and no other run has paid for them. */
  taken: number;
}

/** Returns whether every run has a mark at this number of items. */
export const isRegular = (items: number): boolean => items % itemsToMark === 0 || items === itemsToFirstMark;

export class PaidItems {
  /** Time of the last payment, in milliseconds since the epoch. */
  time = 0;
  readonly #port: ReceiptPort;
  readonly #runs = new Map<string, OtherRun>();
  readonly #byDigest = new Map<string, { readonly items: number; readonly receipt: Receipt }[]>();
  /** Numbers of items at the marks that not every run has, increasing. */
  #irregular: readonly number[] = [];
  /** Number of items at the last regular mark, which was compared with those of all runs. */
  #compared = 0;
  /** Ranges of items known to be paid for, increasing: each from the number before its first item to that of its last. */
  #ranges: readonly (readonly [number, number])[] = [];
  #assumed: OtherRun | undefined;

  constructor(port: ReceiptPort) {
    this.#port = port;
  }

  /** Whether the run has a name, and others of this name may pay meanwhile. */
  get isShared(): boolean {
    return this.#port.isNamed;
  }

  async begin({ low, high }: ItemHash): Promise<void> {
    const hash = createHmac("sha256", this.#port.secret).update(Int32Array.of(low, high)).digest();
    this.learn(await this.#port.take(hash.toString("latin1", 0, startBytes)), []);
  }

  /** @param passed the marks that were passed since the last charge */
  learn(receipts: readonly Receipt[], passed: readonly Mark[]): void {
    if (receipts.length === 0) return;
    const irregular = new Set(this.#irregular);
    for (const receipt of receipts) {
      const { run, granted, used, marks } = receipt;
      const other = this.#runs.get(run) ?? {
        run,
        granted: 0,
        used,
        first: Number.POSITIVE_INFINITY,
        last: 0,
        isSame: true,
        taken: 0,
      };
      this.#runs.set(run, other);
      other.granted = Math.max(other.granted, granted);
      other.used = Math.max(other.used, used);
      for (const { items, digest } of marks) {
        other.first = Math.min(other.first, items);
        other.last = Math.max(other.last, items);
        if (!isRegular(items)) irregular.add(items);
        const known = this.#byDigest.get(digest);
        if (known) known.push({ items, receipt });
        else this.#byDigest.set(digest, [{ items, receipt }]);
      }
    }
    this.#irregular = Array.from(irregular).sort((a, b) => a - b);
    this.pass(passed);
  }

  pass(marks: readonly Mark[]): void {
    for (const mark of marks) this.#compare(mark);
  }

  /** Returns the numbers above `items`, increasing, at which other runs have a mark and this one would not. */
  marksAfter(items: number): readonly number[] {
    const next = this.#irregular.findIndex((mark) => mark > items);
    return next === -1 ? [] : this.#irregular.slice(next);
  }

  /**
   * Returns whether to assume that another run has paid for the first `items`, until the next mark confirms or refutes it.
   * If the quota of that run ended behind its last mark, what it had paid for there counts as paid at once: no mark follows.
   */
  mayCover(items: number): boolean {
    // Without the kernel there are no marks, so nothing would confirm the assumption.
    if (items <= this.#compared || items - this.#compared >= itemsToMark) return false;
    const same = [...this.#runs.values()].filter(({ isSame, used }) => isSame && used <= this.#compared);
    const payer = same.find(({ granted }) => granted >= items);
    if (payer) {
      this.#assumed = payer;
      return true;
    }
    const partly = same.find(({ granted }) => granted > this.#compared);
    if (partly) {
      this.#cover(this.#compared, partly.granted);
      partly.taken = partly.granted;
    }
    return false;
  }

  /** Returns how many of the first `items` are known to be paid for. */
  covered(items: number): number {
    return this.#ranges.reduce((sum, [from, to]) => sum + Math.max(0, Math.min(items, to) - from), 0);
  }

  /** Items are numbered from 1. */
  isCovered(item: number): boolean {
    return this.#ranges.some(([from, to]) => from < item && item <= to);
  }

  /** Returns the number of items before the last `count` of the first `items` that are not known to be paid for. */
  before(items: number, count: number): number {
    let [end, left] = [items, count];
    for (const [from, to] of [...this.#ranges].reverse()) {
      if (to >= end) end = Math.min(end, from);
      else if (end - to >= left) break;
      else {
        left -= end - to;
        end = from;
      }
    }
    return end - left;
  }

  /**
   * Ends the list. Items of other runs that this run has used are not available to a third one.
   *
   * @param given number of items assumed to be paid for that were not, and could not be charged
   */
  end(given: number): void {
    for (const other of this.#runs.values()) {
      const had = other.taken + (other === this.#assumed ? given : 0);
      if (had > 0) this.#port.use(other.run, Math.max(other.used, had));
    }
  }

  #compare({ items, digest }: Mark): void {
    if (isRegular(items)) {
      this.#compared = Math.max(this.#compared, items);
      for (const other of this.#runs.values()) {
        if (other.first <= items && items <= other.last) other.isSame = false;
      }
    }
    let best: { readonly other: OtherRun; readonly receipt: Receipt } | undefined;
    for (const { items: marked, receipt } of this.#byDigest.get(digest) ?? []) {
      if (marked !== items) continue;
      const other = this.#runs.get(receipt.run)!;
      other.isSame = true;
      // One paid run is enough: the others are left for later runs. A run that has waited for its quota has left several
      // receipts at one mark.
      const isMore =
        best === undefined ||
        other.granted > best.other.granted ||
        (other === best.other && receipt.granted > best.receipt.granted);
      if (isMore) best = { other, receipt };
    }
    if (best === undefined) return;
    const { other, receipt } = best;
    const to = Math.min(items, receipt.granted);
    const before = this.covered(to);
    this.#cover(other.used, to);
    if (this.covered(to) === before) return;
    other.taken = to;
    this.time = receipt.time;
  }

  #cover(from: number, to: number): void {
    if (to <= from) return;
    const apart = this.#ranges.filter(([start, end]) => end < from || start > to);
    const joined = this.#ranges.filter((range) => !apart.includes(range));
    const start = joined.reduce((least, [first]) => Math.min(least, first), from);
    const end = joined.reduce((most, [, last]) => Math.max(most, last), to);
    this.#ranges = [...apart, [start, end] as const].sort(([a], [b]) => a - b);
  }
}
