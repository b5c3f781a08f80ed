/** Covers what follows a try of a request: its result, a wait, or an error. */
import { expect, test } from "vitest";
import { TransportFault } from "../../../src/engines/api/http.js";
import {
  delayAfter,
  nextStep,
  type RetryState,
  type Step,
  seconds,
  type Try,
  untried,
} from "../../../src/engines/api/next-step.js";

const limits = { baseUrl: "https://a.net", key: "kk-1", maximumRetries: 4, retryBudget: 120_000 };
const start = Date.UTC(2026, 0, 1);

/** Returns a try that took 50 ms. */
const tryOf = (received: Try["received"], changes: Partial<Try> = {}): Try => ({
  kind: "email",
  items: ["a@b.net", "c@d.net"],
  started: start,
  now: start + 50,
  received,
  hasSucceededElsewhere: false,
  chance: 0.5,
  ...changes,
});

const answer = (status: number, fields: Record<string, string> = {}, body = "") => ({ status, fields, body });

/** Describes a step in a line. */
function lineOf(step: Step): string {
  if (step.next === "fail") return `${step.error.name}: ${step.error.message.replace(limits.baseUrl, "URL")}`;
  if (step.next === "wait") {
    const { failures, slowdowns } = step.state;
    const held = step.holdBack === undefined ? "" : `, holding back ${step.holdBack}`;
    return `wait ${step.milliseconds}: ${step.why}${held}; ${failures.count} failed, ${slowdowns.count} slow`;
  }
  if (step.reply === "too large") return "too large";
  return step.reply.isGone
    ? `gone, renews in ${step.reply.renewsIn}`
    : `statuses ${step.reply.statuses}, left ${step.reply.left}`;
}

const fine = '{"emails":{"a@b.net":{"status":"ok"},"c@d.net":{"status":"fake"}}}';
const gone = { "ratelimit-remaining": "0", "ratelimit-reset": "20" };
const after = (seconds: number | string) => ({ "retry-after": String(seconds) });
const isQuota = '{"code":"quota_exhausted"}';
const slow = "wait 250: the service asks to slow down; 0 failed, 1 slow";
const heldBack = "wait 5250: the service asks to slow down, holding back 5000; 0 failed, 1 slow";
const goneForGood = "gone, renews in undefined";
const nested = (message: string) => JSON.stringify({ error: { message } });

test.each<[string, Try["received"], string]>([
  ["an answer", answer(200, { "ratelimit-remaining": "7" }, fine), "statuses ok,fake, left 7"],
  ["no answer", new TransportFault("timed out", true), "wait 250: timed out; 1 failed, 0 slow"],
  ["a fault for good", new TransportFault("bad certificate", false), "ServiceError: URL: bad certificate"],
  ["503", answer(503), "wait 250: the service answers 503; 1 failed, 0 slow"],
  ["503 with Retry-After", answer(503, after(7)), "wait 7000: the service answers 503; 1 failed, 0 slow"],
  ["503 without units", answer(503, gone), "wait 20000: the service answers 503; 1 failed, 0 slow"],
  [
    "503 with a wait beyond the budget",
    answer(503, after(3600)),
    "ServiceError: URL: answers 503; it asks to wait for 60 min",
  ],
  ["429 with Retry-After", answer(429, after(5)), heldBack],
  [
    "429 with a reset",
    answer(429, gone),
    "wait 20250: the service asks to slow down, holding back 20000; 0 failed, 1 slow",
  ],
  ["429 of more than a minute", answer(429, after(61)), "gone, renews in 61000"],
  ["429 without a hint", answer(429), slow],
  ["429 with the message of a quota", answer(429, {}, '{"message":"No validations are left."}'), goneForGood],
  ["429 with the code of a quota", answer(429, {}, isQuota), goneForGood],
  ["429 with a short hint and the code of a quota", answer(429, after(5), isQuota), heldBack],
  ...["soon", "-5", "0x10", ""].map((hint): [string, Try["received"], string] => [
    `429 with Retry-After: ${hint}`,
    answer(429, after(hint)),
    slow,
  ]),
  [
    "429 with the code of a rate",
    answer(429, {}, '{"message":"slow down","code":"rate_limited"}'),
    "wait 250: the service asks to slow down (429: slow down); 0 failed, 1 slow",
  ],
  [
    "429 with a nested code of a rate, and a long hint",
    answer(429, after(7200), '{"error":{"type":"rate_limit_error","message":"Slow."}}'),
    "ServiceError: URL: asks to slow down; it asks to wait for 120 min",
  ],
  ["429 as a page of a gateway", answer(429, {}, "<html><title>429 Too Many Requests</title></html>"), slow],
  [
    "429 as a page of a gateway with a long hint",
    answer(429, after(3600), " <html>"),
    "ServiceError: URL: asks to slow down; it asks to wait for 60 min",
  ],
  ["400 with a nested message about the size", answer(400, {}, nested("maximum 50 items per request")), "too large"],
  [
    "402 with a nested message",
    answer(402, {}, nested("top up your credits")),
    "ServiceError: URL: answers 402: top up your credits; is the base URL right?",
  ],
  [
    "422 with a list of messages",
    answer(422, {}, '{"detail":[{"loc":["body"],"msg":"field required"},{"msg":"not a list"}]}'),
    "ServiceError: URL: answers 422: field required; not a list; is the base URL right?",
  ],
  ["413", answer(413), "too large"],
  ["400 that blames the size", answer(400, {}, '{"message":"too many items"}'), "too large"],
  ["400", answer(400), "ServiceError: URL: answers 400; is the base URL right?"],
  ["301", answer(301), "ServiceError: URL: answers 301; redirects are not followed; is the base URL right?"],
  [
    "401 that repeats the key",
    answer(401, {}, "no kk-1 here"),
    "AuthorisationError: URL: rejects the key (401: no [key] here); run idv login to store another key",
  ],
])("chooses the next step after %s", (_, received, expected) => {
  expect(lineOf(nextStep(limits, untried, tryOf(received)))).toBe(expected);
});

