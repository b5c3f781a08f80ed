/** Covers how items are extracted and recognised in fields, and how the added columns are named. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { extractItem, signOfWrapping, wrappings } from "../../src/core/run/items/item.js";
import { profiles } from "../../src/core/run/items/profiles.js";
import { nameColumns } from "../../src/core/run/rows/columns.js";
import { times } from "../support/tier.js";

test.each([
  ["ann@example.net", "ann@example.net"],
  ["  Ann@Example.net\t", "Ann@Example.net"],
  ["\u00a0ann@example.net\u00a0", "ann@example.net"],
  ["Ann Lee <ann@example.net>", "ann@example.net"],
  ['"Lee, Ann" < ann@example.net >', "ann@example.net"],
  ["<ann@example.net>", "ann@example.net"],
  ["mailto:ann@example.net", "ann@example.net"],
  ["MAILTO:ann@example.net?subject=Hi", "ann@example.net"],
  ["<mailto:ann@example.net>", "ann@example.net"],
  ["mailto:ann%2Bnews@example.net", "ann+news@example.net"],
  ["mailto:ann%zz@example.net", "ann%zz@example.net"],
  ['"a<b"@example.net', '"a<b"@example.net'],
  ["broken>", "broken>"],
  ["", ""],
  ["   ", ""],
  ["<>", ""],
])("extracts from %j the address %j", (value, item) => expect(extractItem("email", value)).toBe(item));

test.each([
  ["example.net", "example.net"],
  [" Example.net ", "Example.net"],
  ["https://www.example.net/a?b#c", "www.example.net"],
  ["HTTP://example.net", "example.net"],
  ["//cdn.example.net/x", "cdn.example.net"],
  ["https://user:secret@example.net:8080/", "example.net"],
  ["example.net:8080", "example.net"],
  ["example.net/path", "example.net"],
  ["https://example.net?x=1", "example.net"],
  ["ann@example.net", "example.net"],
  ["Ann <ann@example.net>", "example.net"],
  ["mailto:ann@example.net", "example.net"],
  ["sales/eu@example.net", "example.net"],
  ["medium.com/@ann", "medium.com"],
  ["https://medium.com/@ann.lee", "medium.com"],
  ["https://[2001:db8::1]:80/", "[2001:db8::1]"],
  ["", ""],
  [" ", ""],
])("extracts from %j the domain %j", (value, item) => expect(extractItem("domain", value)).toBe(item));

describe("the likeness of a field to an item", () => {
  test.each([
    ["email", "ann@example.net", 2],
    ["email", "Ann <ann@example.net>", 2],
    ["email", "ann@broken", 2],
    ["email", "email", 0],
    ["email", "1,ann@example.net", 0],
    ["email", "@ann", 0],
    ["domain", "example.net", 2],
    ["domain", "https://example.net/x", 2],
    ["domain", "bücher.de", 2],
    ["domain", "ann@example.net", 1],
    ["domain", "example", 0],
    ["domain", "1.250", 0],
    ["domain", "10.0.0.1", 0],
    ["domain", "St. Louis", 0],
    ["domain", "a_b.c", 0],
  ] as const)("for kind %s, of %j, is %i", (kind, field, likeness) => {
    expect(profiles[kind].likeness(field)).toBe(likeness);
  });
});

describe("added columns", () => {
  test.each([
    [["email"], "status", false, ["status"]],
    [undefined, "status", false, ["status"]],
    [["email", "status"], "status", false, ["idv_status"]],
    [["email", "status", "idv_status"], "status", false, ["idv_status_2"]],
    [["email", "status", "idv_status", "idv_status_2"], "status", false, ["idv_status_3"]],
    [["email"], "verdict", true, ["verdict", "reason", "suggestion"]],
    [["email", "reason"], "status", true, ["status", "idv_reason", "suggestion"]],
    [["email"], "reason", true, ["reason", "idv_reason", "suggestion"]],
  ])("beside %j, named %s, with reasons %s, are %j", (header, name, withReasons, names) => {
    const columns = nameColumns(header, name, { withReasons });
    expect(columns.names).toEqual(names);
    expect(columns.renamed.map((renamed) => renamed.name)).toEqual(names.filter((n) => n.startsWith("idv_")));
  });
});

test("a text that a wrapping fits has its sign", () => {
  const part = fc.constantFrom(
    ...["ann@b.net", "1.", "23)", "-", "*", "•", "–", "—", ":", ";", "'", '"', "=", "#", "mailto:", "(", ")", "[", "]"],
    ...["{", "}"],
    ...[" ", "\t", "\u00a0", "Ann", "x"],
  );
  let fitting = 0;
  fc.assert(
    fc.property(fc.array(part, { maxLength: 7 }), (parts) => {
      const text = parts.join("").trim();
      if (!wrappings.some((wrapping) => wrapping.test(text))) return;
      fitting++;
      expect(signOfWrapping.test(text), text).toBe(true);
    }),
    { numRuns: times(20_000) },
  );
  expect(fitting).toBeGreaterThan(20);
});
