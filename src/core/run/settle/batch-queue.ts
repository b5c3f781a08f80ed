// Fills batches with open items, in input order, and submits as many at a time as the engine takes. A batch that a
// killed run submitted is filled again as its items occur, and submitted unchanged: the service recognises its
// Idempotency-Key and does not charge it twice. It waits until it is complete, too many chunks wait, or the input ends.
// To keep: all other items are submitted in input order; nothing is after the first failure or the end of the quota.
import type { ItemHash } from "../../classifier/tables/item-hash.js";
import { notChecked } from "../../validator/validator.js";
import type { RunOptions } from "../run-options.js";
import { BatchRequests } from "./batch-requests.js";
import type { OpenItem, OpenItems } from "./open-items.js";

interface Batch {
  readonly items: OpenItem[];
  readonly settled: Promise<void>;
  readonly settle: () => void;
}

interface UnfinishedBatch {
  readonly items: readonly ItemHash[];
  readonly batch: Batch;
}

export class BatchQueue {
  readonly #options: RunOptions;
  readonly #items: OpenItems;
  readonly #running = new Set<Batch>();
  /** Full batches that wait until a running one ends, in order: the next one is then sent without delay. */
  readonly #ready: Batch[] = [];
  readonly #onFailure: (error: unknown) => void;
  #failure: { readonly error: unknown } | undefined;
  #open = newBatch();
  readonly #unfinished = new Map<string, UnfinishedBatch>();
  readonly #refilling = new Set<UnfinishedBatch>();
  #waiters: (() => void)[] = [];
  #isAbandoned = false;
  #isExhausted = false;

  constructor(
    options: RunOptions,
    items: OpenItems,
    unfinished: readonly (readonly ItemHash[])[],
    onFailure: (error: unknown) => void,
  ) {
    this.#options = options;
    this.#items = items;
    this.#onFailure = onFailure;
    for (const items of unfinished) {
      const found = { items, batch: newBatch() };
      for (const item of items) {
        if (!this.#unfinished.has(keyOf(item))) this.#unfinished.set(keyOf(item), found);
      }
    }
  }

  get isFilling(): boolean {
    return this.#open.items.length > 0 || this.#refilling.size > 0;
  }

  add(item: OpenItem): boolean {
    const unfinished = this.#unfinished.size > 0 ? this.#unfinished.get(keyOf(item)) : undefined;
    if (unfinished === undefined) {
      return this.#open.items.push(item) >= this.#options.validator.batchSize;
    }
    this.#refilling.add(unfinished);
    return unfinished.batch.items.push(item) === unfinished.items.length;
  }

  async submitFull(): Promise<void> {
    for (const unfinished of this.#refilling) {
      const { batch, items } = unfinished;
      if (batch.items.length === items.length) await this.#resubmit(unfinished);
    }
    if (this.#open.items.length >= this.#options.validator.batchSize) await this.#submitOpen();
  }

  /** Batches of a killed run stay: the service recognises them only if they are resent unchanged. */
  async flushOpen(): Promise<void> {
    if (this.#open.items.length > 0) await this.#submitOpen();
  }

  async flush(): Promise<void> {
    for (const unfinished of this.#refilling) await this.#resubmit(unfinished);
    await this.flushOpen();
  }

  /** After a failure: waits for submitted batches, which may be charged; the next file's run submits the others. */
  async abandon(): Promise<void> {
    const refilling = [...this.#refilling].map(({ batch }) => batch);
    const batches = [...this.#ready.splice(0), this.#open, ...refilling];
    for (const { items } of batches) this.#forget(items);
    this.#isAbandoned = true;
    this.#wake();
    while (this.#running.size > 0 && !this.#failure) await this.#batchEnds();
  }

  async settled(): Promise<void> {
    const refilling = [...this.#refilling].map(({ batch }) => batch);
    const open = this.#open.items.length > 0 ? [this.#open] : [];
    const all = [...this.#running, ...this.#ready, ...refilling, ...open];
    await Promise.all(all.map(({ settled }) => settled));
  }

  async #resubmit(unfinished: UnfinishedBatch): Promise<void> {
    this.#refilling.delete(unfinished);
    const { items, batch } = unfinished;
    const keys = items.map(keyOf);
    for (const key of keys) this.#unfinished.delete(key);
    const indices = new Map(keys.map((key, index) => [key, index]));
    batch.items.sort((a, b) => indices.get(keyOf(a))! - indices.get(keyOf(b))!);
    await this.#submit(batch);
  }

  async #submitOpen(): Promise<void> {
    const batch = this.#open;
    this.#open = newBatch();
    await this.#submit(batch);
  }

  async #submit(batch: Batch): Promise<void> {
    const { concurrency = 1 } = this.#options.validator;
    if (this.#isAbandoned) return this.#forget(batch.items);
    this.#ready.push(batch);
    this.#start();
    while (this.#ready.length >= concurrency && !this.#failure) await this.#batchEnds();
    if (this.#failure) throw this.#failure.error;
  }

  #forget(items: readonly OpenItem[]): void {
    for (const item of items) this.#items.forget(item);
  }

  #batchEnds(): Promise<void> {
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  #wake(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }

  #start(): void {
    const { concurrency = 1 } = this.#options.validator;
    while (this.#running.size < concurrency && this.#ready.length > 0 && !this.#failure) {
      const batch = this.#ready.shift()!;
      this.#running.add(batch);
      this.#validate(batch.items)
        .then(
          () => {
            this.#running.delete(batch);
            batch.settle();
            this.#start();
          },
          (error: unknown) => {
            this.#failure = { error };
            this.#onFailure(error);
          },
        )
        .then(() => this.#wake());
    }
  }

  async #validate(batch: readonly OpenItem[]): Promise<void> {
    const { kind, validator, signal, cache } = this.#options;
    signal.throwIfAborted();
    const requests = new BatchRequests(batch, this.#items, cache, validator.patience ?? 0, signal);
    const items = batch.map(({ item }) => item);
    // When the quota has ended, the cache may still have or get verdicts of other runs.
    if (this.#isExhausted) return requests.takeOthers(items.map((_, i) => i));
    let left: readonly number[] = [];
    try {
      const { verdicts, charged, quota, exhausted } = await validator.validate(kind, items, signal, requests);
      if (exhausted) this.#isExhausted = true;
      this.#items.charge(charged - requests.charged, quota);
      const open = [...batch.keys()].filter((i) => !requests.isSettled(i));
      this.#items.settle(
        open.map((i) => batch[i]!),
        open.map((i) => verdicts[i]!),
      );
      left = open.filter((i) => verdicts[i]!.status === notChecked.status);
    } finally {
      await requests.release();
    }
    await requests.takeOthers(left);
  }
}

const keyOf = ({ low, high }: ItemHash): string => `${low} ${high}`;

function newBatch(): Batch {
  let settle = () => {};
  const settled = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { items: [], settled, settle };
}
