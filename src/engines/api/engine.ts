/**
 * The api engine: validates batches with a service. Decides when a request may be sent and how its answer changes the
 * batch; knows neither the table nor the cache. A batch takes these steps:
 *     quota gate -> rate -> slot -> onSubmit -> sender.ask -> onAnswered -> done, or open items back to the rate
 * `halt` prevents further submissions, but requests in flight and their retries go on; `ending` also ends the waits.
 * To keep:
 * - An answer that was paid for is never lost: `onAnswered` is awaited before anything else may throw.
 * - Items are submitted in order: await nothing between the gate and the rate, or batches could overtake.
 * - Nothing new is submitted after `halt`: after any new wait before `onSubmit`, check `halting`.
 * - `onSubmit` records each request, exactly as it is sent: after a crash, the next run resends it unchanged.
 * - A batch always leaves the gate, even when it fails, and every failure halts the engine. It leaves its slot after
 *   that, or the next batch would be submitted.
 */
import { setMaxListeners } from "node:events";
import pLimit from "p-limit";
import { ServiceError } from "../../core/validator/errors.js";
import { notChecked, type QuotaState, type Validator, type Verdict } from "../../core/validator/validator.js";
import { afterReply, answeredIn, type Batch, type BatchStep, newBatch } from "./batch.js";
import { type Reply, seconds } from "./next-step.js";
import { precheck } from "./precheck.js";
import { QuotaGate } from "./quota-gate.js";
import { type Activity, type ApiWorld, createSender, type SenderOptions } from "./sender.js";

/** Times are in milliseconds. */
export interface ApiOptions extends SenderOptions {
  readonly batchSize: number;
  readonly concurrency: number;
  readonly timeout: number;
  readonly rate?: Rate;
  readonly wait: number;
  readonly prechecks: boolean;
}

export type Rate = { readonly items: number; readonly milliseconds: number };

export interface ApiEngine extends Validator {
  readonly requests: number;
  readonly activity: Activity;
  readonly probe: ReturnType<typeof createSender>["probe"];
  /** Starts no further request. Requests in flight, which may be paid for, get `milliseconds` to finish. */
  close(milliseconds: number): Promise<void>;
}

/** Batches validated besides those with a request under way. With more, requests are not sent earlier. */
const batchesAhead = 2;
/** In milliseconds: the usual wait before a used-up quota is tried again, and the least one. */
const renewalInterval = 600_000;
const leastRenewalInterval = 10_000;

