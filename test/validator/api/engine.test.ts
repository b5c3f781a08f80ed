/** Covers what the api engine makes of answers: verdicts, quotas, batch sizes and pacing. */
import { getEventListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Validator } from "../../../src/core/validator/validator.js";
import { precheck } from "../../../src/engines/api/precheck.js";
import { engineFor, items, manualClock, startTime } from "../../support/api-engine.js";
import { type Act, respond, resultsOf } from "../../support/scripted-server.js";

/** Says that the quota is used up. */
const gone = respond(429, {}, '{"message":"No validations are left."}');

/** Answers ok for the first items, and quota_exceeded for the others. */
const okFor = (count: number, headers: Readonly<Record<string, string>> = {}) =>
  respond(200, headers, (list) => {
    const results = list.map((item, i) => [item, { status: i < count ? "ok" : "quota_exceeded" }]);
    return JSON.stringify({ emails: Object.fromEntries(results) });
  });

const realSleep = (milliseconds: number, signal: AbortSignal) => sleep(milliseconds, undefined, { signal });

/** Accepts up to `most` items a request and answers larger requests with `refusal`. */
const takes =
  (most: number, refusal: Act): Act =>
  (response, request) =>
    (request.items.length > most ? refusal : respond())(response, request);

test("keeps the results of a partial answer and resubmits the missing items once", async () => {
  const lacking = respond(200, {}, (list) => resultsOf(list.slice(1)));
  const { seen, validate, kept } = await engineFor([lacking, respond()]);
  expect((await validate(items(3))).charged).toBe(3);
  expect(seen.map((request) => request.items)).toEqual([items(3), items(1)]);
  expect(kept).toEqual(["ann1@b.net ok", "ann2@b.net ok", "ann0@b.net ok"]);
  const { failure, kept: keptAll } = await engineFor([lacking]);
  expect(await failure(items(3))).toBe("ServiceError: URL: invalid answer: no result for item 1 of 1");
  expect(keptAll).toEqual(["ann1@b.net ok", "ann2@b.net ok"]);
});

