/** Covers how the api engine sends requests: what is in them, and which failures are retried, when and how often. */
import { describe, expect, test } from "vitest";
import { engineFor, items, key, manualClock, startTime } from "../../support/api-engine.js";
import { type Act, resetBeforeHeaders, resetMidBody, respond, resultsOf } from "../../support/scripted-server.js";

const saying = (status: number, message: string): Act => respond(status, {}, JSON.stringify({ message }));

test("sends requests as the interface document defines them", async () => {
  const { url, seen, validate, requests } = await engineFor([respond()]);
  const outcome = await validate(["ann@b.net", "__proto__"]);
  expect(outcome).toMatchObject({ statuses: ["ok", "ok"], charged: 2, exhausted: false });
  expect(seen[0]).toMatchObject({
    path: "/emails/validate",
    body: '{"emails":["ann@b.net","__proto__"]}',
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "idempotency-key": "/emails/validate 36",
      accept: "application/json",
      "user-agent": "idv",
      host: url.slice("http://".length),
    },
  });
  expect(requests).toEqual(["POST /emails/validate, 2 items, try 1: 200 in 0 ms"]);
});

test("sends domains to their own path", async () => {
  const { seen, validate } = await engineFor([respond(200, {}, '{"domains":{"b.net":{"status":"ok"}}}')]);
  expect((await validate(["b.net"], "domain")).statuses).toEqual(["ok"]);
  expect(seen[0]).toMatchObject({ path: "/domains/validate", body: '{"domains":["b.net"]}' });
});

test("reports each try with its duration", async () => {
  const { clock, validate, requests, engine } = await engineFor([
    (response) => {
      clock.now += 70;
      response.destroy();
    },
    respond(429, { "retry-after": "1" }, ""),
    respond(),
  ]);
  await validate(items(1));
  expect(requests).toEqual([
    "POST /emails/validate, 1 item, try 1: the connection was closed in 70 ms",
    "POST /emails/validate, 1 item, try 2: 429 in 0 ms",
    "POST /emails/validate, 1 item, try 3: 200 in 0 ms",
  ]);
  expect(engine.requests).toBe(3);
});

test("the longest answer gives its statuses, and one that is a byte longer fails", async () => {
  const longest = 65_536 + 6 * JSON.stringify({ emails: items(2) }).length + 2 * 1024;
  const answerOf = (length: number) => respond(200, {}, resultsOf(items(2)).padEnd(length));
  const { validate, slept } = await engineFor([answerOf(longest)]);
  expect((await validate(items(2))).statuses).toEqual(["ok", "ok"]);
  expect(slept).toEqual([]);
  const { failure } = await engineFor([answerOf(longest + 1)]);
  expect(await failure()).toBe("ServiceError: URL: invalid answer: it is too long");
});

