/**
 * The items that a run which did not end has paid for. It left receipts: digests of its first items, in their order, at marks on
 * its way. A run over the same items passes the same marks with the same digests, and need not pay for what is before them.
 */
import { itemsToFirstMark, itemsToMark } from "../../kernel/layout.js";
import type { Mark, Receipt, ReceiptPort } from "../../validator/validator.js";

/** A receipt, with its digests by the number of items. */
interface Known {
  readonly receipt: Receipt;
  readonly digests: ReadonlyMap<number, string>;
  readonly end: number;
}

export class PaidItems {
  /** Number of the first items that are paid for. */
  count = 0;
  /** Time of the last payment, in milliseconds since the epoch. */
  time = 0;
  readonly #port: ReceiptPort;
  /** The marks that the run has passed before the receipts are known. */
  #passed: Mark[] | undefined = [];
  #receipts: readonly Known[] = [];
  /** Number of items at the last mark that all runs have. */
  #lastMark = 0;

  constructor(port: ReceiptPort) {
    this.#port = port;
  }

  /** Takes marks that the run has passed. */
  pass(marks: readonly Mark[]): void {
    if (this.#passed) this.#passed.push(...marks);
    else for (const mark of marks) this.#compare(mark);
  }

  /** Looks for receipts, before the first charge. */
  async begin(): Promise<void> {
    const passed = this.#passed ?? [];
    // Those of a short list, or before an early pause, are found by all of its items.
    const start = passed.find(({ items }) => items === itemsToFirstMark) ?? passed.at(-1);
    const found = start === undefined ? [] : await this.#port.take(start.digest);
    this.#receipts = found.map((receipt) => ({
      receipt,
      digests: new Map(receipt.marks.map(({ items, digest }) => [items, digest])),
      end: receipt.marks.reduce((end, { items }) => Math.max(end, items), 0),
    }));
    this.#passed = undefined;
    // With those that were passed meanwhile.
    for (const mark of passed) this.#compare(mark);
  }

  /** Returns the number of items at the end of a receipt, the next after some; 0 if there is none. */
  endAfter(items: number): number {
    return this.#receipts.reduce(
      (next, { end }) => (end > items && (next === 0 || end < next) ? end : next),
      0,
    );
  }

  /** Returns whether items after the last mark, up to some, may be paid for: the next mark tells. */
  mayBePaid(items: number): boolean {
    const isSame = this.count > 0 && this.count >= this.#lastMark;
    return isSame && items > this.count && this.#receipts.some(({ receipt }) => receipt.granted > this.count);
  }

  #compare({ items, digest }: Mark): void {
    if (items % itemsToMark === 0 || items === itemsToFirstMark) this.#lastMark = items;
    for (const { receipt, digests } of this.#receipts) {
      if (digests.get(items) !== digest) continue;
      // Lists that begin in the same way may have the first mark in common.
      if (items > itemsToFirstMark || items >= receipt.granted) this.#port.use(receipt.run);
      const paid = Math.min(items, receipt.granted);
      if (paid <= this.count) continue;
      this.count = paid;
      this.time = receipt.time;
    }
  }
}