describe("429", () => {
  const slow = respond(429, { "retry-after": "5" }, "");

  test("with a short hint slows the engine down and is announced", async () => {
    const { validate, slept, notices, seen } = await engineFor([slow, slow, slow, slow, respond()]);
    expect((await validate(items(2))).statuses).toEqual(["ok", "ok"]);
    expect(slept).toEqual([5250, 5500, 6000, 7000]);
    expect(seen).toHaveLength(5);
    expect(notices[0]).toBe("URL: asks to slow down; continuing in 5 s");
  });

  test("with endless short hints is a fault, not the end of the quota", async () => {
    const { failure, seen } = await engineFor([slow]);
    expect(await failure()).toBe("ServiceError: URL: asks to slow down, 5 times; it asks to wait for 5 s");
    expect(seen).toHaveLength(5);
  });

  test("does not fail a batch while other batches succeed", async () => {
    // One request in eight succeeds.
    let turn = 0;
    const other: Act = (response, request) => (turn++ % 8 < 7 ? slow : respond())(response, request);
    const { validate } = await engineFor([respond(), other], { timeout: 5000, maximumRetries: 20, retryBudget: 1e9 });
    await validate(items(1));
    const outcomes = await Promise.all([1, 2, 3, 4].map((i) => validate(items(1, i))));
    expect(outcomes.every(({ charged }) => charged === 1)).toBe(true);
  });

  test("counts from zero again after another batch has succeeded", async () => {
    // Of one batch: three refusals, then one success of the other, then three more; five in a row would be a fault.
    let refusals = 0;
    const act: Act = (response, request) => {
      const isFirst = request.items[0] === "ann0@b.net";
      (isFirst && ++refusals <= 6 ? slow : respond())(response, request);
    };
    const { validate } = await engineFor([respond(), act], { retryBudget: 1e9 });
    await validate(items(1, 50));
    const first = validate(items(1));
    for (let i = 1; i < 30; i++) await validate(items(1, i));
    expect((await first).charged).toBe(1);
    expect(refusals).toBe(7);
  });

  test("with a hint of 0 is retried after the engine's own delays", async () => {
    const { failure, slept, seen } = await engineFor([respond(429, { "retry-after": "0" }, "")]);
    expect(await failure()).toContain("asks to slow down, 5 times");
    expect(slept).toEqual([250, 500, 1000, 2000]);
    expect(seen).toHaveLength(5);
  });

  const renewsAt = startTime + 86_399_000;
  test.each<[string, Act, number | null]>([
    ["without a hint", gone, null],
    ["with a long hint", respond(429, { "retry-after": "86399" }, ""), renewsAt],
    ["with a long RateLimit", respond(429, { ratelimit: '"validations";r=0;t=86399' }, ""), renewsAt],
  ])("%s means that the quota is exhausted", async (_, act, renewsAt) => {
    const { validate, seen, notices } = await engineFor([act]);
    const none = { charged: 0, exhausted: true, quota: { left: 0, renewsAt } };
    expect(await validate(items(2))).toMatchObject({ statuses: ["quota_exceeded", "quota_exceeded"], ...none });
    const sent = seen.length;
    expect((await validate(items(2))).exhausted).toBe(true);
    expect(seen).toHaveLength(sent);
    expect(notices).toEqual([]);
  });

  test("an answer with quota_exceeded keeps the charged verdicts", async () => {
    const { validate, kept } = await engineFor([okFor(1, { ratelimit: '"validations";r=0;t=90' })]);
    const half = { statuses: ["ok", "quota_exceeded"], charged: 1, exhausted: true, quota: { left: 0 } };
    expect(await validate(items(2))).toMatchObject(half);
    expect(kept).toEqual(["ann0@b.net ok"]);
  });

  test("with --wait is retried at the renewal, or every ten minutes", async () => {
    const acts = [respond(429, { "retry-after": "3600" }, ""), gone, respond()];
    const { validate, slept, notices } = await engineFor(acts, { wait: Number.POSITIVE_INFINITY });
    expect((await validate(items(2))).statuses).toEqual(["ok", "ok"]);
    expect(slept).toEqual([3_601_000, 600_000]);
    expect(notices[0]).toBe("URL: the quota is exhausted; asking again in 60 min");
  });

  test("with --wait TIME is not retried after TIME", async () => {
    const { validate, slept } = await engineFor([gone], { wait: 1_500_000 });
    expect((await validate(items(2))).exhausted).toBe(true);
    expect(slept).toEqual([600_000, 600_000, 300_000]);
  });

  test("with --wait, only items without a verdict are resubmitted", async () => {
    const acts = [okFor(2, { "x-ratelimit-remaining": "0" }), respond()];
    const { validate, seen } = await engineFor(acts, { wait: 1_000_000 });
    expect((await validate(items(5))).charged).toBe(5);
    expect(seen.map((request) => request.items)).toEqual([items(5), items(3, 2)]);
  });

  test("quota_exceeded for all items ends the requests, even if the headers show units left", async () => {
    const { validate, seen } = await engineFor([okFor(0, { ratelimit: '"validations";r=500' })]);
    expect(await validate(items(5))).toMatchObject({ charged: 0, exhausted: true });
    expect(seen.length).toBe(1);
  });

  test("items with quota_exceeded are resubmitted if the headers show units left", async () => {
    const { validate, seen } = await engineFor([okFor(2, { ratelimit: '"validations";r=500' }), respond()]);
    expect((await validate(items(5))).statuses).toEqual(Array(5).fill("ok"));
    expect(seen[1]!.items).toEqual(items(3, 2));
  });
});

describe("batches that are too large", () => {
  test.each<[string, Act]>([
    ["413", respond(413, {}, "<html>")],
    ["a 400 that blames the size", respond(400, {}, '{"message":"Too many items: at most 30."}')],
  ])("shrink by half until they fit, and later batches stay small, after %s", async (_, refusal) => {
    const { validate, seen, kept, engine } = await engineFor([takes(30, refusal)]);
    expect((await validate(items(100))).charged).toBe(100);
    expect(seen.map((request) => request.items.length)).toEqual([100, 50, 25, 25, 25, 25]);
    expect(kept.map((line) => line.split(" ")[0])).toEqual(items(100));
    expect(engine.batchSize).toBe(25);
  });

  test("fail if a single item is too large", async () => {
    const { failure, seen } = await engineFor([respond(413, {}, "{}")]);
    expect(await failure(items(3))).toBe("ServiceError: URL: one item is too large for it (413)");
    expect(seen.map((request) => request.items.length)).toEqual([3, 2, 1]);
  });

  test("keep the verdicts charged before a fault", async () => {
    const { failure, kept } = await engineFor([respond(413, {}, "{}"), respond(), respond(404, {}, "{}")]);
    expect(await failure(items(4))).toContain("404");
    expect(kept).toEqual(["ann0@b.net ok", "ann1@b.net ok"]);
  });
});