describe("temporary faults", () => {
  test.each<[string, Act]>([
    ["a reset before the headers", resetBeforeHeaders],
    ["a reset in the body", resetMidBody],
    ["no answer", () => {}],
    ["408", respond(408, {}, "{}")],
    ["409", respond(409, {}, "{}")],
    ["500", respond(500, {}, "no JSON")],
    ["502", respond(502, {}, "<html>")],
    ["503", respond(503, {}, '{"message":"tired"}')],
    ["504", respond(504, {}, "")],
    ["an answer that is not JSON", respond(200, {}, "<html>")],
    ["a status that is not a string", respond(200, {}, (list) => resultsOf(list).replaceAll('"ok"', "1"))],
    ["a body that is too large", respond(200, {}, () => " ".repeat(200_000))],
  ])("lead to a retry: %s", async (_, act) => {
    const { seen, validate, slept, kept } = await engineFor([act, respond()], {}, { timeout: 300 });
    expect(await validate(items(3))).toMatchObject({ statuses: ["ok", "ok", "ok"], charged: 3 });
    expect(slept).toEqual([250]);
    expect(kept).toHaveLength(3);
    expect(seen).toHaveLength(2);
    // The same key: a service that charged for the first request does not charge for the second.
    expect(seen[1]!.headers["idempotency-key"]).toBe(seen[0]!.headers["idempotency-key"]);
    expect(seen[1]!.body).toBe(seen[0]!.body);
  });

  test("double each delay and fail the batch after five tries", async () => {
    const { failure, slept, seen } = await engineFor([respond(503, {}, '{"message":"tired"}')]);
    expect(await failure()).toBe("ServiceError: URL: answers 503: tired, 5 times");
    expect(slept).toEqual([250, 500, 1000, 2000]);
    expect(seen).toHaveLength(5);
  });

  test("lead to no retry beyond the retry budget", async () => {
    const { failure, slept } = await engineFor([respond(500, {}, "")], { retryBudget: 1200 });
    expect(await failure()).toBe("ServiceError: URL: answers 500, 3 times");
    expect(slept).toEqual([250, 500]);
  });

  test.each<[string, Record<string, string>, number[]]>([
    ["Retry-After in seconds", { "retry-after": "7" }, [7000]],
    [
      "Retry-After as a date, by the service's clock",
      { "retry-after": "Sat, 21 Nov 2020 18:00:30 GMT", date: "Sat, 21 Nov 2020 18:00:00 GMT" },
      [30_000],
    ],
    ["RateLimit's t if no units are left", { ratelimit: '"validations";r=0;t=3' }, [3000]],
    ["the engine's delay if units are left", { ratelimit: '"validations";r=9;t=86399' }, [250]],
    ["Retry-After rather than RateLimit's t", { "retry-after": "2", ratelimit: '"validations";r=0;t=3' }, [2000]],
    ["the engine's delay if the headers are invalid", { "retry-after": "soon", ratelimit: "???" }, [250]],
  ])("lead to a retry after %s", async (_, headers, expected) => {
    const { validate, slept } = await engineFor([respond(503, headers, ""), respond()]);
    await validate(items(1));
    expect(slept).toEqual(expected);
  });

  test("lead to a retry after at most 30 seconds, however many there were", async () => {
    const { failure, slept } = await engineFor([respond(503, {}, "")], { maximumRetries: 9, retryBudget: 1e9 });
    expect(await failure()).toBe("ServiceError: URL: answers 503, 10 times");
    expect(slept).toEqual([250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000]);
  });

  test("lead to retries until the end of the budget, and not a millisecond longer", async () => {
    const asks = respond(503, { "retry-after": "2" }, "");
    const within = await engineFor([asks, () => {}], { retryBudget: 2000 });
    expect(await within.failure()).toBe("ServiceError: URL: no answer in 0.001 s, 2 times");
    const beyond = await engineFor([asks, respond()], { retryBudget: 1999 });
    expect(await beyond.failure()).toBe("ServiceError: URL: answers 503; it asks to wait for 2 s");
    expect(beyond.slept).toEqual([]);
  });

  test.each([
    ["what is left of the budget", { retryBudget: 400 }, 5000, "0.15"],
    ["at least a millisecond", { retryBudget: 250 }, 5000, "0.001"],
    ["its timeout if the budget is larger", { maximumRetries: 1 }, 90, "0.09"],
  ])("limit the next try to %s", async (_, options, timeout, seconds) => {
    const { failure } = await engineFor([respond(500, {}, ""), () => {}], options, { timeout });
    expect(await failure()).toBe(`ServiceError: URL: no answer in ${seconds} s, 2 times`);
  });

  test("count against the budget from the start of the first failed try", async () => {
    const { clock, failure, slept } = await engineFor(
      [
        (response) => {
          clock.now += 900;
          response.destroy();
        },
        respond(),
      ],
      { retryBudget: 1000 },
    );
    expect(await failure()).toBe("ServiceError: URL: the connection was closed");
    expect(slept).toEqual([]);
  });
});

describe("permanent faults", () => {
  test.each<[string, Act, string]>([
    ["400", respond(400, {}, '{"message":"The field emails is missing."}'), "answers 400: The field emails is missing"],
    ["404", respond(404, {}, "<html>"), "answers 404"],
    ["422", respond(422, {}, "{}"), "answers 422"],
    ["a 422 that blames the size", respond(422, {}, "too many items"), "answers 422: too many items"],
    ["a redirect", respond(307, { location: "https://elsewhere.net/" }, ""), "answers 307; redirects are not followed"],
    ["the first status of redirects", respond(300, {}, ""), "answers 300; redirects are not followed"],
    ["the last status of redirects", respond(399, {}, ""), "answers 399; redirects are not followed"],
    ["plain text", respond(404, {}, " no such path "), "answers 404: no such path"],
    ["a web page behind spaces", respond(404, {}, "\n <p>No</p>"), "answers 404"],
    ["a message in `error`", respond(404, {}, '{"message":1,"error":"gone"}'), "answers 404: gone"],
    ["a message in `detail`", respond(404, {}, '{"detail":"moved"}'), "answers 404: moved"],
    ["a long message", saying(404, "x".repeat(600)), `answers 404: ${"x".repeat(500)}`],
    ["a key at the cut", saying(400, `${"x".repeat(195)}${key}`), `answers 400: ${"x".repeat(195)}[key]`],
    ["a message with the key", saying(400, `no ${key}`), "answers 400: no [key]"],
    [
      "blame of an account",
      saying(400, "your account limit was exceeded"),
      "answers 400: your account limit was exceeded",
    ],
  ])("fail with the reason: %s", async (_, act, what) => {
    const { failure, seen } = await engineFor([act]);
    expect(await failure()).toBe(`ServiceError: URL: ${what}; is the base URL right?`);
    expect(seen).toHaveLength(1);
  });

  test.each([
    [401, '{"message":"Unauthorized."}', "rejects the key (401: Unauthorized)"],
    [403, "{}", "does not permit this key to do so (403)"],
  ])("fail with the advice to store another key: %i", async (status, body, what) => {
    const { failure, seen } = await engineFor([respond(status, {}, body)]);
    expect(await failure()).toBe(`AuthorisationError: URL: ${what}; run idv login to store another key`);
    expect(seen).toHaveLength(1);
  });

  test("fail with the reason after a retry: invalid JSON", async () => {
    const { failure, seen } = await engineFor([respond(200, {}, "<html>")]);
    expect(await failure()).toBe("ServiceError: URL: invalid answer: it is not JSON");
    expect(seen).toHaveLength(2);
  });

  test("fail with the reason after retries: connection refused", async () => {
    const { failure, slept } = await engineFor([respond()], { baseUrl: "http://127.0.0.1:1" });
    expect(await failure()).toBe("ServiceError: http://127.0.0.1:1: connection refused, 5 times");
    expect(slept).toHaveLength(4);
  });
});

