/**
 * The api engine: validates batches with a service that follows the interface document. It decides when a request may
 * be sent and how its answer changes the batch. It knows neither the table nor the cache.
 *
 * `sender.ts` sends each request and retries it until it is answered. A batch takes these steps:
 *
 *     quota gate -> rate -> slot -> onSubmit -> sender.ask -> onAnswered -> done, or open items back to the rate
 *
 * 1. The quota gate admits batches in the order in which they come: side by side while the units left cover all of
 *    them, one at a time otherwise. A batch leaves the gate when it is done, so its retries and waits count as well.
 * 2. The rate delays the batch until its items fit.
 * 3. There are as many slots as requests may be under way. A batch leaves its slot when an answer has all verdicts, so
 *    that the next request goes out while they are stored; otherwise only when it is done.
 *    The listener claims the items, so that no other run submits them meanwhile, and records them before they are sent.
 *    After a crash, the next run resends them unchanged. It excludes items that another run has in flight or has had
 *    answered.
 * 4. `sender.ask` sends the request. It retries failures within a budget, and slows down when a 429 asks for it.
 * 5. The listener stores the verdicts of the answer and deletes the record of the request.
 * 6. `batch.ts` decides about the items that are still open. If the quota is used up and `wait` allows, the batch waits
 *    for the renewal and submits them again. Otherwise they get the status `quota_exceeded`, and the engine halts.
 *
 * There are two ways to stop. `halt` prevents further submissions: batches at the gate or waiting for the rate come
 * back with `quota_exceeded`, while requests in flight and their retries go on. `ending`, of the sender, ends the waits
 * for a retry and for the renewal with an error. The run's signal and `close` abort it. Even then, requests in flight
 * may finish.
 *
 * To keep:
 *
 * - An answer that was paid for is never lost. `onAnswered` is awaited before anything else may throw, and `close`
 *   gives batches in flight time to store their answers. A request without an answer stays recorded, and the next run
 *   resends it.
 * - The run's items are submitted in order. Nothing may be awaited between the gate and the rate, or batches could
 *   overtake.
 * - Nothing new is submitted after `halt`. After any new wait before `onSubmit`, check `halting`.
 * - Each request is recorded before it is sent, with exactly its items in their order. A batch is first submitted
 *   whole, except for items that the listener excludes.
 * - A batch that enters the gate always leaves it, even when it fails, and every failure halts the engine. A batch
 *   leaves its slot after that, or the next one would be submitted.
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
  /** Longest wait for the renewal of a used-up quota; 0 for no wait. */
  readonly wait: number;
  readonly prechecks: boolean;
}

export interface Rate {
  readonly items: number;
  readonly milliseconds: number;
}

export interface ApiEngine extends Validator {
  readonly requests: number;
  readonly activity: Activity;
  readonly probe: ReturnType<typeof createSender>["probe"];
  /**
   * Closes the engine; starts no further request. Requests in flight, which may be paid for, get `milliseconds` to
   * finish.
   */
  close(milliseconds: number): Promise<void>;
}

/** Batches that are validated besides those with a request under way. With more, requests are not sent earlier. */
const batchesAhead = 2;
/**
 * Waits before a used-up quota is tried again, in milliseconds: the usual one if the service does not report the
 * renewal, and the shortest one even if it reports an earlier renewal.
 */
const renewalInterval = 600_000;
const leastRenewalInterval = 10_000;