test("a batch built before the service asked for smaller ones does not raise the batch size again", async () => {
  const { validate, seen, engine, notices } = await engineFor([takes(30, respond(413, {}, ""))]);
  await validate(items(100));
  await validate(items(60, 100));
  expect(seen.map((request) => request.items.length).slice(6)).toEqual([60, 25, 25, 10]);
  expect(engine.batchSize).toBe(25);
  expect(notices).toEqual([
    "URL: accepts only smaller batches; continuing with batches of 50",
    "URL: accepts only smaller batches; continuing with batches of 25",
    "URL: accepts only smaller batches; continuing with batches of 25",
  ]);
});

test("--rate spreads items over time", async () => {
  const { validate, slept, engine } = await engineFor([respond()], { rate: { items: 10, milliseconds: 60_000 } });
  expect(engine.batchSize).toBe(10);
  for (const from of [0, 10, 20]) await validate(items(10, from));
  expect(slept.map((milliseconds) => Math.round(milliseconds / 1000))).toEqual([60, 60]);
});

test("--rate gives back the time of a batch that was too large", async () => {
  const rate = { items: 10, milliseconds: 100_000 };
  const { validate, slept } = await engineFor([respond(413, {}, ""), respond()], { rate });
  expect((await validate(items(4))).charged).toBe(4);
  // Two requests of two, in the time of the four items that were refused.
  expect(slept).toEqual([]);
  await validate(items(2, 4));
  expect(slept.map((milliseconds) => Math.round(milliseconds / 1000))).toEqual([40]);
});

