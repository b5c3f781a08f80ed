/**
 * Fills batches with open items, in input order, and submits them, as many at a time as the engine takes.
 *
 * Two kinds of batches are being filled at once:
 *
 * - the open batch takes new items, and is submitted when it has `batchSize` of them;
 * - a batch that a killed run submitted is filled again as its items come along, and submitted unchanged: the service
 *   recognises its Idempotency-Key, so that it is not charged twice. It waits until it is complete, or the input ends.
 *
 * A batch is validated in three steps, repeated for the items that another run has in flight:
 *
 *     claim in the cache -> submit what is neither claimed elsewhere nor answered meanwhile -> release the claim
 *
 * While it is under way, the listener records each request before it is sent and keeps each answer when it has come.
 *
 * To keep: items are submitted in input order. No claim is held while a batch waits for the items of another run, or two runs
 * could wait for each other. After the first failure, or when the quota has ended, nothing more is submitted.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { BatchListener } from "../../validator/validator.js";
import type { CachePort } from "../cache-port.js";
import type { RunOptions } from "../run-options.js";
import type { ItemLedger, RowItem } from "./item-ledger.js";

/** How often a run looks whether items that another run has in flight were answered, in milliseconds. */
const pollMilliseconds = 100;

/** Some open items, and a promise that resolves when they have their verdicts. */
interface Batch {
  readonly items: RowItem[];
  readonly settled: Promise<void>;
  readonly settle: () => void;
}

/** A batch that an earlier, killed run submitted, by the digests of its items in their order. */
interface UnfinishedBatch {
  readonly digests: readonly string[];
  readonly batch: Batch;
}

export class BatchQueue {
  readonly #options: RunOptions;
  readonly #ledger: ItemLedger;
  readonly #running = new Set<Batch>();
  readonly #onFailure: (error: unknown) => void;
  #failure: { readonly error: unknown } | undefined;
  /** The batch that takes new items. */
  #open = newBatch();
  /** Unfinished batches by each of their items. */
  readonly #unfinished = new Map<string, UnfinishedBatch>();
  /** Unfinished batches of which an item has come along. */
  readonly #refilling = new Set<UnfinishedBatch>();
  /** Called when a batch has ended. */
  #onRoom = () => {};
  #isExhausted = false;

  /**
   * @param unfinished the digests of each batch that killed runs submitted
   * @param onFailure called with the error of the first batch that fails
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
      const found = { digests, batch: newBatch() };
      for (const digest of digests) {
        if (!this.#unfinished.has(digest)) this.#unfinished.set(digest, found);
      }
    }
  }

  /** Whether items wait for more to come. */
  get isFilling(): boolean {
    return this.#open.items.length > 0 || this.#refilling.size > 0;
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
    this.#refilling.add(unfinished);
    return unfinished.batch.items.push(item) === unfinished.digests.length;
  }

  /** Submits the batches that are full; resolves when they are on their way and another one can be filled. */
  async submitFull(): Promise<void> {
    for (const unfinished of this.#refilling) {
      const { batch, digests } = unfinished;
      if (batch.items.length === digests.length) await this.#resubmit(unfinished);
    }
    if (this.#open.items.length >= this.#options.validator.batchSize) await this.#submitOpen();
  }

  /**
   * Submits the batch being filled. Batches left by a killed run wait until complete: the service recognises them only if
   * they are resent unchanged.
   */
  async flushOpen(): Promise<void> {
    if (this.#open.items.length > 0) await this.#submitOpen();
  }

  /** Submits all items that wait, in batches as they are. */
  async flush(): Promise<void> {
    for (const unfinished of this.#refilling) await this.#resubmit(unfinished);
    await this.flushOpen();
  }

  /** Resolves when everything that was added so far has its verdict. */
  async settled(): Promise<void> {
    const refilling = [...this.#refilling].map(({ batch }) => batch);
    const open = this.#open.items.length > 0 ? [this.#open] : [];
    await Promise.all([...this.#running, ...refilling, ...open].map(({ settled }) => settled));
  }

  /** Submits a batch of a killed run in its old order. */
  async #resubmit(unfinished: UnfinishedBatch): Promise<void> {
    this.#refilling.delete(unfinished);
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

  /** Waits for room, and starts the validation of a batch. */
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

  /** Gets the verdicts of a batch: claims, submits, and waits for the items that other runs have in flight. */
  async #validate(batch: readonly RowItem[]): Promise<void> {
    const { cache, validator, signal } = this.#options;
    if (cache === undefined) return this.#submitItems(batch);
    for (let open = batch; ; ) {
      signal.throwIfAborted();
      const { isElsewhere, release } = await cache.claim(
        open.map(({ digest }) => digest),
        validator.patience ?? 0,
        (low, high, status) => this.#ledger.remember({ low, high }, status),
      );
      const isOwn = (item: RowItem, i: number) => !isElsewhere[i] && !this.#ledger.settleFromCache(item);
      try {
        await this.#submitItems(open.filter(isOwn));
      } finally {
        await release();
      }
      open = open.filter((item, i) => isElsewhere[i] && !this.#ledger.settleFromCache(item));
      if (open.length === 0) return;
      await sleep(pollMilliseconds, undefined, { signal }).catch(() => {});
    }
  }

  async #submitItems(batch: readonly RowItem[]): Promise<void> {
    const { kind, validator, signal, cache } = this.#options;
    signal.throwIfAborted();
    if (this.#isExhausted || batch.length === 0) return;
    const listener = cache && this.#listen(batch, cache);
    const items = batch.map(({ item }) => item);
    const { verdicts, charged, quota, exhausted } = await validator.validate(kind, items, signal, listener);
    if (exhausted) this.#isExhausted = true;
    this.#ledger.charge(charged, quota);
    for (const [i, row] of batch.entries()) this.#ledger.settle(row, verdicts[i]!);
  }

  /** Records what is submitted, and keeps the answers that are paid for. */
  #listen(batch: readonly RowItem[], cache: CachePort): BatchListener {
    const digestsOf = (indices: readonly number[]) => indices.map((i) => batch[i]!.digest);
    let submitted: readonly number[] = [];
    return {
      async onSubmit(indices) {
        submitted = indices;
        await cache.begin(digestsOf(indices));
      },
      onAnswered: async (indices, verdicts) => {
        // First, because it fails on too many statuses, which must not come back out of the cache.
        for (const [i, index] of indices.entries()) this.#ledger.settle(batch[index]!, verdicts[i]!);
        const statuses = verdicts.map(({ status }) => status);
        await cache.finish(digestsOf(submitted), digestsOf(indices), statuses);
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
