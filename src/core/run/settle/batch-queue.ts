// Fills batches with open items, in input order, and submits as many at a time as the engine takes. A batch that a
// killed run submitted is filled again as its items occur, and submitted unchanged: the service recognises its
// Idempotency-Key and does not charge it twice. It waits until it is complete, too many chunks wait, or the input ends.
// To keep: all other items are submitted in input order; nothing is after the first failure or the end of the quota.
import type { ItemHash } from "../../classifier/tables/item-hash.js";
import { notChecked } from "../../validator/validator.js";
import type { RunOptions } from "../run-options.js";
import { createBatchRequests } from "./batch-requests.js";
import type { OpenItem, OpenItems } from "./open-items.js";

type Batch = { readonly items: OpenItem[]; readonly settled: Promise<void>; readonly settle: () => void };

type UnfinishedBatch = { readonly items: readonly ItemHash[]; readonly batch: Batch };

export function createBatchQueue(
  { kind, validator, signal, cache }: RunOptions,
  openItems: OpenItems,
  unfinishedItems: readonly (readonly ItemHash[])[],
  onFailure: (error: unknown) => void,
) {
  const { concurrency = 1 } = validator;
  const running = new Set<Batch>();
  /** Full batches that wait until a running one ends, in order: the next one is then sent without delay. */
  const ready: Batch[] = [];
  let failure: { readonly error: unknown } | undefined;
  let openBatch = newBatch();
  const unfinishedOf = new Map<string, UnfinishedBatch>();
  for (const items of unfinishedItems) {
    const found = { items, batch: newBatch() };
    for (const item of items) {
      if (!unfinishedOf.has(keyOf(item))) unfinishedOf.set(keyOf(item), found);
    }
  }
  const refilling = new Set<UnfinishedBatch>();
  const waiters: (() => void)[] = [];
  let isAbandoned = false;
  let isExhausted = false;

  /** Batches of a killed run stay: the service recognises them only if they are resent unchanged. */
  async function flushOpen(): Promise<void> {
    if (openBatch.items.length > 0) await submitOpen();
  }

  async function resubmit(unfinished: UnfinishedBatch): Promise<void> {
    refilling.delete(unfinished);
    const { items, batch } = unfinished;
    const keys = items.map(keyOf);
    for (const key of keys) unfinishedOf.delete(key);
    const indices = new Map(keys.map((key, index) => [key, index]));
    batch.items.sort((a, b) => indices.get(keyOf(a))! - indices.get(keyOf(b))!);
    await submit(batch);
  }

  async function submitOpen(): Promise<void> {
    const batch = openBatch;
    openBatch = newBatch();
    await submit(batch);
  }

  async function submit(batch: Batch): Promise<void> {
    if (isAbandoned) return forget(batch.items);
    ready.push(batch);
    start();
    while (ready.length >= concurrency && !failure) await batchEnds();
    if (failure) throw failure.error;
  }

  function forget(items: readonly OpenItem[]): void {
    for (const item of items) openItems.ledger.forget(item);
  }

  const batchEnds = () => new Promise<void>((resolve) => waiters.push(resolve));
  const refilled = () => Array.from(refilling, ({ batch }) => batch);

  function wake(): void {
    for (const wake of waiters.splice(0)) wake();
  }

  function start(): void {
    while (running.size < concurrency && ready.length > 0 && !failure) {
      const batch = ready.shift()!;
      running.add(batch);
      validate(batch.items)
        .then(
          () => {
            running.delete(batch);
            batch.settle();
            start();
          },
          (error: unknown) => {
            failure = { error };
            onFailure(error);
          },
        )
        .then(wake);
    }
  }

  async function validate(batch: readonly OpenItem[]): Promise<void> {
    signal.throwIfAborted();
    const requests = createBatchRequests(batch, openItems, cache, validator.patience ?? 0, signal);
    const items = batch.map(({ item }) => item);
    // When the quota has ended, the cache may still have or get verdicts of other runs.
    if (isExhausted) return requests.takeOthers(items.map((_, i) => i));
    let left: readonly number[] = [];
    try {
      const { verdicts, charged, quota, exhausted } = await validator.validate(kind, items, signal, requests);
      if (exhausted) isExhausted = true;
      openItems.charge(charged - requests.charged, quota);
      const open = [...batch.keys()].filter((i) => !requests.isSettled(i));
      openItems.ledger.settleAll(
        open.map((i) => batch[i]!),
        open.map((i) => verdicts[i]!),
      );
      left = open.filter((i) => verdicts[i]!.status === notChecked.status);
    } finally {
      await requests.release();
    }
    await requests.takeOthers(left);
  }

  return {
    get isFilling() {
      return openBatch.items.length > 0 || refilling.size > 0;
    },
    add(item: OpenItem): boolean {
      const unfinished = unfinishedOf.size > 0 ? unfinishedOf.get(keyOf(item)) : undefined;
      if (unfinished === undefined) return openBatch.items.push(item) >= validator.batchSize;
      refilling.add(unfinished);
      return unfinished.batch.items.push(item) === unfinished.items.length;
    },
    async submitFull(): Promise<void> {
      for (const unfinished of refilling) {
        const { batch, items } = unfinished;
        if (batch.items.length === items.length) await resubmit(unfinished);
      }
      if (openBatch.items.length >= validator.batchSize) await submitOpen();
    },
    flushOpen,
    async flush(): Promise<void> {
      for (const unfinished of refilling) await resubmit(unfinished);
      await flushOpen();
    },
    /** After a failure: waits for submitted batches, which may be charged; the next file's run submits the others. */
    async abandon(): Promise<void> {
      for (const { items } of [...ready.splice(0), openBatch, ...refilled()]) forget(items);
      isAbandoned = true;
      wake();
      while (running.size > 0 && !failure) await batchEnds();
    },
    async settled(): Promise<void> {
      const open = openBatch.items.length > 0 ? [openBatch] : [];
      const all = [...running, ...ready, ...refilled(), ...open];
      await Promise.all(all.map(({ settled }) => settled));
    },
  };
}

const keyOf = ({ low, high }: ItemHash): string => `${low} ${high}`;

function newBatch(): Batch {
  let settle = () => {};
  const settled = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { items: [], settled, settle };
}