test("sends no waiting batch after a batch has failed", async () => {
  const { validate, seen } = await engineFor([respond(422, {}, "{}")]);
  const outcomes = await Promise.allSettled([validate(items(2)), validate(items(2, 2)), validate(items(2, 4))]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
  expect(seen).toHaveLength(1);
});

test("sends the first batch alone, then as many batches as the quota covers", async () => {
  let left = 60;
  /** Answers, which the test gives when it is time. */
  const answers: (() => void)[] = [];
  const held: Act = (response, request) => {
    left -= request.items.length;
    const headers = { "ratelimit-remaining": String(left) };
    answers.push(() => respond(200, headers)(response, request));
  };
  const { validate, seen, engine } = await engineFor([held]);
  const first = validate(items(20));
  const second = validate(items(20, 20));
  await expect.poll(() => seen.length).toBe(1);
  expect(engine.activity.inFlight).toBe(1);
  answers[0]!();
  await first;
  const others = [second, validate(items(10, 40)), validate(items(10, 50))];
  await expect.poll(() => seen.length).toBe(4);
  expect(engine.activity.inFlight).toBe(3);
  for (const answer of answers.slice(1)) answer();
  await Promise.all(others);
});

test("does not submit impossible items if prechecks are on", async () => {
  expect((await engineFor([respond()])).engine.precheck).toBe(precheck);
  expect((await engineFor([respond()], { prechecks: false })).engine.precheck).toBeUndefined();
});

describe("the signal", () => {
  test("prevents all requests once it is aborted", async () => {
    const { validate, seen } = await engineFor([respond()]);
    const aborted = AbortSignal.abort(new Error("stop"));
    await expect(validate(items(1), "email", aborted)).rejects.toThrow("stop");
    expect(seen).toHaveLength(0);
  });

  test("ends the wait for a retry with its reason", async () => {
    const { validate, engine } = await engineFor([respond(503, {}, "")], {}, manualClock());
    const run = new AbortController();
    const validating = validate(items(1), "email", run.signal);
    await expect.poll(() => engine.activity.wait).toBeDefined();
    run.abort(new Error("stop"));
    await expect(validating).rejects.toThrow("stop");
    expect(engine.activity).toEqual({ inFlight: 0, wait: undefined });
  });

  test("lets requests in flight finish and prevents new ones", async () => {
    const answers: (() => void)[] = [];
    const { validate, seen, kept } = await engineFor([
      (response, request) => answers.push(() => respond(413, {}, "")(response, request)),
      (response, request) => answers.push(() => respond()(response, request)),
    ]);
    const run = new AbortController();
    const whole = validate(items(2), "email", run.signal);
    await expect.poll(() => answers.length).toBe(1);
    answers[0]!();
    await expect.poll(() => answers.length).toBe(2);
    run.abort(new Error("stop"));
    answers[1]!();
    await expect(whole).rejects.toThrow("stop");
    expect(kept).toEqual(["ann0@b.net ok"]);
    expect(seen).toHaveLength(2);
  });

  test("gets one listener, however many batches share it", async () => {
    const { validate } = await engineFor([respond()]);
    const { signal } = new AbortController();
    for (const from of [0, 1, 2]) await validate(items(1, from), "email", signal);
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
  });
});

describe("the wait for the rate", () => {
  const rate = { items: 1, milliseconds: 60_000 };

  test("ends when the quota has ended", async () => {
    const clock = manualClock();
    const answers: (() => void)[] = [];
    const held: Act = (response, request) => answers.push(() => gone(response, request));
    const { validate, seen } = await engineFor([respond(), held], { rate }, clock);
    await validate(items(1));
    const second = validate(items(1, 1));
    clock.pass(60_000);
    await expect.poll(() => answers.length).toBe(1);
    const third = validate(items(1, 2));
    await new Promise((resolve) => setImmediate(resolve));
    answers[0]!();
    expect(await second).toMatchObject({ exhausted: true });
    expect(await third).toMatchObject({ exhausted: true, charged: 0, quota: { left: 0 } });
    expect(seen).toHaveLength(2);
  });

  test("ends with an error when the engine is closed", async () => {
    const { validate, seen, engine } = await engineFor([respond()], { rate }, manualClock());
    await validate(items(1));
    const waiting = validate(items(1, 1));
    waiting.catch(() => {});
    await new Promise((resolve) => setImmediate(resolve));
    await engine.close(0);
    await expect(waiting).rejects.toThrow("the run has ended");
    expect(seen).toHaveLength(1);
  });
});

describe("the quota of an answer", () => {
  test.each<[string, Record<string, string>, { left: number | null; renewsAt: number | null }]>([
    ["comes with its renewal", { ratelimit: '"a";r=7;t=90' }, { left: 7, renewsAt: startTime + 90_000 }],
    ["comes without a renewal", { "ratelimit-remaining": "7" }, { left: 7, renewsAt: null }],
    ["stays unknown without header fields", {}, { left: null, renewsAt: null }],
  ])("%s", async (_, headers, quota) => {
    const { validate } = await engineFor([respond(200, headers)]);
    expect((await validate(items(1))).quota).toEqual(quota);
  });

  test("stays the same after an answer without header fields", async () => {
    const { validate } = await engineFor([respond(200, { "ratelimit-remaining": "7" }), respond()]);
    await validate(items(1));
    expect((await validate(items(1, 1))).quota).toEqual({ left: 7, renewsAt: null });
  });
});

test("items without a verdict are resubmitted if an answer does not give the units left", async () => {
  // A replayed answer to a killed run, whose quota has been raised since.
  const raised = await engineFor([okFor(2), respond()]);
  expect(await raised.validate(items(5))).toMatchObject({ charged: 5, exhausted: false });
  const same = await engineFor([okFor(2), gone]);
  expect(await same.validate(items(5))).toMatchObject({ charged: 2, exhausted: true });
});

test("items in flight in another run are submitted later, unless that run gets their verdicts", async () => {
  const { engine, seen } = await engineFor([respond()], { rate: { items: 2, milliseconds: 1000 } });
  const submissions = [
    { now: [0], later: [1, 2] },
    { now: [], later: [1, 2] },
    { now: [2], later: [1] },
    { now: [], later: [] },
  ];
  const asked: (readonly number[])[] = [];
  const outcome = await engine.validate("email", items(3), new AbortController().signal, {
    async onSubmit(indices) {
      asked.push(indices);
      return submissions.shift()!;
    },
    async onAnswered() {},
  });
  expect(asked).toEqual([[0, 1, 2], [1, 2], [1, 2], [1]]);
  expect(seen.map((request) => request.items)).toEqual([items(1), items(1, 2)]);
  expect(outcome).toMatchObject({ charged: 2, exhausted: false });
});

describe("--wait", () => {
  /** Answers that one more item is not covered until a renewal in `seconds`. */
  const nothingFor = (seconds: number) =>
    respond(200, { ratelimit: `"a";r=0;t=${seconds}` }, (list) => resultsOf(list, "quota_exceeded"));

  test("does not ask again within ten seconds", async () => {
    const { validate, slept } = await engineFor([nothingFor(3), nothingFor(12), respond()], { wait: 60_000 });
    expect((await validate(items(1))).statuses).toEqual(["ok"]);
    expect(slept).toEqual([10_000, 13_000]);
  });

  test("lasts until its end, and not a millisecond longer", async () => {
    const within = await engineFor([nothingFor(599), respond()], { wait: 600_000 });
    expect((await within.validate(items(1))).exhausted).toBe(false);
    const beyond = await engineFor([nothingFor(599), respond()], { wait: 599_999 });
    expect((await beyond.validate(items(1))).exhausted).toBe(true);
    expect(beyond.slept).toEqual([]);
  });

  test("asks once more at its end if the service gives no renewal time", async () => {
    const { validate, slept } = await engineFor([gone, respond()], { wait: 60_000 });
    expect((await validate(items(1))).exhausted).toBe(false);
    expect(slept).toEqual([60_000]);
    const short = await engineFor([gone, respond()], { wait: 9_000 });
    expect((await short.validate(items(1))).exhausted).toBe(true);
  });

  test("starts from zero when the quota ends a second time", async () => {
    const { validate, slept } = await engineFor([gone, respond(), gone, respond()], { wait: 700_000 });
    await validate(items(1));
    expect((await validate(items(1, 1))).exhausted).toBe(false);
    expect(slept).toEqual([600_000, 600_000]);
  });

  test("tells in `activity` what the engine waits for", async () => {
    const { validate, engine } = await engineFor([gone], { wait: 1e9 }, manualClock());
    validate(items(1)).catch(() => {});
    const wait = { until: startTime + 600_000, why: "the quota is used up until it renews" };
    await expect.poll(() => engine.activity.wait).toEqual(wait);
  });
});

test("the patience of an engine is the longest time that a batch may take", async () => {
  const patienceOf = async (timeout: number, retryBudget: number) =>
    (await engineFor([respond()], { timeout, retryBudget })).engine.patience;
  expect(await patienceOf(5000, 60_000)).toBe(65_000);
  expect(await patienceOf(5000, 0)).toBe(10_000);
});

test("equal statuses share one verdict, up to a hundred of them", async () => {
  const statusOf = (item: string) => item.replace(/@.*/, "");
  const { validate } = await engineFor([
    respond(200, {}, (list) =>
      JSON.stringify({ emails: Object.fromEntries(list.map((item) => [item, { status: statusOf(item) }])) }),
    ),
  ]);
  const first = await validate(items(150));
  const second = await validate(items(150));
  const shared = first.verdicts.filter((verdict, i) => verdict === second.verdicts[i]).length;
  expect(shared).toBeGreaterThan(80);
  expect(shared).toBeLessThanOrEqual(100);
  expect(second.statuses).toEqual(items(150).map(statusOf));
});

test("records each request before it is sent, and waits until its verdicts are stored", async () => {
  const { engine, seen } = await engineFor([respond(413, {}, ""), respond()]);
  const steps: string[] = [];
  await engine.validate("email", items(3), new AbortController().signal, {
    async onSubmit(indices) {
      await sleep(5);
      steps.push(`submit ${indices} of request ${seen.length + 1}`);
      return { now: indices, later: [] };
    },
    async onAnswered(indices, verdicts) {
      await sleep(5);
      steps.push(`keep ${indices}: ${verdicts.map(({ status }) => status)}`);
    },
  });
  expect(steps).toEqual([
    "submit 0,1,2 of request 1",
    "keep : ",
    "submit 0,1 of request 2",
    "keep 0,1: ok,ok",
    "submit 2 of request 3",
    "keep 2: ok",
  ]);
});

describe("close()", () => {
  test("waits until answers are stored, and refuses later batches", async () => {
    const { engine, seen } = await engineFor([respond()], {}, { sleep: realSleep });
    let isKept = false;
    const validating = engine.validate("email", items(1), new AbortController().signal, {
      onSubmit: async (indices) => ({ now: indices, later: [] }),
      async onAnswered() {
        await sleep(50);
        isKept = true;
      },
    });
    await expect.poll(() => seen.length).toBe(1);
    await engine.close(5000);
    expect(isKept).toBe(true);
    await validating;
    expect(await engine.validate("email", items(1), new AbortController().signal)).toMatchObject({ exhausted: true });
    expect(seen).toHaveLength(1);
  });

  test("ends all waits", async () => {
    const { engine, seen } = await engineFor([respond(503, { "retry-after": "100" }, "")], {}, manualClock());
    const validating = engine.validate("email", items(1), new AbortController().signal);
    validating.catch(() => {});
    await expect.poll(() => engine.activity.wait).toBeDefined();
    await engine.close(0);
    await expect(validating).rejects.toThrow("the run has ended");
    expect(seen).toHaveLength(1);
  });

  test("does not wait beyond its time limit", async () => {
    const { engine, seen } = await engineFor([() => {}], {}, { sleep: realSleep });
    const validating = engine.validate("email", items(1), new AbortController().signal);
    validating.catch(() => {});
    await expect.poll(() => seen.length).toBe(1);
    await engine.close(20);
    await expect(validating).rejects.toThrow("the run has ended");
  });
});

test("a batch that failed leaves the quota gate", async () => {
  const { validate, seen } = await engineFor([respond(), respond(422, {}, ""), respond()]);
  await validate(items(1));
  const outcomes = await Promise.allSettled([1, 2, 3].map((i) => validate(items(1, i))));
  // All three were admitted side by side, and the failure of one did not hold the others up.
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "fulfilled", "rejected"]);
  expect(seen).toHaveLength(4);
});