test.each(["idv login", "IDV_API_KEY", "key.txt"])("a refused key from %s is changed there", (keySource) => {
  const step = nextStep({ ...limits, keySource }, untried, tryOf(answer(403, {}, "Forbidden.")));
  const advice = keySource === "idv login" ? "run idv login to store another key" : `replace the key in ${keySource}`;
  expect(lineOf(step)).toBe(`AuthorisationError: URL: does not permit this key to do so (403: Forbidden); ${advice}`);
});

test("a single item that is too large is an error", () => {
  const step = nextStep(limits, untried, tryOf(answer(413), { items: ["a@b.net"] }));
  expect(lineOf(step)).toBe("ServiceError: URL: one item is too large for it (413)");
});

const failed = (count: number, since = start): RetryState => ({ ...untried, failures: { count, since } });
const slowed: RetryState = { ...untried, slowdowns: { count: 4, since: start } };
const elsewhere = { hasSucceededElsewhere: true };
const retried = "wait 500: the service answers 500";
const tooSlow = "ServiceError: URL: asks to slow down";
const slowAgain = "wait 1250: the service asks to slow down, holding back 1000";

test.each<[string, RetryState, Try["received"], string, Partial<Try>?]>([
  ["the fifth failure", failed(4), answer(500), "ServiceError: URL: answers 500, 5 times"],
  ["a wait to the end of the budget", failed(1, start - 119_450), answer(500), `${retried}; 2 failed, 0 slow`],
  ["a wait of a millisecond more", failed(1, start - 119_451), answer(500), "ServiceError: URL: answers 500, 2 times"],
  ["the fifth slow-down", slowed, answer(429, after(1)), `${tooSlow}, 5 times; it asks to wait for 1 s`],
  ["the fifth one while others succeed", slowed, answer(429, after(1)), `${slowAgain}; 0 failed, 1 slow`, elsewhere],
  ["a slow-down after failures", failed(4), answer(429, after(1)), `${slowAgain}; 4 failed, 1 slow`],
])("applies the retry limits to %s", (_, state, received, expected, changes) => {
  expect(lineOf(nextStep(limits, state, tryOf(received, changes)))).toBe(expected);
});

test.each([
  [1, 500],
  [2, 1000],
  [6, 16_000],
  [7, 30_000],
  [100, 30_000],
])("the delay after %i failures is at most %i ms", (failures, most) => {
  expect([delayAfter(failures, 0), delayAfter(failures, 1)]).toEqual([0, most]);
});

test.each([
  [0, "1 s"],
  [1499, "1 s"],
  [1500, "2 s"],
  [119_499, "119 s"],
  [119_500, "2 min"],
  [3_600_000, "60 min"],
])("%i ms are written as %s", (milliseconds, expected) => expect(seconds(milliseconds)).toBe(expected));
