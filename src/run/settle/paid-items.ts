/**
 * The items that other runs have paid for, which did not end or have the same name. They left receipts: digests of their first items,
 * in their order, at marks on their way. A run over the same items passes the same marks with the same digests, and need not pay for
 * what is before them.
 *
 * Rows do not wait for the next mark: while the last mark was the same, what follows is taken as paid for, up to the number of items
 * that was. If the next mark differs, or the list ends before it, they are charged then; see charges.ts.
 */
import { createHmac } from "node:crypto";
import type { ItemHash } from "../../classifier/item-hash.js";
import { itemsToFirstMark, itemsToMark } from "../../kernel/layout.js";
import type { Mark, Receipt, ReceiptPort } from "../../validator/validator.js";

/** Length of a digest in bytes. */
const digestBytes = 16;

/** Another run over a list that starts with the same item. */
interface OtherRun {
  granted: number;
  /** Items at its first mark that is known, and at its last one. */
  first: number;
  last: number;
  /** Whether all its marks so far were the same. */
  isSame: boolean;
}

/** Returns whether every run has a mark at a number of items. */
const isRegular = (items: number): boolean => items % itemsToMark === 0 || items === itemsToFirstMark;

export class PaidItems {
  /** Number of the first items that are known to be paid for. */
  count = 0;
  /** Time of the last payment, in milliseconds since the epoch. */
  time = 0;
  readonly #port: ReceiptPort;
  readonly #runs = new Map<string, OtherRun>();
  /** The receipts with a mark at a digest. */
  readonly #byDigest = new Map<string, { readonly items: number; readonly receipt: Receipt }[]>();
  /** Number of items at the last mark that was compared with those of all runs. */
  #compared = 0;

  constructor(port: ReceiptPort) {
    this.#port = port;
  }

  /** Whether the run has a name, and others of this name may pay meanwhile. */
  get isShared(): boolean {
    return this.#port.isNamed;
  }

  /** Looks for receipts. @param first the first item of the list */
  async begin({ low, high }: ItemHash): Promise<void> {
    const hash = createHmac("sha256", this.#port.secret).update(Int32Array.of(low, high)).digest();
    this.learn(await this.#port.take(hash.toString("latin1", 0, digestBytes)), []);
  }

  /**
   * Takes receipts.
   *
   * @param passed the marks that were passed since the last charge
   * @returns the number of the first items that are known to be paid for
   */
  learn(receipts: readonly Receipt[], passed: readonly Mark[]): number {
    for (const receipt of receipts) {
      const { run, granted, marks } = receipt;
      const other = this.#runs.get(run) ?? { granted: 0, first: Infinity, last: 0, isSame: true };
      this.#runs.set(run, other);
      other.granted = Math.max(other.granted, granted);
      for (const { items, digest } of marks) {
        other.first = Math.min(other.first, items);
        other.last = Math.max(other.last, items);
        const known = this.#byDigest.get(digest);
        if (known) known.push({ items, receipt });
        else this.#byDigest.set(digest, [{ items, receipt }]);
      }
    }
    if (receipts.length > 0) this.pass(passed);
    return this.count;
  }

  /** Compares marks that the run has passed. */
  pass(marks: readonly Mark[]): void {
    for (const mark of marks) this.#compare(mark);
  }

  /** Returns the numbers of items beyond some at which other runs have a mark and this one would not, increasing. */
  marksAfter(items: number): readonly number[] {
    const all = new Set<number>();
    for (const known of this.#byDigest.values()) {
      for (const mark of known) if (mark.items > items && !isRegular(mark.items)) all.add(mark.items);
    }
    return Array.from(all).sort((a, b) => a - b);
  }

  /** Returns whether items up to some may all be paid for: the next mark tells. */
  mayCover(items: number): boolean {
    if (items <= this.#compared) return false;
    for (const { isSame, granted } of this.#runs.values()) if (isSame && granted >= items) return true;
    return false;
  }

  #compare({ items, digest }: Mark): void {
    if (isRegular(items)) {
      this.#compared = Math.max(this.#compared, items);
      for (const other of this.#runs.values()) {
        if (other.first <= items && items <= other.last) other.isSame = false;
      }
    }
    for (const { items: marked, receipt } of this.#byDigest.get(digest) ?? []) {
      const other = this.#runs.get(receipt.run)!;
      if (marked !== items) continue;
      other.isSame = true;
      // What goes beyond this run is left to another one.
      if (items >= other.granted) this.#port.use(receipt.run);
      const paid = Math.min(items, receipt.granted);
      if (paid <= this.count) continue;
      this.count = paid;
      this.time = receipt.time;
    }
  }
}
