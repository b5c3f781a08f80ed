/** Covers the api engine over real HTTP: retries, quotas, batch sizes and pacing. */
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { type ApiEngine, type ApiOptions, apiValidator } from "../../../src/validator/api/engine.js";
import { openHttpClient } from "../../../src/validator/api/http.js";
import {
  type Act,
  resetBeforeHeaders,
  resetMidBody,
  respond,
  resultsOf,
  scriptedServer,
} from "../../support/scripted-server.js";

const key = "sk_7Xq4mZ";
const items = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `ann${from + i}@b.net`);
const open: ApiEngine[] = [];
afterEach(async () => {
  for (const engine of open.splice(0)) await engine.close(0);
});

/** Creates the engine over real HTTP, with a clock that jumps instead of waiting. */
async function engineFor(acts: readonly Act[], options: Partial<ApiOptions> = {}, timeout = 5000) {
  const server = await scriptedServer(...acts);
  const slept: number[] = [];
  const notices: string[] = [];
  const requests: string[] = [];
  let skipped = 0;
  const engine = apiValidator(
    {
      baseUrl: server.url,
      key,
      batchSize: 100,
      concurrency: 4,
      maximumRetries: 4,
      retryBudget: 120_000,
      timeout,
      wait: 0,
      prechecks: true,
      idempotencyKey: (path, body) => `${path} ${body.length}`,
      ...options,
    },
    {
      http: openHttpClient({
        connections: 4,
        timeout,
        proxies: { httpProxy: "", httpsProxy: "", noProxy: "" },
      }),
      now: () => Date.now() + skipped,
      sleep: async (milliseconds, signal) => {
        signal.throwIfAborted();
        slept.push(milliseconds);
        skipped += milliseconds;
      },
      random: () => 0.5,
      onNotice: (text) => notices.push(text.replace(server.url, "URL")),
      onRequest: (text) => requests.push(text.replace(/in \d+ ms/, "in N ms")),
    },
  );
  open.push(engine);
  const kept: string[] = [];
  const validate = async (batch: readonly string[]) => {
    const signal = new AbortController().signal;
    const outcome = await engine.validate("email", batch, signal, {
      async onSubmit() {},
      async onAnswered(indices, verdicts) {
        for (const [i, index] of indices.entries()) kept.push(`${batch[index]} ${verdicts[i]!.status}`);
      },
    });
    return { ...outcome, statuses: outcome.verdicts.map(({ status }) => status) };
  };
  /** Returns the error with which the engine gives up. */
  const failure = async (batch: readonly string[] = items(2)) => {
    const error = await validate(batch).then(
      () => undefined,
      (error: Error) => error,
    );
    return `${error?.name}: ${error?.message.replace(server.url, "URL")}`;
  };
  return { ...server, engine, validate, failure, slept, notices, requests, kept };
}

test("sends requests as the interface document defines them", async () => {
  const { url, seen, validate, requests } = await engineFor([respond()]);
  const { statuses, charged, exhausted } = await validate(["ann@b.net", "__proto__"]);
  expect({ statuses, charged, exhausted }).toEqual({ statuses: ["ok", "ok"], charged: 2, exhausted: false });
  const [request] = seen;
  expect(request).toMatchObject({
    path: "/emails/validate",
    body: '{"emails":["ann@b.net","__proto__"]}',
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "idempotency-key": "/emails/validate 36",
      host: url.slice("http://".length),
    },
  });
  expect(requests).toEqual(["POST /emails/validate, 2 items, try 1: 200 in N ms"]);
});

