// Claims the items of a batch in the cache before each request, so that other runs do not submit them, and stores the
// verdicts. Items claimed elsewhere are asked for in a later request.
// To keep: a claim lasts for one request with its retries, and begins after all waits for the quota and the rate. A
// batch that waits for another run's items has no claim, or two runs could wait for each other. A batch is stored
// before it is sent, and resent unchanged after a crash: a service charges an Idempotency-Key once only if the body is
// the same.
import { setTimeout as sleep } from "node:timers/promises";
import type { Submission, Verdict } from "../../validator/validator.js";
import type { CachePort } from "../cache-port.js";
import type { OpenItem, OpenItems } from "./open-items.js";

const pollMilliseconds = 100;

export function createBatchRequests(
  batch: readonly OpenItem[],
  items: OpenItems,
  cache: CachePort | undefined,
  patience: number,
  signal: AbortSignal,
) {
  const settled = new Uint8Array(batch.length);
  let charged = 0;
  let submitted: readonly number[] = [];
  let release = async () => {};

  async function claim(indices: readonly number[]): Promise<Submission> {
    const claimed = await cache!.claim(itemsOf(indices), patience, items.remember);
    release = claimed.release;
    const now: number[] = [];
    const later: number[] = [];
    for (const [i, index] of indices.entries()) {
      if (items.settleFromCache(batch[index]!)) settled[index] = 1;
      else (claimed.isElsewhere[i] ? later : now).push(index);
    }
    return { now, later };
  }

  const itemsOf = (indices: readonly number[]) => indices.map((index) => batch[index]!);
  const pause = () => sleep(pollMilliseconds, undefined, { signal }).catch(() => {});

  return {
    get charged() {
      return charged;
    },
    isSettled: (index: number) => settled[index] === 1,
    release: () => release(),
    async onSubmit(indices: readonly number[]): Promise<Submission> {
      signal.throwIfAborted();
      if (cache === undefined) return { now: indices, later: [] };
      const submission = await claim(indices);
      if (submission.now.length > 0) {
        submitted = submission.now;
        await cache.begin(itemsOf(submission.now));
      } else {
        await release();
        if (submission.later.length > 0) await pause();
      }
      return submission;
    },
    async onAnswered(indices: readonly number[], verdicts: readonly Verdict[]): Promise<void> {
      // First, because this throws if there are too many statuses, which must not get into the cache.
      const answered = itemsOf(indices);
      items.ledger.settleAll(answered, verdicts);
      for (const index of indices) settled[index] = 1;
      charged += indices.length;
      items.charge(indices.length);
      const statuses = verdicts.map(({ status }) => status);
      await cache?.finish(itemsOf(submitted), answered, statuses);
      // The claim may also cover items that turned out to have their verdicts.
      await release();
    },
    /** Waits for the verdicts of other runs on items that are not submitted any more. */
    async takeOthers(indices: readonly number[]): Promise<void> {
      let open = cache === undefined ? [] : indices;
      while (open.length > 0) {
        signal.throwIfAborted();
        const { later } = await claim(open);
        await release();
        open = later;
        if (open.length > 0) await pause();
      }
    },
  };
}
