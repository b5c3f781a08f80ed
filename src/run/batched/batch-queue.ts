import { setTimeout as sleep } from "node:timers/promises";
import type { CacheScope } from "../../store/verdict-cache.js";
import type { BatchListener } from "../../validator/validator.js";
import type { RunOptions } from "../run-options.js";
import type { ItemLedger, RowItem } from "./item-ledger.js";

/** How often a run looks whether the items that another one has in flight were answered. */
const claimedMilliseconds = 100;

/** Some open items, and when they have their verdicts. */
interface Batch {
  readonly items: RowItem[];
  readonly settled: Promise<void>;
  readonly settle: () => void;
}

/** A batch that a run that was killed has submitted: the service knows it again if it comes as it was. */
interface UnfinishedBatch {
  readonly digests: readonly string[];
  readonly batch: Batch;
}

/** Fills batches with items, in their order, and submits them, as many at a time as the engine takes. */
export class BatchQueue {
  readonly #options: RunOptions;
  readonly #ledger: ItemLedger;
  readonly #running = new Set<Batch>();
  readonly #onFailure: (error: unknown) => void;
  #failure: { readonly error: unknown } | undefined;
  /** The batch that is being filled. */
  #open = newBatch();
  /** By each of their items. */
  readonly #unfinished = new Map<string, UnfinishedBatch>();
  /** Those of which an item has come. */
  readonly #begun = new Set<UnfinishedBatch>();
  /** Called when a batch is done or has failed. */
  #onRoom = () => {};
  #isExhausted = false;

  /**
   * @param unfinished the digests of each batch that earlier, killed runs have submitted
   * @param onFailure called when a batch fails, with what it threw; no further batch is submitted then
   */
  constructor(
    options: RunOptions,
    ledger: ItemLedger,
    unfinished: readonly (readonly string[])[],
    onFailure: (error: unknown) => void,
  ) {
    this.#options = options;
    this.#ledger = ledger;
    this.#onFailure = onFailure;
    for (const digests of unfinished) {
      const unfinished = { digests, batch: newBatch() };
      for (const digest of digests) {
        if (!this.#unfinished.has(digest)) this.#unfinished.set(digest, unfinished);
      }
    }
  }

  /** Some items wait for more to come. */
  get isFilling(): boolean {
    return this.#open.items.length > 0 || this.#begun.size > 0;
  }

  /** Submits the batch that is being filled, but not what has to be whole to be known again. */
  async flushOpen(): Promise<void> {
    if (this.#open.items.length > 0) await this.#submitOpen();
  }

  /**
   * Takes an open item.
   *
   * @returns whether a batch is full now and has to be submitted
   */
  add(item: RowItem): boolean {
    const unfinished = this.#unfinished.get(item.digest);
    if (unfinished === undefined) {
      return this.#open.items.push(item) >= this.#options.validator.batchSize;
    }
    this.#begun.add(unfinished);
    return unfinished.batch.items.push(item) === unfinished.digests.length;
  }

  /** Submits what is full; resolves when it is on its way, and there is room to fill another. */
  async submitFull(): Promise<void> {
    for (const unfinished of this.#begun) {
      const { batch, digests } = unfinished;
      if (batch.items.length === digests.length) await this.#submitAgain(unfinished);
    }
    if (this.#open.items.length >= this.#options.validator.batchSize) await this.#submitOpen();
  }

  /** Submits what waits for more to come, as it is. */
  async flush(): Promise<void> {
    for (const unfinished of this.#begun) await this.#submitAgain(unfinished);
    await this.flushOpen();
  }

  async #submitAgain(unfinished: UnfinishedBatch): Promise<void> {
    this.#begun.delete(unfinished);
    for (const digest of unfinished.digests) this.#unfinished.delete(digest);
    const { digests, batch } = unfinished;
    const places = new Map(digests.map((digest, place) => [digest, place]));
    batch.items.sort((a, b) => places.get(a.digest)! - places.get(b.digest)!);
    await this.#submit(batch);
  }

  async #submitOpen(): Promise<void> {
    const batch = this.#open;
    this.#open = newBatch();
    await this.#submit(batch);
  }

  async #submit(batch: Batch): Promise<void> {
    const { concurrency = 1 } = this.#options.validator;
    while (this.#running.size >= concurrency && !this.#failure) {
      await new Promise<void>((resolve) => {
        this.#onRoom = resolve;
      });
    }
    if (this.#failure) throw this.#failure.error;
    this.#running.add(batch);
    this.#validate(batch.items)
      .then(
        () => {
          this.#running.delete(batch);
          batch.settle();
        },
        (error: unknown) => {
          this.#failure = { error };
          this.#onFailure(error);
        },
      )
      .then(() => this.#onRoom());
  }

  /** Resolves when all that was added by now has its verdicts. */
  async settled(): Promise<void> {
    const begun = [...this.#begun].map(({ batch }) => batch);
    const open = this.#open.items.length > 0 ? [this.#open] : [];
    await Promise.all([...this.#running, ...begun, ...open].map(({ settled }) => settled));
  }

  /** Gives all items of a batch their verdicts: those that other runs have in flight are waited for. */
  async #validate(batch: readonly RowItem[]): Promise<void> {
    const { memory, validator, signal } = this.#options;
    if (memory === undefined) return this.#submitItems(batch);
    for (let open = batch; ; ) {
      signal.throwIfAborted();
      const digests = open.map(({ digest }) => digest);
      const { isElsewhere, release } = await memory.claim(
        digests,
        validator.patience ?? 0,
        (low, high, status) => this.#ledger.remember({ low, high }, status),
      );
      const elsewhere = open.filter((_, i) => isElsewhere[i]);
      try {
        await this.#submitItems(
          open.filter((item, i) => !isElsewhere[i] && !this.#ledger.takeRemembered(item)),
        );
      } finally {
        await release();
      }
      open = elsewhere.filter((item) => !this.#ledger.takeRemembered(item));
      if (open.length === 0) return;
      await sleep(claimedMilliseconds, undefined, { signal }).catch(() => {});
    }
  }

  async #submitItems(batch: readonly RowItem[]): Promise<void> {
    const { kind, validator, signal, memory } = this.#options;
    signal.throwIfAborted();
    if (this.#isExhausted || batch.length === 0) return;
    const listener = memory && this.#listen(batch, memory);
    const items = batch.map(({ item }) => item);
    const { verdicts, charged, quota, exhausted } = await validator.validate(kind, items, signal, listener);
    if (exhausted) this.#isExhausted = true;
    this.#ledger.charge(charged, quota);
    for (const [i, row] of batch.entries()) this.#ledger.settle(row, verdicts[i]!);
  }

  /** Notes what is submitted, and keeps what is paid for. */
  #listen(batch: readonly RowItem[], memory: CacheScope): BatchListener {
    const digestsOf = (indices: readonly number[]) => indices.map((i) => batch[i]!.digest);
    let submitted: readonly number[] = [];
    return {
      async onSubmit(indices) {
        submitted = indices;
        await memory.begin(digestsOf(indices));
      },
      onAnswered: async (indices, verdicts) => {
        // What this run cannot hold, no later one should have to.
        for (const [i, index] of indices.entries()) this.#ledger.settle(batch[index]!, verdicts[i]!);
        const statuses = verdicts.map(({ status }) => status);
        await memory.finish(digestsOf(submitted), digestsOf(indices), statuses);
      },
    };
  }
}

function newBatch(): Batch {
  let settle = () => {};
  const settled = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { items: [], settled, settle };
}