describe("temporary faults", () => {
  const slow: Act = () => {};
  test.each<[string, Act]>([
    ["a reset before the headers", resetBeforeHeaders],
    ["a reset in the body", resetMidBody],
    ["no answer", slow],
    ["408", respond(408, {}, "{}")],
    ["409", respond(409, {}, "{}")],
    ["500", respond(500, {}, "no JSON")],
    ["502", respond(502, {}, "<html>")],
    ["503", respond(503, {}, '{"message":"tired"}')],
    ["504", respond(504, {}, "")],
    ["an answer that is not JSON", respond(200, {}, "<html>")],
    ["a status that is not a string", respond(200, {}, (list) => resultsOf(list).replaceAll('"ok"', "1"))],
    ["a body that is too large", respond(200, {}, () => " ".repeat(200_000))],
  ])("are retried: %s", async (_, act) => {
    const { seen, validate, slept, kept } = await engineFor([act, respond()], {}, 300);
    const { statuses, charged } = await validate(items(3));
    expect({ statuses, charged }).toEqual({ statuses: ["ok", "ok", "ok"], charged: 3 });
    expect(slept).toEqual([250]);
    expect(kept).toHaveLength(3);
    expect(seen).toHaveLength(2);
    // The same key: a service that charged for the first request does not charge for the second.
    expect(seen[1]!.headers["idempotency-key"]).toBe(seen[0]!.headers["idempotency-key"]);
    expect(seen[1]!.body).toBe(seen[0]!.body);
  });

  test("keep the results of a partial answer and resubmit the missing items once", async () => {
    const lacking = respond(200, {}, (list) => resultsOf(list.slice(1)));
    const { seen, validate, kept } = await engineFor([lacking, respond()]);
    expect((await validate(items(3))).charged).toBe(3);
    expect(seen.map((request) => request.items)).toEqual([items(3), items(1)]);
    expect(kept).toEqual(["ann1@b.net ok", "ann2@b.net ok", "ann0@b.net ok"]);
    const { failure, kept: keptAll } = await engineFor([lacking]);
    expect(await failure(items(3))).toBe("ServiceError: URL: invalid answer: no result for item 1 of 1");
    expect(keptAll).toEqual(["ann1@b.net ok", "ann2@b.net ok"]);
  });

  test("double each delay and fail the batch after five tries", async () => {
    const { failure, slept, seen } = await engineFor([respond(503, {}, '{"message":"tired"}')]);
    expect(await failure()).toBe("ServiceError: URL: answers 503: tired, 5 times");
    expect(slept).toEqual([250, 500, 1000, 2000]);
    expect(seen).toHaveLength(5);
  });

  test("are not waited for beyond the retry budget", async () => {
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
    [
      "Retry-After rather than RateLimit's t",
      { "retry-after": "2", ratelimit: '"validations";r=0;t=3' },
      [2000],
    ],
    ["the engine's delay if the headers are invalid", { "retry-after": "soon", ratelimit: "???" }, [250]],
  ])("are retried after %s", async (_, headers, expected) => {
    const { validate, slept } = await engineFor([respond(503, headers, ""), respond()]);
    await validate(items(1));
    expect(slept).toEqual(expected);
  });

  test("are not retried if the service asks for a wait beyond the budget", async () => {
    const { failure, slept } = await engineFor([respond(503, { "retry-after": "3600" }, "")]);
    expect(await failure()).toBe("ServiceError: URL: answers 503; it asks to wait for 60 min");
    expect(slept).toEqual([]);
  });
});

describe("permanent faults", () => {
  test.each<[string, Act, string, number]>([
    [
      "400",
      respond(400, {}, '{"message":"The field emails is missing."}'),
      "ServiceError: URL: answers 400: The field emails is missing.; is the base URL right?",
      1,
    ],
    [
      "401",
      respond(401, {}, '{"message":"Unauthorized."}'),
      "AuthorisationError: URL: does not accept the key (401: Unauthorized.); run idv login to store another key",
      1,
    ],
    [
      "403",
      respond(403, {}, "{}"),
      "AuthorisationError: URL: does not authorise the key for this (403); run idv login to store another key",
      1,
    ],
    ["404", respond(404, {}, "<html>"), "ServiceError: URL: answers 404; is the base URL right?", 1],
    ["422", respond(422, {}, "{}"), "ServiceError: URL: answers 422; is the base URL right?", 1],
    [
      "a redirect",
      respond(307, { location: "https://elsewhere.net/" }, ""),
      "ServiceError: URL: answers 307; redirects are not followed; is the base URL right?",
      1,
    ],
    [
      "invalid JSON, twice",
      respond(200, {}, "<html>"),
      "ServiceError: URL: invalid answer: it is not JSON",
      2,
    ],
    [
      "an error with the key where it is cut off",
      respond(400, {}, JSON.stringify({ message: `${"x".repeat(195)}${key}` })),
      `ServiceError: URL: answers 400: ${"x".repeat(195)}[key]; is the base URL right?`,
      1,
    ],
    [
      "a 400 that blames an account",
      respond(400, {}, '{"message":"your account limit was exceeded"}'),
      "ServiceError: URL: answers 400: your account limit was exceeded; is the base URL right?",
      1,
    ],
    [
      "an error with the key",
      respond(400, {}, JSON.stringify({ message: `no ${key}` })),
      "ServiceError: URL: answers 400: no [key]; is the base URL right?",
      1,
    ],
  ])("are reported: %s", async (_, act, message, requests) => {
    const { failure, seen } = await engineFor([act]);
    expect(await failure()).toBe(message);
    expect(seen).toHaveLength(requests);
  });

  test("are reported after retries: connection refused", async () => {
    const { failure, slept } = await engineFor([respond()], { baseUrl: "http://127.0.0.1:1" });
    expect(await failure()).toBe("ServiceError: http://127.0.0.1:1: connection refused, 5 times");
    expect(slept).toHaveLength(4);
  });
});

