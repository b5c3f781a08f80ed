import type { AnswerListener } from "../validator/validator.js";
import type { ItemLedger, RowItem } from "./item-ledger.js";
import type { RunOptions } from "./run-options.js";

/** Some open items, and when they have their verdicts. */
interface Batch {
  readonly items: RowItem[];
  readonly settled: Promise<void>;
  readonly settle: () => void;
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
  /** Called when a batch is done or has failed. */
  #onRoom = () => {};
  #isExhausted = false;

  /** @param onFailure called when a batch fails, with what it threw; no further batch is submitted then */
  constructor(options: RunOptions, ledger: ItemLedger, onFailure: (error: unknown) => void) {
    this.#options = options;
    this.#ledger = ledger;
    this.#onFailure = onFailure;
  }

  /** Some items wait for more to come. */
  get isFilling(): boolean {
    return this.#open.items.length > 0;
  }

  /** Takes open items; resolves when there is room for more. */
  async add(items: readonly RowItem[]): Promise<void> {
    for (const item of items) {
      this.#open.items.push(item);
      if (this.#open.items.length >= this.#options.validator.batchSize) await this.flush();
    }
  }

  /** Submits the batch that is being filled. */
  async flush(): Promise<void> {
    const { concurrency = 1 } = this.#options.validator;
    if (!this.isFilling) return;
    while (this.#running.size >= concurrency && !this.#failure) {
      await new Promise<void>((resolve) => {
        this.#onRoom = resolve;
      });
    }
    if (this.#failure) throw this.#failure.error;
    const batch = this.#open;
    this.#open = newBatch();
    this.#running.add(batch);
    this.#submit(batch.items)
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
    const batches = this.isFilling ? [...this.#running, this.#open] : [...this.#running];
    await Promise.all(batches.map(({ settled }) => settled));
  }

  async #submit(batch: readonly RowItem[]): Promise<void> {
    const { kind, validator, signal, memory } = this.#options;
    signal.throwIfAborted();
    if (this.#isExhausted) return;
    const remember: AnswerListener | undefined =
      memory &&
      ((indices, verdicts) => {
        // What this run cannot hold, no later one should have to.
        for (const [i, index] of indices.entries()) this.#ledger.settle(batch[index]!, verdicts[i]!);
        memory.save(
          indices.map((i) => batch[i]!.digest),
          verdicts.map(({ status }) => status),
        );
      });
    const items = batch.map(({ item }) => item);
    const { verdicts, charged, quota, exhausted } = await validator.validate(kind, items, signal, remember);
    if (exhausted) this.#isExhausted = true;
    this.#ledger.charge(charged, quota);
    for (const [i, row] of batch.entries()) this.#ledger.settle(row, verdicts[i]!);
  }
}

function newBatch(): Batch {
  let settle = () => {};
  const settled = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { items: [], settled, settle };
}
