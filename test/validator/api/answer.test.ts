import { describe, expect, test } from "vitest";
import { readAnswer } from "../../../src/validator/api/answer.js";

const answer = (results: unknown) => JSON.stringify({ emails: results });
const ok = { status: "ok" };

describe("the statuses of the items", () => {
  test.each<[string, string[], string, string[]]>([
    [
      "in the order of the items",
      ["a@b.net", "c@d.net"],
      answer({ "c@d.net": { status: "fake" }, "a@b.net": ok }),
      ["ok", "fake"],
    ],
    ["with fields that are new", ["a@b.net"], answer({ "a@b.net": { status: "ok", score: 1 } }), ["ok"]],
    ["with a status that is new", ["a@b.net"], answer({ "a@b.net": { status: "spam" } }), ["spam"]],
    ["with keys nobody asked about", ["a@b.net"], answer({ "a@b.net": ok, "x@y.net": ok }), ["ok"]],
    ["in another case", ["Ann@B.net"], answer({ "ann@b.net": { status: "alias" } }), ["alias"]],
    [
      "twice, in two cases",
      ["Ann@B.net"],
      answer({ "ann@b.net": { status: "fake" }, "Ann@B.net": ok }),
      ["ok"],
    ],
    ["in another normal form", ["rene\u0301@b.net"], answer({ "ren\u00e9@b.net": ok }), ["ok"]],
    ["with white space", [" a@b.net"], answer({ "a@b.net": ok }), ["ok"]],
    [
      "of names that objects have anyway",
      ["__proto__", "constructor", "toString"],
      '{"emails":{"__proto__":{"status":"ok"},"constructor":{"status":"fake"},"toString":{"status":"alias"}}}',
      ["ok", "fake", "alias"],
    ],
    ["of none", [], answer({}), []],
  ])("%s", (_, items, body, expected) => {
    expect(readAnswer("email", items, body)).toEqual({ statuses: expected });
  });
});

describe("nonsense", () => {
  const items = ["a@b.net", "constructor"];
  const second = (result: unknown) => answer({ "a@b.net": ok, constructor: result });
  test.each<[string | undefined, string]>([
    [undefined, "it is far too long"],
    ["<html>", "it is not JSON"],
    ["", "it is not JSON"],
    ["null", 'it has no map "emails"'],
    ["[]", 'it has no map "emails"'],
    ['{"domains":{}}', 'it has no map "emails"'],
    ['{"emails":[]}', 'it has no map "emails"'],
    [answer({ "a@b.net": ok }), "no result for item 2 of 2"],
    [second(null), "no string for the status of item 2 of 2"],
    [second({}), "no string for the status of item 2 of 2"],
    [second({ status: 1 }), "no string for the status of item 2 of 2"],
    [second({ status: "" }), "no string for the status of item 2 of 2"],
    [second({ status: "x".repeat(65) }), "a status of 65 characters for item 2 of 2"],
  ])("%j", (body, message) => {
    const { statuses, fault } = readAnswer("email", items, body);
    expect(fault).toBe(message);
    // What it does say counts.
    expect(statuses).toEqual([body?.includes("a@b.net") ? "ok" : undefined, undefined]);
  });
});