describe("429", () => {
  const gone = respond(429, {}, '{"message":"No validations are left."}');

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
    const { validate } = await engineFor([respond(), other], {
      timeout: 5000,
      maximumRetries: 20,
      retryBudget: 1e9,
    });
    await validate(items(1));
    const outcomes = await Promise.all([1, 2, 3, 4].map((i) => validate(items(1, i))));
    expect(outcomes.every(({ charged }) => charged === 1)).toBe(true);
  });

  test("counts anew after another batch has succeeded", async () => {
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

  test.each<[string, Act]>([
    ["without a hint", gone],
    ["with a long hint", respond(429, { "retry-after": "86399" }, "")],
    ["with a long RateLimit", respond(429, { ratelimit: '"validations";r=0;t=86399' }, "")],
  ])("%s means that the quota is exhausted", async (_, act) => {
    const { validate, seen } = await engineFor([act]);
    const { statuses, charged, exhausted } = await validate(items(2));
    expect({ statuses, charged, exhausted }).toEqual({
      statuses: ["quota_exceeded", "quota_exceeded"],
      charged: 0,
      exhausted: true,
    });
    const sent = seen.length;
    expect((await validate(items(2))).exhausted).toBe(true);
    expect(seen).toHaveLength(sent);
  });

  test("quota_exceeded in an answer keeps the charged verdicts", async () => {
    const half = respond(200, { ratelimit: '"validations";r=0;t=90' }, () =>
      JSON.stringify({
        emails: { "ann0@b.net": { status: "ok" }, "ann1@b.net": { status: "quota_exceeded" } },
      }),
    );
    const { validate, kept } = await engineFor([half]);
    const { statuses, charged, exhausted, quota } = await validate(items(2));
    expect({ statuses, charged, exhausted }).toEqual({
      statuses: ["ok", "quota_exceeded"],
      charged: 1,
      exhausted: true,
    });
    expect(quota.left).toBe(0);
    expect(kept).toEqual(["ann0@b.net ok"]);
  });

  test("with --wait is retried at the renewal, or every ten minutes", async () => {
    const { validate, slept, notices } = await engineFor(
      [respond(429, { "retry-after": "3600" }, ""), gone, respond()],
      { wait: Number.POSITIVE_INFINITY },
    );
    expect((await validate(items(2))).statuses).toEqual(["ok", "ok"]);
    expect(slept).toEqual([3_601_000, 600_000]);
    expect(notices[0]).toBe("URL: the quota is exhausted; asking again in 60 min");
  });

  test("with --wait TIME is not retried after TIME", async () => {
    const { validate, slept } = await engineFor([gone], { wait: 1_500_000 });
    expect((await validate(items(2))).exhausted).toBe(true);
    expect(slept).toEqual([600_000, 600_000]);
  });

  test("with --wait resubmits only items without a verdict", async () => {
    const half = respond(200, { "x-ratelimit-remaining": "0" }, (list) =>
      JSON.stringify({
        emails: Object.fromEntries(
          list.map((item, i) => [item, { status: i < 2 ? "ok" : "quota_exceeded" }]),
        ),
      }),
    );
    const { validate, seen } = await engineFor([half, respond()], { wait: 1_000_000 });
    expect((await validate(items(5))).charged).toBe(5);
    expect(seen.map((request) => request.items)).toEqual([items(5), items(3, 2)]);
  });

  test("quota_exceeded for all items ends the asking, even if the headers show units left", async () => {
    const never = respond(200, { ratelimit: '"validations";r=500' }, (list) =>
      JSON.stringify({
        emails: Object.fromEntries(list.map((item) => [item, { status: "quota_exceeded" }])),
      }),
    );
    const { validate, seen } = await engineFor([never]);
    expect(await validate(items(5))).toMatchObject({ charged: 0, exhausted: true });
    expect(seen.length).toBe(1);
  });

  test("quota_exceeded is resubmitted if the headers show units left", async () => {
    const stale = respond(200, { ratelimit: '"validations";r=500' }, (list) =>
      JSON.stringify({
        emails: Object.fromEntries(
          list.map((item, i) => [item, { status: i < 2 ? "ok" : "quota_exceeded" }]),
        ),
      }),
    );
    const { validate, seen } = await engineFor([stale, respond()]);
    expect((await validate(items(5))).statuses).toEqual(Array(5).fill("ok"));
    expect(seen[1]!.items).toEqual(items(3, 2));
  });
});

