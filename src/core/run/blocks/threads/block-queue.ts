// The queue of blocks in shared memory: the main thread offers blocks; every thread, including it, takes the next one
// and leaves its result.
import { sharedBytes } from "../../../kernel/kernel.js";
import { type BlockResult, countNames } from "../chunk-verdicts.js";

const offered = 0;
const taken = 1;
const isAwaited = 2;
const firstWord = 3;
/** Words of each slot: state, length of the block, the slot at this position of the queue, numbers of the result. */
const state = 0;
const blockLength = 1;
const slotAt = 2;
const firstNumber = 3;
const numbers = ["lines", "rows", "items", "outputLength", ...countNames] as const;
const slotWords = firstNumber + numbers.length;
/** States of a slot. A slot taken by a thread has the state `takenBy` plus the number of the thread. */
const waiting = 0;
const finished = 1;
const refused = 2;
const takenBy = 3;

export class BlockQueue {
  readonly #words: Int32Array;

  constructor(
    private readonly slots: number,
    readonly memory = sharedBytes(4 * (firstWord + slots * slotWords)),
  ) {
    this.#words = new Int32Array(memory);
  }

  offer(slot: number, length: number): void {
    const words = this.#words;
    const count = words[offered]!;
    words[this.#word(slot, blockLength)] = length;
    words[this.#word(slot, state)] = waiting;
    words[this.#word(count % this.slots, slotAt)] = slot;
    Atomics.store(words, offered, count + 1);
    Atomics.notify(words, offered, 1);
  }

  take(thread: number): { readonly slot: number; readonly length: number } | undefined {
    const words = this.#words;
    for (;;) {
      const count = Atomics.load(words, taken);
      if (count === Atomics.load(words, offered)) return undefined;
      const slot = words[this.#word(count % this.slots, slotAt)]!;
      if (Atomics.compareExchange(words, taken, count, count + 1) !== count) continue;
      Atomics.store(words, this.#word(slot, state), takenBy + thread);
      return { slot, length: words[this.#word(slot, blockLength)]! };
    }
  }

  /** Blocks the thread until there may be a block. Not for the main thread. */
  wait(): void {
    const count = Atomics.load(this.#words, offered);
    if (count === Atomics.load(this.#words, taken)) Atomics.wait(this.#words, offered, count);
  }

  /** Leaves the result to a block; undefined refuses it. Returns whether the main thread waits for a result. */
  finish(slot: number, result: BlockResult | undefined): boolean {
    const words = this.#words;
    if (result !== undefined) {
      for (const [i, name] of numbers.entries()) words[this.#word(slot, firstNumber + i)] = result[name];
    }
    Atomics.store(words, this.#word(slot, state), result === undefined ? refused : finished);
    return Atomics.exchange(words, isAwaited, 0) === 1;
  }

  isFinished(slot: number): boolean {
    const now = Atomics.load(this.#words, this.#word(slot, state));
    return now === finished || now === refused;
  }

  resultOf(slot: number): BlockResult | undefined {
    const word = (index: number) => this.#words[this.#word(slot, index)]!;
    if (word(state) === refused) return undefined;
    const found = numbers.map((name, i) => [name, word(firstNumber + i)]);
    return Object.fromEntries(found) as Record<(typeof numbers)[number], number>;
  }

  isWith(thread: number, slot: number): boolean {
    return Atomics.load(this.#words, this.#word(slot, state)) === takenBy + thread;
  }

  /** Makes the next result report that it is awaited; call {@link isFinished} afterwards. */
  announceWait(): void {
    Atomics.store(this.#words, isAwaited, 1);
  }

  #word(slot: number, word: number): number {
    return firstWord + slot * slotWords + word;
  }
}