export function apiValidator(options: ApiOptions, world: ApiWorld): ApiEngine {
  const { baseUrl, concurrency, rate, prechecks } = options;
  const { now, onNotice } = world;
  const sender = createSender(options, world);
  const { ending } = sender;
  const gate = new QuotaGate();
  const inSlot = pLimit(concurrency);
  const takeSlot = () =>
    new Promise<() => void>((taken) => inSlot(() => new Promise<void>((free) => taken(free))));
  let batchSize = Math.min(options.batchSize, rate?.items ?? Number.POSITIVE_INFINITY);
  let nextTurn = 0;
  /** End of the wait for the renewal of the quota; undefined while units are left. */
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
  /** Lets the signal abort `ending`. Adds one listener per signal, however many batches share it. */
  function heed(signal: AbortSignal): void {
    signal.throwIfAborted();
    if (heeded.has(signal)) return;
    heeded.add(signal);
    signal.addEventListener("abort", () => ending.abort(signal.reason), { once: true });
  }

  const timeOf = (renewsIn: number | undefined) => (renewsIn === undefined ? null : now() + renewsIn);

  /** Waits until the rate allows this many items, and reserves their time. Returns early after `halt`. */
  async function keepRate(items: number): Promise<void> {
    if (rate === undefined) return;
    const turn = Math.max(now(), nextTurn);
    nextTurn = turn + (items * rate.milliseconds) / rate.items;
    if (turn <= now()) return;
    await world.sleep(turn - now(), halting.signal).catch(() => ending.signal.throwIfAborted());
  }

  /**
   * Waits for the renewal of the quota.
   *
   * @param renewsIn milliseconds, if the service reports it
   * @returns false, at once, if the renewal is later than `wait` allows
   */
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

  /** Reservations of one batch at the rate: time for items that are not submitted yet. */
  function rateRoom() {
    let reserved = 0;
    let reservedUntil = 0;
    return {
      async take(items: number): Promise<void> {
        const missing = items - reserved;
        if (missing <= 0) return;
        const waiting = keepRate(missing);
        reservedUntil = nextTurn;
        reserved += missing;
        await waiting;
      },
      /** Counts items as submitted. A negative number returns items that were not validated. */
      use(items: number): void {
        reserved -= items;
      },
      /** Returns unused time, unless another batch has reserved the time after it. */
      giveBack(): void {
        if (rate && nextTurn === reservedUntil) nextTurn -= (reserved * rate.milliseconds) / rate.items;
      },
    };
  }

  const validate: Validator["validate"] = async (kind, items, signal, listener) => {
    heed(signal);
    const verdicts: Verdict[] = Array(items.length).fill(notChecked);
    let charged = 0;
    const outcome = (exhausted: boolean) => ({ verdicts, charged, exhausted, quota });
    if (!(await gate.enter(items.length))) return outcome(true);
    let left: number | undefined;
    let hasAnswer = false;
    const room = rateRoom();
    const requestFor = (wanted: readonly number[]) =>
      sender.requestFor(
        kind,
        wanted.map((i) => items[i]!),
      );
    let slot: (() => void) | undefined;
    const free = () => {
      slot?.();
      slot = undefined;
    };
    /** Takes an answer. Frees the slot first if the answer has all verdicts: then nothing but storing them is left. */
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
        await room.take(wanted.length);
        const request = requestFor(wanted);
        slot ??= await takeSlot();
        if (halting.signal.aborted) return outcome(true);
        const { now: part, later } = (await listener?.onSubmit(wanted)) ?? { now: wanted, later: [] };
        batch = { ...batch, open: [...part, ...batch.open.slice(wanted.length), ...later] };
        if (part.length === 0) continue;
        room.use(part.length);
        const reply = await sender.ask(part.length === wanted.length ? request : requestFor(part));
        const step = await take(batch, part, reply);
        if (step.next === "fail") throw new ServiceError(`${baseUrl}: invalid answer: ${step.fault}`);
        batch = step.batch;
        if (step.next === "shrink") {
          batchSize = Math.min(batchSize, batch.size);
          batch = { ...batch, size: batchSize };
          room.use(-part.length);
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
      room.giveBack();
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

/** Verdicts by status, shared by items to save memory. Only the first 100 statuses are cached. */
const verdictsOf = new Map<string, Verdict>();

function verdictOf(status: string): Verdict {
  let verdict = verdictsOf.get(status);
  if (verdict === undefined) {
    verdict = { status };
    if (verdictsOf.size < 100) verdictsOf.set(status, verdict);
  }
  return verdict;
}