describe("requests under way", () => {
  /** Validates batches of `size` items whose answers are stored when the test says so. The first, which runs alone, is done. */
  async function storingSlowly({ validate: validateWith }: Validator, size: number) {
    const stored: (() => void)[] = [];
    const listener = {
      onSubmit: async (open: readonly number[]) => ({ now: open, later: [] }),
      onAnswered: () => new Promise<void>((resolve) => stored.push(resolve)),
    };
    const validate = (from: number) => validateWith("email", items(size, from), new AbortController().signal, listener);
    const first = validate(0);
    await expect.poll(() => stored.length).toBe(1);
    stored[0]!();
    await first;
    return { stored, validate };
  }

  test("go on up to the concurrency while answers are being stored", async () => {
    let [underWay, most] = [0, 0];
    const act: Act = async (response, request) => {
      most = Math.max(most, ++underWay);
      await sleep(5);
      underWay--;
      respond()(response, request);
    };
    const { engine, seen } = await engineFor([respond(), act], { concurrency: 2 });
    expect(engine.concurrency).toBe(4);
    const { stored, validate } = await storingSlowly(engine, 1);
    const others = [1, 2, 3, 4, 5, 6].map(validate);
    // None of the answers is stored yet.
    await expect.poll(() => stored.length).toBe(7);
    // Two at a time may arrive in either order.
    expect(new Set(seen.map((request) => request.items[0]))).toEqual(new Set(items(7)));
    expect(most).toBe(2);
    for (const store of stored) store();
    await Promise.all(others);
  });

  test("let none follow while an answer that ends the quota is stored", async () => {
    const { engine, seen } = await engineFor([respond(), okFor(1, { ratelimit: '"validations";r=0;t=90' })], {
      concurrency: 1,
    });
    const { stored, validate } = await storingSlowly(engine, 2);
    const others = [2, 4].map(validate);
    await expect.poll(() => stored.length).toBe(2);
    // Time in which another request would arrive.
    await sleep(100);
    expect(seen).toHaveLength(2);
    stored[1]!();
    expect((await Promise.all(others)).map(({ exhausted }) => exhausted)).toEqual([true, true]);
    expect(seen).toHaveLength(2);
  });

  test("let no batch that waits for its turn follow once the quota has ended", async () => {
    const { validate, seen } = await engineFor([respond(), gone], { concurrency: 1 });
    await validate(items(1));
    const others = await Promise.all([1, 2, 3].map((from) => validate(items(1, from))));
    expect(others.map(({ exhausted }) => exhausted)).toEqual([true, true, true]);
    expect(new Set(seen.map((request) => request.items[0]))).toEqual(new Set(items(2)));
  });
});
