import { setMaxListeners } from "node:events";
import { ServiceError } from "../errors.js";
import { notChecked, type QuotaState, type Validator, type Verdict } from "../validator.js";
import { precheck } from "./precheck.js";
import { QuotaGate } from "./quota-gate.js";
import { type ApiWorld, createSender, type SenderOptions, seconds } from "./sender.js";

/** How the service is used. Times are in milliseconds. */
export interface ApiOptions extends SenderOptions {
  /** Items in a batch at most, and batches at a time at most. */
  readonly batchSize: number;
  readonly concurrency: number;
  /** Longest time that a request may take. */
  readonly timeout: number;
  /** At most so many items in so many milliseconds. */
  readonly rate?: Rate;
  /** For how long the renewal of a quota that is gone is waited for; 0 for not at all. */
  readonly wait: number;
  /** Whether what cannot be an address is `fake` without being submitted. */
  readonly prechecks: boolean;
}

export interface Rate {
  readonly items: number;
  readonly milliseconds: number;
}

export interface ApiEngine extends Validator {
  /** Requests that were sent, those sent again among them. */
  readonly requests: number;
  readonly probe: ReturnType<typeof createSender>["probe"];
  /** Ends it: requests in flight may finish for so many milliseconds, so that what is paid for is had; nothing is begun. */
  close(milliseconds: number): Promise<void>;
}

/** How often a service is asked whether the quota has been renewed: when it does not say when, and at most. */
const renewalInterval = 600_000;
const leastRenewalInterval = 10_000;
/** The engine that asks the service of the interface document. */
export function apiValidator(options: ApiOptions, world: ApiWorld): ApiEngine {
  const { baseUrl, concurrency, rate, prechecks } = options;
  const { now, onNotice } = world;
  const sender = createSender(options, world);
  const { ending } = sender;
  const gate = new QuotaGate();
  let batchSize = Math.min(options.batchSize, rate?.items ?? Number.POSITIVE_INFINITY);
  /** When the rate lets the next item go. */
  let nextTurn = 0;
  /** Until when the renewal of the quota is waited for. */
  let waitsUntil: number | undefined;
  let quota: QuotaState = { left: null, renewsAt: null };

  /** Nothing new is submitted: the quota has ended, or the run has failed. */
  const halting = new AbortController();
  setMaxListeners(0, halting.signal);
  /** Batches that are being validated: an answer to one of them is still to be kept. */
  const running = new Set<Promise<unknown>>();
  const halt = () => {
    gate.shut();
    halting.abort();
  };
  const heeded = new WeakSet<AbortSignal>();
  function heed(signal: AbortSignal): void {
    signal.throwIfAborted();
    if (heeded.has(signal)) return;
    heeded.add(signal);
    signal.addEventListener("abort", () => ending.abort(signal.reason), { once: true });
  }

  const timeOf = (renewsIn: number | undefined) => (renewsIn === undefined ? null : now() + renewsIn);

  /** Waits until the rate lets so many items go. */
  async function keepRate(items: number): Promise<void> {
    if (rate === undefined) return;
    const turn = Math.max(now(), nextTurn);
    nextTurn = turn + (items * rate.milliseconds) / rate.items;
    if (turn <= now()) return;
    await world.sleep(turn - now(), halting.signal).catch(() => ending.signal.throwIfAborted());
  }

  /** Waits for the renewal of the quota; says whether it makes sense to ask again. */
  async function awaitRenewal(renewsIn: number | undefined): Promise<boolean> {
    if (options.wait === 0) return false;
    waitsUntil ??= now() + options.wait;
    // A second later: clocks differ.
    const delay = Math.max(leastRenewalInterval, renewsIn === undefined ? renewalInterval : renewsIn + 1000);
    if (now() + delay > waitsUntil) return false;
    onNotice(`${baseUrl}: the quota is exhausted; asking again in ${seconds(delay)}`);
    await sender.sleep(delay);
    return true;
  }

  const validate: Validator["validate"] = async (kind, items, signal, listener) => {
    heed(signal);
    const verdicts: Verdict[] = Array(items.length).fill(notChecked);
    let charged = 0;
    const outcome = (exhausted: boolean) => ({ verdicts, charged, exhausted, quota });
    if (!(await gate.enter(items.length))) return outcome(true);
    let left: number | undefined;
    let faults = 0;
    try {
      let open = items.map((_, i) => i);
      // Whole at first, whatever the size is by now: the service may know it from a run that was killed.
      let size = open.length;
      while (open.length > 0) {
        const part = open.slice(0, size);
        await keepRate(part.length);
        if (halting.signal.aborted) return outcome(true);
        const partItems = part.map((i) => items[i]!);
        await listener?.onSubmit(part);
        const reply = await sender.ask(kind, partItems);
        const results = reply === "too large" || reply.isGone ? [] : reply.statuses;
        const answered = part.filter((index, i) => {
          const status = results[i];
          if (status === undefined || status === notChecked.status) return false;
          verdicts[index] = verdictOf(status);
          return true;
        });
        charged += answered.length;
        await listener?.onAnswered(
          answered,
          answered.map((i) => verdicts[i]!),
        );
        if (reply === "too large") {
          batchSize = Math.min(batchSize, Math.ceil(part.length / 2));
          size = batchSize;
          // Nothing of it has gone.
          if (rate) nextTurn -= (part.length * rate.milliseconds) / rate.items;
          onNotice(`${baseUrl}: takes smaller batches only; going on with ${batchSize}`);
          continue;
        }
        if (!reply.isGone) {
          ({ left } = reply);
          if (left !== undefined) quota = { left, renewsAt: timeOf(reply.renewsIn) };
          open = open.filter((i) => verdicts[i] === notChecked);
          if (reply.fault !== undefined) {
            if (++faults > 1) throw new ServiceError(`${baseUrl}: answers nonsense: ${reply.fault}`);
            await sender.sleep(sender.ownDelay(faults));
            continue;
          }
          if (answered.length === part.length) {
            waitsUntil = undefined;
            continue;
          }
          // Something is left after all: the answer was an old one, or the quota has just been raised.
          if (answered.length > 0 && left !== undefined && left > 0) continue;
        }
        quota = { left: 0, renewsAt: timeOf(reply.renewsIn) };
        if (!(await awaitRenewal(reply.renewsIn))) {
          halt();
          return outcome(true);
        }
      }
      return outcome(false);
    } catch (error) {
      // The run has failed: what waits is not to be paid for.
      halt();
      throw error;
    } finally {
      gate.leave(items.length, left);
    }
  };

  return {
    engine: "api",
    concurrency,
    patience: options.timeout + Math.max(options.timeout, options.retryBudget),
    get batchSize() {
      return batchSize;
    },
    get requests() {
      return sender.requests;
    },
    validate(...batch) {
      const validation = validate(...batch);
      const settled: Promise<unknown> = validation.catch(() => {}).then(() => running.delete(settled));
      running.add(settled);
      return validation;
    },
    probe: sender.probe,
    ...(prechecks && { precheck }),
    async close(milliseconds) {
      halt();
      await sender.close(milliseconds, running);
    },
  };
}

/** One object a status, so that many items take no memory; a service that has many statuses may take some. */
const verdictsOf = new Map<string, Verdict>();
function verdictOf(status: string): Verdict {
  let verdict = verdictsOf.get(status);
  if (verdict === undefined) {
    verdict = { status };
    if (verdictsOf.size < 100) verdictsOf.set(status, verdict);
  }
  return verdict;
}
