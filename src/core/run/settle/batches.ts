// New items that neither the cache nor the syntax decides go to the queue. Partly filled batches are submitted after
// `mostChunks` chunks, the open batch also when the input pauses: chunks, unlike time, make batches reproducible.
import { setImmediate } from "node:timers/promises";
import type { ItemHash } from "../../classifier/tables/item-hash.js";
import type { BlockClassifier } from "../blocks/block-classifier.js";
import type { RunOptions } from "../run-options.js";
import { notCheckedCode } from "../status-codes.js";
import { createBatchQueue } from "./batch-queue.js";
import type { OpenItem, OpenItems } from "./open-items.js";
import type { Settler } from "./settler.js";

const mostChunks = 64;
const pauseMilliseconds = 150;

export function createBatches(
  options: RunOptions,
  items: OpenItems,
  classifier: BlockClassifier,
  unfinished: readonly (readonly ItemHash[])[],
  onFailure: (error: unknown) => void,
): Settler {
  const { ledger } = items;
  const queue = createBatchQueue(options, items, unfinished, onFailure);
  let fillingChunks = 0;
  let pause: NodeJS.Timeout | undefined;
  let unopened: OpenItem[] = [];

  return {
    differs: true,
    async add(chunk) {
      clearTimeout(pause);
      const { hashes, codes } = chunk.items ?? chunk;
      const { isNew } = chunk;
      const found: OpenItem[] = [];
      classifier.items.each(
        chunk.chunk,
        chunk,
        (index) => {
          if (isNew[index] === 0) return false;
          if (codes[index] === notCheckedCode) return true;
          ledger.prechecked++;
          return false;
        },
        (item, index) => {
          found.push({ item, low: hashes[2 * index]!, high: hashes[2 * index + 1]! });
        },
      );
      unopened = found.reverse();
      for (let next = found.pop(); next !== undefined; next = found.pop()) {
        // Submit at once: validation runs while the next batch is being filled.
        if (!items.settleFromCache(next) && queue.add(next)) {
          await queue.submitFull();
          await setImmediate();
        }
      }
      fillingChunks = queue.isFilling ? fillingChunks + 1 : 0;
      if (fillingChunks >= mostChunks) {
        await queue.flush();
        fillingChunks = 0;
      }
      if (chunk.isBeforePause && queue.isFilling) {
        pause = setTimeout(() => queue.flushOpen().catch(onFailure), pauseMilliseconds);
      }
    },
    settled: () => queue.settled(),
    async flush() {
      clearTimeout(pause);
      await queue.flush();
    },
    settledRows: (chunk) => ledger.settledRows(chunk),
    async abandon() {
      clearTimeout(pause);
      for (const item of unopened.splice(0)) ledger.forget(item);
      await queue.abandon();
    },
  };
}