describe("a refusal that blames the size", () => {
  test.each([
    ["Too many e-mails.", true],
    ["too large", true],
    ["The request is too big", true],
    ["batch limit reached", true],
    ["addresses: at most 100", true],
    ["The maximum number of entries is 10", true],
    ["the payload exceeds 1 MB", true],
    ["may not be longer than 5 elements", true],
    ["max 10 domains", true],
    ["The array is larger than allowed", true],
    ["too tired", false],
    ["items must be strings", false],
    ["the maximum was reached", false],
    ["itemsmaxed", false],
  ])('says "%s" in a 400: %s', async (message, isBlame) => {
    const { failure, seen } = await engineFor([saying(400, message)]);
    const said = message.replace(/\.$/, "");
    const end = isBlame
      ? `one item is too large for it (400: ${said})`
      : `answers 400: ${said}; is the base URL right?`;
    expect(await failure()).toBe(`ServiceError: URL: ${end}`);
    expect(seen.map(({ items }) => items.length)).toEqual(isBlame ? [2, 1] : [2]);
  });
});

describe("a 429 with a hint", () => {
  const slowFor = (hint: number) => respond(429, { "retry-after": String(hint) }, "");

  test("slows down for at most a minute, and ends the quota for more", async () => {
    const minute = await engineFor([slowFor(60), respond()]);
    expect((await minute.validate(items(1))).statuses).toEqual(["ok"]);
    expect(minute.slept).toEqual([60_250]);
    const more = await engineFor([slowFor(61), respond()]);
    expect(await more.validate(items(1))).toMatchObject({
      exhausted: true,
      quota: { left: 0, renewsAt: startTime + 61_000 },
    });
  });

  test("holds back all other requests, and is announced once", async () => {
    const clock = manualClock();
    const acts = [respond(), slowFor(5), slowFor(5), respond()];
    const { validate, seen, notices, engine } = await engineFor(acts, {}, clock);
    await validate(items(1));
    const first = [validate(items(1, 1)), validate(items(1, 2))];
    await expect.poll(() => seen.length).toBe(3);
    await expect.poll(() => engine.activity.inFlight).toBe(0);
    const third = validate(items(1, 3));
    const wait = { until: startTime + 5250, why: "the service asks to slow down" };
    await expect.poll(() => engine.activity.wait).toEqual(wait);
    expect(notices).toEqual(["URL: asks to slow down; continuing in 5 s"]);
    clock.pass(4999);
    await new Promise((resolve) => setImmediate(resolve));
    expect(engine.activity.inFlight).toBe(0);
    clock.pass(1);
    await third;
    expect(seen).toHaveLength(4);
    clock.pass(250);
    await Promise.all(first);
    expect(seen).toHaveLength(6);
    expect(engine.activity).toEqual({ inFlight: 0, wait: undefined });
  });

  test("leads to another notice after the time that the service has asked for", async () => {
    const { validate, notices } = await engineFor([slowFor(1), slowFor(2), slowFor(0), respond()]);
    await validate(items(1));
    expect(notices).toEqual(["URL: asks to slow down; continuing in 1 s", "URL: asks to slow down; continuing in 2 s"]);
  });

  test("starts a new budget when other requests have succeeded", async () => {
    // Each wait takes most of the budget.
    let [refusals, clock] = [0, startTime];
    const act: Act = (response, request) => {
      const isSlow = request.items[0] === "ann0@b.net" && ++refusals <= 4;
      (isSlow ? slowFor(9) : respond())(response, request);
    };
    const sleep = async (milliseconds: number) => {
      clock += milliseconds;
      await engine.validate("email", items(1, refusals), new AbortController().signal);
    };
    const world = { sleep, now: () => clock };
    const { validate, engine } = await engineFor([respond(), act], { retryBudget: 10_000 }, world);
    await validate(items(1, 50));
    expect((await validate(items(1))).charged).toBe(1);
    expect(refusals).toBe(5);
  });
});

