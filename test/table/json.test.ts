/** Covers JSON Lines: objects found by their bytes, as `JSON.parse` finds them, and written with added members. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseObject } from "../../src/core/table/json/json-values.js";
import { memberWords, ObjectScanner } from "../../src/core/table/json/object-scanner.js";
import { open, readValues, rewrite } from "../support/tables.js";
import { times } from "../support/tier.js";

const scanner = new ObjectScanner(false);

/** Returns the members of an object by their keys, the last one with each; undefined if it is none. */
function membersOf(line: string): Record<string, unknown> | undefined {
  // What lies around a line must not matter.
  const bytes = Buffer.from(`{"a":1}${line}}"],{"a":1}`);
  const start = 7;
  const count = scanner.scan(bytes, start, start + Buffer.byteLength(line));
  if (count === -1) return undefined;
  const text = (from: number, to: number) => JSON.parse(bytes.toString("utf8", from, to)) as unknown;
  const found = Array.from({ length: count }, (_, index) => {
    const [keyStart, keyEnd, from, to] = scanner.members.subarray(index * memberWords) as unknown as number[];
    return [text(keyStart!, keyEnd!), text(from!, to!)] as const;
  });
  return Object.fromEntries(found);
}

test("finds the members of exactly the objects that JSON.parse accepts", () => {
  const piece = fc.constantFrom(
    ...['{"a":1', '"b":"c"', ",", "}", "{", "[", "]", ":", '"', "\\", "\\u00e9", "\\u00", "\\n", "\\x", " ", "\t"],
    ...["0", "-", "1", ".", "e", "E+", "01", "true", "false", "null", "nul", "é", "\u0001", "\u00a0", '""'],
  );
  const broken = fc
    .tuple(fc.json(), fc.nat(60), piece, fc.nat(2))
    .map(([json, at, insert, cut]) => json.slice(0, at) + insert + json.slice(at + cut));
  const line = fc.oneof(
    fc.array(piece, { maxLength: 14 }).map((parts) => `{${parts.join("")}}`),
    fc.object({ maxDepth: 3 }).map((object) => JSON.stringify(object)),
    fc.object({ maxDepth: 3 }).map((object) => JSON.stringify(object, null, "\t").replaceAll("\n", " ")),
    broken,
    broken.map((text) => `{"a":${text}}`),
    fc
      .tuple(fc.constantFrom("\u0001", "\u0001\u0004", "\u0001 \u0003\u0004", "\u0002"), fc.object({ maxDepth: 1 }))
      .map(([bytes, object]) => `${bytes}${JSON.stringify(object)}`),
  );
  let accepted = 0;
  fc.assert(
    fc.property(line, (text) => {
      const expected = parseObject(text);
      const found = membersOf(text);
      expect(found === undefined).toBe(expected === undefined);
      if (expected === undefined) return;
      accepted++;
      expect(found).toEqual(Object.fromEntries(Object.entries(expected)));
    }),
    { numRuns: times(8000) },
  );
  expect(accepted).toBeGreaterThan(times(2000, 50));
});

test("lines with the control bytes that stand for the layout of documents are bad rows", async () => {
  const lines = ["\u0001 x", '\u0001\u0004{"email":"a@x.net"}', '\u0002F{"email":"b@x.net"}'];
  const table = await open(`{"email":"x@y.net"}\n${lines.join("\n")}\n`, { badRows: "skip" });
  expect(await readValues(table)).toEqual(["x@y.net"]);
});

test("finds members with deeply nested values, and thousands of members", () => {
  const deep = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
  expect(scanner.scan(Buffer.from(deep), 0, deep.length)).toBe(1);
  expect(scanner.scan(Buffer.from(deep), 0, deep.length - 2)).toBe(-1);
  const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i])));
  expect(scanner.scan(Buffer.from(wide), 0, wide.length)).toBe(5000);
});

