/**
 * The items that a run which did not end has paid for. It left receipts: digests of its first items, in their order, at marks on
 * its way. A run over the same items passes the same marks with the same digests, and need not pay for what is before them.
 */
import { itemsToFirstMark } from "../../kernel/layout.js";
import type { Mark, ReceiptPort } from "../../validator/validator.js";

export class PaidItems {
  /** Number of the first items that are paid for. */
  count = 0;
  /** Time of the last payment, in milliseconds since the epoch. */
  time = 0;
  readonly #port: ReceiptPort;
  /** The marks that the run has passed before its first charge. */
  #passed: Mark[] | undefined = [];
  #receipts: readonly {
    readonly granted: number;
    readonly time: number;
    readonly digests: ReadonlyMap<number, string>;
    readonly end: number;
  }[] = [];

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
    this.#passed = undefined;
    // Those of a short list, or before an early pause, are found by all of its items.
    const start = passed.find(({ items }) => items === itemsToFirstMark) ?? passed.at(-1);
    if (start === undefined) return;
    const found = await this.#port.take(start.digest);
    this.#receipts = found.map(({ granted, time, marks }) => ({
      ...{ granted, time },
      digests: new Map(marks.map(({ items, digest }) => [items, digest])),
      end: Math.max(...marks.map(({ items }) => items)),
    }));
    for (const mark of passed) this.#compare(mark);
  }

  /** Returns the number of items at the end of a receipt, the next after some; 0 if there is none. */
  endAfter(items: number): number {
    const ends = this.#receipts.map(({ end }) => end).filter((end) => end > items);
    return ends.length === 0 ? 0 : Math.min(...ends);
  }

  #compare({ items, digest }: Mark): void {
    for (const { granted, time, digests } of this.#receipts) {
      if (digests.get(items) !== digest || Math.min(items, granted) <= this.count) continue;
      this.count = Math.min(items, granted);
      this.time = time;
    }
  }
}