export function apiValidator(options: ApiOptions, world: ApiWorld): ApiEngine {
  const { baseUrl, concurrency, rate, prechecks } = options;
  const { now, onNotice } = world;
  const sender = createSender(options, world);
  const { ending } = sender;
  const gate = new QuotaGate();
  const inSlot = pLimit(concurrency);
  const takeSlot = () => new Promise<() => void>((taken) => inSlot(() => new Promise<void>((free) => taken(free))));
  let batchSize = Math.min(options.batchSize, rate?.items ?? Number.POSITIVE_INFINITY);
  let nextTurn = 0;
  let waitsUntil: number | undefined;
  let quota: QuotaState = { left: null, renewsAt: null };

  const halting = new AbortController();
  setMaxListeners(0, halting.signal);
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

  async function keepRate(items: number): Promise<void> {
    if (rate === undefined) return;
    const turn = Math.max(now(), nextTurn);
    nextTurn = turn + (items * rate.milliseconds) / rate.items;
    if (turn <= now()) return;
    await world.sleep(turn - now(), halting.signal).catch(() => ending.signal.throwIfAborted());
  }

  /** Returns false, at once, if the quota renews later than `wait` allows. `renewsIn` is in milliseconds. */
  async function awaitRenewal(renewsIn: number | undefined): Promise<boolean> {
    if (options.wait === 0) return false;
    waitsUntil ??= now() + options.wait;
    // One second more, since clocks differ.
    const rest = waitsUntil - now();
    const interval = renewsIn === undefined ? Math.min(renewalInterval, rest) : renewsIn + 1000;
    const delay = Math.max(leastRenewalInterval, interval);
    if (delay > rest) return false;
    onNotice(`${baseUrl}: the quota is exhausted; asking again in ${seconds(delay)}`);
    await sender.sleep(delay, "the quota is used up until it renews");
    return true;
  }

  const validate: Validator["validate"] = async (kind, items, signal, listener) => {
    heed(signal);
    const verdicts: Verdict[] = Array(items.length).fill(notChecked);
    let charged = 0;
    const outcome = (exhausted: boolean) => ({ verdicts, charged, exhausted, quota });
    if (!(await gate.enter(items.length))) return outcome(true);
    let left: number | undefined;
    let hasAnswer = false;
    /** Number of items for which time of the rate is reserved, and the end of that time. */
    let reserved = 0;
    let reservedUntil = 0;
    const reserve = async (wanted: number) => {
      const missing = wanted - reserved;
      if (missing <= 0) return;
      const waiting = keepRate(missing);
      reservedUntil = nextTurn;
      reserved = wanted;
      await waiting;
    };
    const itemsAt = (wanted: readonly number[]) => wanted.map((i) => items[i]!);
    let slot: (() => void) | undefined;
    const free = () => {
      slot?.();
      slot = undefined;
    };
    /** Frees the slot before the verdicts are stored, so that the next request goes out meanwhile. */
    const take = async (batch: Batch, part: readonly number[], reply: Reply): Promise<BatchStep> => {
      hasAnswer = true;
      const { items: answered, statuses } = answeredIn(part, reply);
      if (answered.length === part.length) free();
      const given = statuses.map(verdictOf);
      for (const [nth, item] of answered.entries()) verdicts[item] = given[nth]!;
      charged += answered.length;
      await listener?.onAnswered(answered, given);
      if (reply !== "too large" && !reply.isGone) {
        ({ left } = reply);
        if (left !== undefined) quota = { left, renewsAt: timeOf(reply.renewsIn) };
      }
      return afterReply(batch, part, answered, reply);
    };
    try {
      let batch = newBatch(items.length);
      while (batch.open.length > 0) {
        const wanted = batch.open.slice(0, batch.size);
        await reserve(wanted.length);
        const request = sender.requestFor(kind, itemsAt(wanted));
        slot ??= await takeSlot();
        if (halting.signal.aborted) return outcome(true);
        const { now: part, later } = (await listener?.onSubmit(wanted)) ?? { now: wanted, later: [] };
        batch = { ...batch, open: [...part, ...batch.open.slice(wanted.length), ...later] };
        if (part.length === 0) continue;
        reserved -= part.length;
        const isWhole = part.length === wanted.length;
        const reply = await sender.ask(isWhole ? request : sender.requestFor(kind, itemsAt(part)));
        const step = await take(batch, part, reply);
        if (step.next === "fail") throw new ServiceError(`${baseUrl}: invalid answer: ${step.fault}`);
        batch = step.batch;
        if (step.next === "shrink") {
          batchSize = Math.min(batchSize, batch.size);
          batch = { ...batch, size: batchSize };
          reserved += part.length;
          onNotice(`${baseUrl}: accepts only smaller batches; continuing with batches of ${batchSize}`);
        } else if (step.next === "pause") {
          await sender.sleep(sender.ownDelay(batch.faults), "the service left items out of its answer");
        } else if (step.next === "wait for renewal") {
          quota = { left: 0, renewsAt: timeOf(step.renewsIn) };
          if (await awaitRenewal(step.renewsIn)) continue;
          halt();
          return outcome(true);
        } else if (step.isRenewed) waitsUntil = undefined;
      }
      return outcome(false);
    } catch (error) {
      // Waiting batches must not be submitted and charged for a failed run.
      halt();
      throw error;
    } finally {
      free();
      // Give unused time back, unless another batch has reserved the time after it.
      if (rate && nextTurn === reservedUntil) nextTurn -= (reserved * rate.milliseconds) / rate.items;
      gate.leave(items.length, left, hasAnswer);
    }
  };

  return {
    name: "api",
    concurrency: concurrency + batchesAhead,
    patience: options.timeout + Math.max(options.timeout, options.retryBudget),
    get batchSize() {
      return batchSize;
    },
    get requests() {
      return sender.requests;
    },
    get activity() {
      return sender.activity;
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

const verdictsOf = new Map<string, Verdict>();

function verdictOf(status: string): Verdict {
  let verdict = verdictsOf.get(status);
  if (verdict === undefined) {
    verdict = { status };
    if (verdictsOf.size < 100) verdictsOf.set(status, verdict);
  }
  return verdict;
}