describe("the activity", () => {
  test.each<[string, Act, string]>([
    ["an error", respond(503, {}, "tired"), "the service answers 503: tired"],
    ["a closed connection", resetBeforeHeaders, "the connection was closed"],
    ["an answer without results", respond(200, {}, "{}"), "the service left items out of its answer"],
  ])("explains why the engine waits after %s", async (_, act, why) => {
    const clock = manualClock();
    const { validate, engine } = await engineFor([act, respond()], {}, clock);
    const validating = validate(items(1));
    await expect.poll(() => engine.activity).toEqual({ inFlight: 0, wait: { until: startTime + 250, why } });
    clock.pass(250);
    await validating;
    expect(engine.activity.wait).toBeUndefined();
  });

  test("names the wait that ends last, and counts the requests without an answer", async () => {
    const answers: (() => void)[] = [];
    const hints: Readonly<Record<string, string>> = { "ann1@b.net": "7", "ann2@b.net": "9", "ann3@b.net": "8" };
    const act: Act = (response, request) => {
      const hint = hints[request.items[0]!];
      if (hint) respond(503, { "retry-after": hint }, `tired ${hint}`)(response, request);
      else answers.push(() => respond()(response, request));
    };
    const { validate, engine, seen } = await engineFor([respond(), act], { concurrency: 5 }, manualClock());
    await validate(items(1));
    const signal = new AbortController();
    const others = [1, 2, 3, 4, 5].map((i) => validate(items(1, i), "email", signal.signal).catch(() => {}));
    await expect.poll(() => seen.length).toBe(6);
    const wait = { until: startTime + 9000, why: "the service answers 503: tired 9" };
    await expect.poll(() => engine.activity).toEqual({ inFlight: 2, wait });
    signal.abort(new Error("stop"));
    for (const answer of answers) answer();
    await Promise.all(others);
  });
});

describe("a probe", () => {
  test("costs nothing and returns the status, the message and the units left", async () => {
    const { engine, seen } = await engineFor([respond(403, { "ratelimit-remaining": "7" }, `no ${key}`)]);
    expect(await engine.probe("domain")).toEqual({ status: 403, isJson: false, said: ": no [key]", left: 7 });
    expect(seen[0]).toMatchObject({ path: "/domains/validate", body: '{"domains":[]}' });
  });

  test("returns the service's message without addresses and key, however they are encoded", async () => {
    const odd = "sk/7+x=";
    const said = `ann@b.net, <bob+1@c.org>: no %61@d.e (${encodeURIComponent(odd)}), eve%40f.net`;
    const { engine } = await engineFor([saying(400, said)], { key: odd });
    expect((await engine.probe("email")).said).toBe(": [address], <[address]>: no [address] ([key]), [address]");
  });

  test("shows no part of a key where a long message is cut", async () => {
    const addresses = `${"a".repeat(190)}@b.net `.repeat(10);
    for (let start = 1990 - key.length; start < 2000; start++) {
      const said = `${addresses}${"x".repeat(start - addresses.length)}${key}`;
      const { engine } = await engineFor([respond(400, {}, said)]);
      expect((await engine.probe("email")).said).not.toContain(key.slice(0, 4));
    }
  });

  test("returns the first 500 characters of a long message", async () => {
    const { engine } = await engineFor([respond(400, {}, "x".repeat(60_000))]);
    expect((await engine.probe("email")).said).toBe(`: ${"x".repeat(500)}`);
  });

  test("fails without an answer", async () => {
    const { engine, url } = await engineFor([resetBeforeHeaders]);
    await expect(engine.probe("email")).rejects.toThrow(`${url}: the connection was closed`);
  });
});

test("an answer may start with a byte order mark, and requests accept no compression", async () => {
  const { validate, seen } = await engineFor([respond(200, {}, (list) => `\ufeff${resultsOf(list)}`)]);
  expect((await validate(items(1))).statuses).toEqual(["ok"]);
  expect(seen[0]?.headers["accept-encoding"]).toBe("identity");
});
