/** Covers how the service's answers are read. */
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { readAnswer } from "../../../src/engines/api/answer.js";
import { times } from "../../support/tier.js";

const answer = (results: unknown) => JSON.stringify({ emails: results });
const [ok, fake] = [{ status: "ok" }, { status: "fake" }];

describe("the statuses of an answer", () => {
  test.each<[string, string[], string, string[]]>([
    ["in the order of the items", ["a@b.net", "c@d.net"], answer({ "c@d.net": fake, "a@b.net": ok }), ["ok", "fake"]],
    ["beside unknown fields", ["a@b.net"], answer({ "a@b.net": { status: "ok", score: 1 } }), ["ok"]],
    ["even if they are unknown", ["a@b.net"], answer({ "a@b.net": { status: "spam" } }), ["spam"]],
    ["beside keys that were not submitted", ["a@b.net"], answer({ "a@b.net": ok, "x@y.net": ok }), ["ok"]],
    ["from keys in another case", ["Ann@B.net"], answer({ "ann@b.net": { status: "alias" } }), ["alias"]],
    ["from the exact key of two that differ in case", ["A@b.net"], answer({ "a@b.net": fake, "A@b.net": ok }), ["ok"]],
    ["from keys in another normal form", ["rene\u0301@b.net"], answer({ "ren\u00e9@b.net": ok }), ["ok"]],
    ["for items with white space", [" a@b.net"], answer({ "a@b.net": ok }), ["ok"]],
    ["from keys that differ in case only one way", ["stra\u00dfe@b.net"], answer({ "STRA\u1e9eE@b.net": ok }), ["ok"]],
    ["for two forms of an item", ["A@b.net", "a@b.net"], answer({ "a@b.net": ok }), ["ok", "ok"]],
    [
      "for names that every object has",
      ["__proto__", "constructor", "toString"],
      '{"emails":{"__proto__":{"status":"ok"},"constructor":{"status":"fake"},"toString":{"status":"alias"}}}',
      ["ok", "fake", "alias"],
    ],
    ["for no items", [], answer({}), []],
  ])("come out %s", (_, items, body, expected) => {
    expect(readAnswer("email", items, body)).toEqual({ statuses: expected });
  });
});

test("the fast path for plain answers reads the same statuses as JSON.parse", () => {
  const name = fc.stringMatching(/^[a-z0-9"\\\u00e9]{1,3}$/).map((local) => `${local}@b.net`);
  const status = fc.constantFrom("ok", "fake", "quota_exceeded", "", "o k", "ok2", "x".repeat(64), "x".repeat(65));
  const bodies = fc.record({
    entries: fc.uniqueArray(fc.tuple(name, status), { selector: ([item]) => item, minLength: 1, maxLength: 6 }),
    /** What to do to a plain answer: nothing, other orders and spaces, or a change of one character. */
    order: fc.constantFrom(0, 0, 0, 1),
    indent: fc.constantFrom(0, 0, 0, 1),
    at: fc.nat(),
    change: fc.constantFrom(undefined, undefined, "", '"', "}", ":", ",", "x", "ok"),
  });
  const readByJson = (items: readonly string[], body: string) => {
    let results: [string, { status?: unknown }][];
    try {
      results = Object.entries(JSON.parse(body).emails ?? {});
    } catch {
      return items.map(() => undefined);
    }
    const found = (item: string) =>
      results.findLast(([key]) => key === item) ?? results.findLast(([key]) => key.trim() === item);
    return items.map((item) => {
      const status = found(item)?.[1]?.status;
      return typeof status === "string" && status.length >= 1 && status.length <= 64 ? status : undefined;
    });
  };
  fc.assert(
    fc.property(bodies, ({ entries, order, indent, at, change }) => {
      const listed = order === 0 ? entries : entries.toReversed();
      const map = Object.fromEntries(listed.map(([item, status]) => [item, { status }]));
      const text = JSON.stringify({ emails: map }, null, indent);
      const place = at % text.length;
      const body = change === undefined ? text : text.slice(0, place) + change + text.slice(place + 1);
      const items = entries.map(([item]) => item);
      expect(readAnswer("email", items, body).statuses).toEqual(readByJson(items, body));
    }),
    { numRuns: times(2000) },
  );
});

describe("a plain answer is read without JSON.parse", () => {
  test.each<["email" | "domain", string, Readonly<Record<string, string>>]>([
    ["email", "emails", { "a@b.net": "ok" }],
    ["domain", "domains", { "b.net": "fake" }],
    ["email", "emails", {}],
    [
      "email",
      "emails",
      { "a@b.net": "ok", "b@b.net": "ok", "c@d.e": "fake", "d@d.e": "fake", "e@f": "okay", "g@h": "ok" },
    ],
    ["email", "emails", { "a@b.net": "x".repeat(64), "b@b.net": "quota_exceeded", "c@b.net": "_" }],
  ])("for kind %s, in the field %s: %j", (kind, field, statuses) => {
    const results = Object.entries(statuses).map(([item, status]) => [item, { status }]);
    const body = JSON.stringify({ [field]: Object.fromEntries(results) });
    const parse = vi.spyOn(JSON, "parse");
    const result = readAnswer(kind, Object.keys(statuses), body);
    const calls = parse.mock.calls.length;
    parse.mockRestore();
    expect(result).toEqual({ statuses: Object.values(statuses) });
    expect(calls).toBe(0);
  });
});

test("an item with quotes is not read as several items", () => {
  const item = 'a":{"status":"ok"},"b';
  expect(readAnswer("email", [item], answer({ a: ok, b: ok }))).toEqual({
    statuses: [undefined],
    fault: "no result for item 1 of 1",
  });
});

test("text after the map is reported, even if the map is plain", () => {
  const body = `${answer({ "a@b.net": ok })} and more`;
  expect(readAnswer("email", ["a@b.net"], body)).toEqual({ statuses: [undefined], fault: "it is not JSON" });
});

describe("invalid answers", () => {
  const items = ["a@b.net", "constructor"];
  const second = (result: unknown) => answer({ "a@b.net": ok, constructor: result });
  test.each<[string | undefined, string]>([
    [undefined, "it is too long"],
    ["<html>", "it is not JSON"],
    ["", "it is not JSON"],
    ["null", 'it has no map "emails"'],
    ["[]", 'it has no map "emails"'],
    ['{"domains":{}}', 'it has no map "emails"'],
    ['{"emails":[]}', 'it has no map "emails"'],
    [answer({ "a@b.net": ok }), "no result for item 2 of 2"],
    [answer({ "a@b.net": ok, "a@b.net ": "x" }), "no result for item 2 of 2"],
    [second(null), "no string as the status of item 2 of 2"],
    [second({}), "no string as the status of item 2 of 2"],
    [second({ status: 1 }), "no string as the status of item 2 of 2"],
    [second({ status: "" }), "no string as the status of item 2 of 2"],
    [second({ status: "x".repeat(65) }), "a status of 65 characters for item 2 of 2"],
  ])("lead to an error: $0, $1", (body, message) => {
    const { statuses, fault } = readAnswer("email", items, body);
    expect(fault).toBe(message);
    // Valid results still count.
    expect(statuses).toEqual([body?.includes("a@b.net") ? "ok" : undefined, undefined]);
  });
});
