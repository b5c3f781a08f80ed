// Claims the items of a batch in the cache before each request, so that other runs do not submit them, and stores the
// verdicts. Items claimed elsewhere are asked for in a later request.
// To keep: a claim lasts for one request with its retries, and begins after all waits for the quota and the rate. A
// batch that waits for another run's items has no claim, or two runs could wait for each other. A batch is stored
// before it is sent, and resent unchanged after a crash: a service charges an Idempotency-Key once only if the body is
// the same.
import { setTimeout as sleep } from "node:timers/promises";
import type { BatchListener, Submission, Verdict } from "../../validator/validator.js";
import type { CachePort } from "../cache-port.js";
import type { OpenItem, OpenItems } from "./open-items.js";

const pollMilliseconds = 100;

export class BatchRequests implements BatchListener {
  charged = 0;
  readonly #batch: readonly OpenItem[];
  readonly #items: OpenItems;
  readonly #cache: CachePort | undefined;
  readonly #patience: number;
  readonly #signal: AbortSignal;
  readonly #isSettled: Uint8Array;
  #submitted: readonly number[] = [];
  #release = async () => {};

  constructor(
    batch: readonly OpenItem[],
    items: OpenItems,
    cache: CachePort | undefined,
    patience: number,
    signal: AbortSignal,
  ) {
    this.#batch = batch;
    this.#isSettled = new Uint8Array(batch.length);
    this.#items = items;
    this.#cache = cache;
    this.#patience = patience;
    this.#signal = signal;
  }

  isSettled(index: number): boolean {
    return this.#isSettled[index] === 1;
  }

  release(): Promise<void> {
    return this.#release();
  }

  async onSubmit(indices: readonly number[]): Promise<Submission> {
    this.#signal.throwIfAborted();
    if (this.#cache === undefined) return { now: indices, later: [] };
    const submission = await this.#claim(indices);
    if (submission.now.length > 0) {
      this.#submitted = submission.now;
      await this.#cache.begin(this.#itemsOf(submission.now));
    } else {
      await this.#release();
      if (submission.later.length > 0) await this.#pause();
    }
    return submission;
  }

  async onAnswered(indices: readonly number[], verdicts: readonly Verdict[]): Promise<void> {
    // First, because this throws if there are too many statuses, which must not get into the cache.
    const items = this.#itemsOf(indices);
    this.#items.settle(items, verdicts);
    for (const index of indices) this.#isSettled[index] = 1;
    this.charged += indices.length;
    this.#items.charge(indices.length);
    const statuses = verdicts.map(({ status }) => status);
    await this.#cache?.finish(this.#itemsOf(this.#submitted), items, statuses);
    // The claim may also cover items that turned out to have their verdicts.
    await this.#release();
  }

  /** Waits for the verdicts of other runs on items that are not submitted any more. */
  async takeOthers(indices: readonly number[]): Promise<void> {
    let open = this.#cache === undefined ? [] : indices;
    while (open.length > 0) {
      this.#signal.throwIfAborted();
      const { later } = await this.#claim(open);
      await this.#release();
      open = later;
      if (open.length > 0) await this.#pause();
    }
  }

  async #claim(indices: readonly number[]): Promise<Submission> {
    const { isElsewhere, release } = await this.#cache!.claim(this.#itemsOf(indices), this.#patience, (item, status) =>
      this.#items.remember(item, status),
    );
    this.#release = release;
    const [now, later]: [number[], number[]] = [[], []];
    for (const [i, index] of indices.entries()) {
      if (this.#items.settleFromCache(this.#batch[index]!)) this.#isSettled[index] = 1;
      else (isElsewhere[i] ? later : now).push(index);
    }
    return { now, later };
  }

  #itemsOf(indices: readonly number[]): OpenItem[] {
    return indices.map((index) => this.#batch[index]!);
  }

  async #pause(): Promise<void> {
    await sleep(pollMilliseconds, undefined, { signal: this.#signal }).catch(() => {});
  }
}