describe("values", () => {
  test.each([
    ['{"email":"a@b.net"}', "a@b.net"],
    ['{"email":"a@b.net","email":"c@d.net"}', "c@d.net"],
    ['{"e\\u006dail":"a@b.net"}', "a@b.net"],
    ['{"email":"\\u0061@b.net"}', "a@b.net"],
    ['{"email":"ann@b\u00fccher.de"}', "ann@b\u00fccher.de"],
    ['{"email":null}', ""],
    ['{"email":12}', "12"],
    ['{"email":true}', "true"],
    ['{"email":{"a":"x@y.net"}}', ""],
    ['{"email":["a@b.net",1,{"a":2},"c@d.net"]}', "a@b.net; 1; c@d.net"],
    ["{}", ""],
    [' { "id" : 1 , "email" : "a@b.net" } ', "a@b.net"],
  ])("come from the column in %s", async (line, value) => {
    const table = await open(`{"email":"x@y.net","id":1}\n${line}\n`, { columns: ["email"] });
    expect(await readValues(table)).toEqual(["x@y.net", value]);
  });

  test.each([
    ['{"user":{"email":"a@b.net"}}', "a@b.net"],
    ['{"user":{"email":"a@b.net"},"user.email":"own@b.net"}', "own@b.net"],
    ['{"user":[{"email":"a@b.net"},{"email":"c@d.net"},{}]}', "a@b.net; c@d.net"],
    ['{"user":{"email":["a@b.net","c@d.net"]}}', "a@b.net; c@d.net"],
    ['{"user":"a@b.net"}', ""],
    ['{"user":null}', ""],
    ['{"us\\u0065r":{"email":"a@b.net"}}', "a@b.net"],
  ])("come from an inner object in %s", async (line, value) => {
    const table = await open(`{"user":{"email":"x@y.net"}}\n${line}\n`, { columns: ["user.email"] });
    expect(await readValues(table)).toEqual(["x@y.net", value]);
  });
});

const member = fc.tuple(
  fc.constantFrom("email", "id", "status", 'a "b"', "\u00e9", "a.b"),
  fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.boolean(), fc.array(fc.string(), { maxLength: 2 })),
);
const objects = fc.array(
  fc.array(member, { maxLength: 4 }).map((members) => Object.fromEntries(members)),
  { minLength: 1, maxLength: 6 },
);

test("adding a member changes no other, and an update replaces only the added one", async () => {
  await fc.assert(
    fc.asyncProperty(
      objects,
      fc.constantFrom("", " ", "\t "),
      fc.integer({ min: 1, max: 90 }),
      async (rows, space, chunkSize) => {
        const lines = rows.map((row) => `${space}${JSON.stringify({ email: "a@b.net", ...row })}${space}`);
        const text = `${lines.join("\n")}\n`;
        const added = await rewrite(await open(text, { columns: ["email"], chunkSize }), "verdict");
        for (const [i, line] of added.toString().trimEnd().split("\n").entries()) {
          expect(line.replace(',"verdict":"x"', "")).toBe(
            lines[i]!.trimEnd() + (i < lines.length - 1 ? space : space.trimEnd()),
          );
        }
        const table = await open(added, { columns: ["email"], chunkSize });
        const updated = await rewrite(table, "verdict", { replaced: table.names.indexOf("verdict") });
        expect(updated.toString()).toBe(added.toString());
      },
    ),
    { numRuns: times(300) },
  );
});

test.each([
  ['{"email":"a@b.net","status":"old","id":1}', '{"email":"a@b.net","status":"x","id":1}'],
  ['{"email":"a@b.net","status" : "old" , "id":1}', '{"email":"a@b.net","status" : "x" , "id":1}'],
  ['{"status":"old","email":"a@b.net","status":"new"}', '{"status":"old","email":"a@b.net","status":"x"}'],
  ['{"stat\\u0075s":"old","email":"a@b.net"}', '{"stat\\u0075s":"x","email":"a@b.net"}'],
  ['{"email":"a@b.net","note":"\xff"}', '{"email":"a@b.net","note":"\xff","status":"x"}'],
  ["{}", '{"status":"x"}'],
  ["{ }", '{"status":"x" }'],
  ['{ "email" : "a@b.net" }', '{ "email" : "a@b.net", "status" : "x" }'],
  ['{"email":"a@b.net", "a,\\\\\\"b": {"c": 1} }', '{"email":"a@b.net", "a,\\\\\\"b": {"c": 1}, "status": "x" }'],
])("an update of %s gives %s", async (line, expected) => {
  const input = Buffer.from(`{"email":"x@y.net","status":"ok"}\n${line}\n`, "latin1");
  const table = await open(input, { columns: ["email"] });
  const updated = await rewrite(table, "status", { replaced: 1 });
  expect(updated.toString("latin1").split("\n")[1]).toBe(expected);
});
