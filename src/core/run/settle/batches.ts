// New items that neither the cache nor the syntax decides go to the queue. Partly filled batches are submitted after
// `mostChunks` chunks, the open batch also when the input pauses: chunks, unlike time, make batches reproducible.
import { setImmediate } from "node:timers/promises";
import type { ItemHash } from "../../classifier/tables/item-hash.js";
import type { BlockClassifier } from "../blocks/block-classifier.js";
import type { ItemLedger } from "../item-ledger.js";
import type { RunOptions } from "../run-options.js";
import { notCheckedCode } from "../status-codes.js";
import { BatchQueue } from "./batch-queue.js";
import type { OpenItem, OpenItems } from "./open-items.js";
import type { NumberedChunk, Settler } from "./settler.js";

const mostChunks = 64;
const pauseMilliseconds = 150;

export class Batches implements Settler {
  readonly differs = true;
  readonly #ledger: ItemLedger;
  readonly #items: OpenItems;
  readonly #classifier: BlockClassifier;
  readonly #queue: BatchQueue;
  readonly #onFailure: (error: unknown) => void;
  #fillingChunks = 0;
  #pause: NodeJS.Timeout | undefined;
  #unopened: OpenItem[] = [];

  constructor(
    options: RunOptions,
    { ledger, items }: { readonly ledger: ItemLedger; readonly items: OpenItems },
    classifier: BlockClassifier,
    unfinished: readonly (readonly ItemHash[])[],
    onFailure: (error: unknown) => void,
  ) {
    this.#ledger = ledger;
    this.#items = items;
    this.#classifier = classifier;
    this.#onFailure = onFailure;
    this.#queue = new BatchQueue(options, items, unfinished, onFailure);
  }

  async add(chunk: NumberedChunk): Promise<void> {
    clearTimeout(this.#pause);
    const { hashes, codes } = chunk.items ?? chunk;
    const { isNew } = chunk;
    const found: OpenItem[] = [];
    this.#classifier.items.each(
      chunk.chunk,
      chunk,
      (index) => {
        if (isNew[index] === 0) return false;
        if (codes[index] === notCheckedCode) return true;
        this.#ledger.prechecked++;
        return false;
      },
      (item, index) => {
        found.push({ item, low: hashes[2 * index]!, high: hashes[2 * index + 1]! });
      },
    );
    this.#unopened = found.reverse();
    for (let next = found.pop(); next !== undefined; next = found.pop()) {
      // Submit at once: validation runs while the next batch is being filled.
      if (!this.#items.settleFromCache(next) && this.#queue.add(next)) {
        await this.#queue.submitFull();
        await setImmediate();
      }
    }
    this.#fillingChunks = this.#queue.isFilling ? this.#fillingChunks + 1 : 0;
    if (this.#fillingChunks >= mostChunks) {
      await this.#queue.flush();
      this.#fillingChunks = 0;
    }
    if (chunk.isBeforePause && this.#queue.isFilling) {
      this.#pause = setTimeout(() => this.#queue.flushOpen().catch(this.#onFailure), pauseMilliseconds);
    }
  }

  settled(): Promise<void> {
    return this.#queue.settled();
  }

  async flush(): Promise<void> {
    clearTimeout(this.#pause);
    await this.#queue.flush();
  }

  settledRows(chunk: NumberedChunk): number {
    return this.#ledger.settledRows(chunk);
  }

  async abandon(): Promise<void> {
    clearTimeout(this.#pause);
    for (const item of this.#unopened.splice(0)) this.#ledger.forget(item);
    await this.#queue.abandon();
  }
}