describe("batches that are too large", () => {
  /** Accepts up to `most` items a request and answers larger requests with `refusal`. */
  const takes =
    (most: number, refusal: Act): Act =>
    (response, request) =>
      (request.items.length > most ? refusal : respond())(response, request);
  test.each<[string, Act]>([
    ["413", respond(413, {}, "<html>")],
    ["a 400 that blames the size", respond(400, {}, '{"message":"Too many items: at most 30."}')],
  ])("are halved until they fit, and stay so, after %s", async (_, refusal) => {
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

test("--rate spreads items over time", async () => {
  const { validate, slept, engine } = await engineFor([respond()], {
    rate: { items: 10, milliseconds: 60_000 },
  });
  expect(engine.batchSize).toBe(10);
  for (const from of [0, 10, 20]) await validate(items(10, from));
  expect(slept.map((milliseconds) => Math.round(milliseconds / 1000))).toEqual([60, 60]);
});

test("--rate gives back the time of a batch that was too large", async () => {
  const rate = { items: 10, milliseconds: 100_000 };
  const { validate, slept } = await engineFor([respond(413, {}, ""), respond()], { rate });
  expect((await validate(items(4))).charged).toBe(4);
  // Two batches of two: the second waits for the two items of the first, not for the four that were refused.
  expect(slept.length).toBe(1);
  expect(slept[0]).toBeLessThanOrEqual(20_000);
});

test("a body that does not end is cut at the largest length of an answer", async () => {
  const endless: Act = (response) => {
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && response.write("x".repeat(65_536)));
    };
    response.on("drain", more);
    more();
  };
  const { failure } = await engineFor([endless], { maximumRetries: 0 });
  expect(await failure()).toContain("invalid answer: it is too long");
});

test("a proxy that wants a password is not asked again", async () => {
  let asked = 0;
  const proxy = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      asked++;
      socket.end("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n");
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => proxy.once("listening", resolve));
  const httpsProxy = `http://127.0.0.1:${(proxy.address() as { port: number }).port}`;
  const http = openHttpClient({
    ...{ connections: 1, timeout: 5000 },
    proxies: { httpProxy: "", httpsProxy, noProxy: "" },
  });
  const post = http.post({ url: "https://b.invalid/", body: "{}", fields: {}, maximumBytes: 100 });
  await expect(post).rejects.toMatchObject({ message: "the proxy answers 407", isTransient: false });
  expect(asked).toBe(1);
  await http.close();
  proxy.close();
});

test("sends no waiting batch after one has failed", async () => {
  const { validate, seen } = await engineFor([respond(422, {}, "{}")]);
  const outcomes = await Promise.allSettled([
    validate(items(2)),
    validate(items(2, 2)),
    validate(items(2, 4)),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
  expect(seen).toHaveLength(1);
});

test("close() ends all waiting", async () => {
  const server = await scriptedServer(respond(503, { "retry-after": "100" }, ""));
  const engine = apiValidator(
    {
      ...{ baseUrl: server.url, key, batchSize: 100, concurrency: 4, maximumRetries: 4, retryBudget: 1e9 },
      ...{ timeout: 5000, wait: 0, prechecks: true, idempotencyKey: () => "1" },
    },
    {
      http: openHttpClient({
        connections: 4,
        timeout: 5000,
        proxies: { httpProxy: "", httpsProxy: "", noProxy: "" },
      }),
      now: Date.now,
      sleep: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }),
      random: Math.random,
      onNotice() {},
    },
  );
  const validating = engine.validate("email", items(2), new AbortController().signal).catch(() => "ended");
  await expect.poll(() => server.seen.length).toBe(1);
  await engine.close(100);
  expect(await validating).toBe("ended");
});

test("sends the first batch alone, then as many as the quota has room for", async () => {
  let inFlight = 0;
  let most = 0;
  let left = 60;
  const slowly: Act = (response, request) => {
    most = Math.max(most, ++inFlight);
    left -= request.items.length;
    const headers = { "ratelimit-remaining": String(left) };
    setTimeout(() => {
      inFlight--;
      respond(200, headers)(response, request);
    }, 20);
  };
  const { validate } = await engineFor([slowly]);
  const first = validate(items(20));
  const second = validate(items(20, 20));
  await first;
  expect(most).toBe(1);
  await Promise.all([second, validate(items(10, 40)), validate(items(10, 50))]);
  expect(most).toBe(3);
});

test("does not submit impossible items if prechecks are on", async () => {
  const { engine } = await engineFor([respond()]);
  const checked = [
    "ann@b.net",
    "ann",
    "a b@c.net",
    "é@b.net",
    "a..b.@docomo.ne.jp",
    ".a@b.net",
    "a@b_c.net.",
  ].map((item) => engine.precheck?.("email", item)?.status);
  expect(checked).toEqual([undefined, "fake", "fake", undefined, undefined, undefined, undefined]);
  expect(engine.precheck?.("domain", "my_shop.tumblr.com")).toBeUndefined();
  expect(engine.precheck?.("domain", "a b.com")?.status).toBe("fake");
  expect((await engineFor([respond()], { prechecks: false })).engine.precheck).toBeUndefined();
});
