/** Covers JSON documents as lines with marks, and back. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { profiles } from "../../src/core/run/items/profiles.js";
import { checkSyntax, Grammar } from "../../src/core/table/json/grammar.js";
import { hide, locationOf } from "../../src/core/table/json/marks.js";
import { sampleObjects } from "../../src/core/table/open/open-json-lines.js";
import { ArrayOfLines, CompactLines, ReturnedDocument } from "../../src/formats/json/document-output.js";
import { DocumentRecords } from "../../src/formats/json/document-records.js";
import type { DocumentShape } from "../../src/formats/json/document-shape.js";
import { isDocument } from "../../src/formats/json/is-document.js";
import { chooseLists } from "../../src/formats/json/lists.js";
import { times } from "../support/tier.js";

const sequence: DocumentShape = { isSequence: true, lists: [] };
const listAt = (...names: (string | null)[]): DocumentShape => ({
  isSequence: false,
  lists: [{ names, isMap: false }],
});
const mapAt = (...names: string[]): DocumentShape => ({ isSequence: false, lists: [{ names, isMap: true }] });
const root = listAt();

function linesOf(document: string | Uint8Array, shape: DocumentShape, size = Number.POSITIVE_INFINITY): Buffer {
  const bytes = Buffer.from(document);
  const records = new DocumentRecords("d.json", shape);
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    parts.push(Buffer.from(records.read(bytes.subarray(at, at + size))));
  }
  return Buffer.concat([...parts, records.end()]);
}

function returned(lines: Uint8Array, size = Number.POSITIVE_INFINITY, text = new ReturnedDocument()): string {
  const parts: Buffer[] = [];
  for (let at = 0; at < lines.length; at += size) {
    parts.push(Buffer.from(text.convert(lines.subarray(at, at + size))));
  }
  return Buffer.concat(parts).toString();
}

/** Splits lines, with their ends. */
const split = (lines: Buffer): Buffer[] =>
  lines
    .toString("latin1")
    .split(/(?<=\n)/)
    .map((line) => Buffer.from(line, "latin1"));

const isRecord = (line: Uint8Array): boolean => line[0] === hide;
const recordsIn = (lines: Buffer): Buffer[] => split(lines).filter(isRecord);
const valueIn = (line: Buffer): unknown => {
  const value = line.subarray(locationOf(line, 0).value).toString();
  return JSON.parse(value.replace(/[\x0e\x0f]/g, " "));
};
const valuesIn = (lines: readonly Buffer[]) => lines.filter(isRecord).map(valueIn);
const isObject = (each: unknown) => typeof each === "object" && each !== null && !Array.isArray(each);

describe("the records of a document", () => {
  test.each<[string, DocumentShape, unknown[]]>([
    ['[{"a":1},{"a":2}]', root, [{ a: 1 }, { a: 2 }]],
    ['\n [ {"a":[{}]} , null,"x", -1e2 ,[{"a":1}], {"a":"]}\\""}\r\n]\n', root, [{ a: [{}] }, { a: ']}"' }]],
    ["[]", root, []],
    [" [ \n] ", root, []],
    ['{"n":[{"a":0}],"users":[{"a":1}],"m":{"users":[{"a":2}]}}', listAt("users"), [{ a: 1 }]],
    ['{"m":{"users":[{"a":2}]},"users":{}}', listAt("m", "users"), [{ a: 2 }]],
    ['{"u\\u0073ers":[{"a":1}],"users":[{"a":2}]}', listAt("users"), [{ a: 1 }, { a: 2 }]],
    ['[{"x":1},{"d":[{"a":1}]},{"d":[{"a":2}, 7]}]', listAt(null, "d"), [{ a: 1 }, { a: 2 }]],
    ['{"users":{"1":{"a":1},"users":{"a":2},"x":3}}', mapAt("users"), [{ a: 1 }, { a: 2 }]],
    ['{"x":{"a":1},"y":{"a":2}}', mapAt(), [{ a: 1 }, { a: 2 }]],
    ['{"a":1}\n{\n"a":2}{"a":3} 7', sequence, [{ a: 1 }, { a: 2 }, { a: 3 }]],
    ['\x1e{"a":1}\n\x1e{"a":2}\n', sequence, [{ a: 1 }, { a: 2 }]],
    ['["a","b\\n\\"",{"a":"c"}]', { ...root, textName: "a" }, [{ a: "a" }, { a: 'b\n"' }]],
  ])("come out of %j", (document, shape, expected) => {
    const whole = linesOf(document, shape);
    expect(recordsIn(whole).map(valueIn)).toEqual(expected);
    if (shape.textName === undefined) expect(returned(whole)).toBe(document);
    for (const size of [1, 2, 3, 7]) {
      const lines = linesOf(document, shape, size);
      expect(recordsIn(lines)).toEqual(recordsIn(whole));
      expect(returned(lines, size)).toBe(returned(whole));
    }
  });

  test("know their line and column", () => {
    const lines = linesOf('[{"a":\r\n1},\r {"a":2},\n\n\t{"a":\n{}}, {}]', root);
    const locations = recordsIn(lines).map((line) => locationOf(line, 0));
    expect(locations.map(({ line, column }) => `${line}:${column}`)).toEqual(["1:2", "3:2", "5:2", "6:6"]);
  });

  test.each([
    [["{}"], "[\n  \n]"],
    [["{}", '{"b":1}'], '[\n  {"b":1}\n]'],
    [['{"c":1}'], '[\n  {"c":1}\n]'],
  ])("can be taken out, with a comma each: %j", (_, expected) => {
    const lines = split(linesOf('[\n  {},\n  {"b":1},\n  {"c":1}\n]', root));
    const kept = lines.filter((line) => !isRecord(line) || expected.includes(JSON.stringify(valueIn(line))));
    expect(returned(Buffer.concat(kept))).toBe(expected);
  });
});

const layout = fc.constantFrom("", "", " ", "\n", "\r\n", "\t", "\r", "\n    ");
const text = fc.oneof(fc.string(), fc.string({ unit: "grapheme" }), fc.constantFrom("email", "users", "a,b]}", '\\"'));
const scalar = fc.oneof(
  text.map((value) => JSON.stringify(value)),
  fc.constantFrom("null", "true", "-0.10", "12345678901234567890.10", "1E+2", '"\\u0041"'),
);

/** Writes a value of JSON with random white space. */
const { value } = fc.letrec<{ value: string; object: string; list: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, scalar, tie("object"), tie("list")),
  object: fc
    .array(fc.tuple(text, tie("value"), layout, layout), { maxLength: 4 })
    .chain((members) =>
      layout.map(
        (end) =>
          `{${members.map(([name, each, a, b]) => `${a}${JSON.stringify(name)}${b}:${a}${each}${b}`).join(",")}${end}}`,
      ),
    ),
  list: fc
    .array(fc.tuple(tie("value"), layout, layout), { maxLength: 4 })
    .chain((values) => layout.map((end) => `[${values.map(([each, a, b]) => a + each + b).join(",")}${end}]`)),
}));
const elements = fc.array(fc.tuple(value, layout, layout), { maxLength: 6 });

describe("a document of random values", () => {
  test("comes back as it was, wherever it is cut", () => {
    fc.assert(
      fc.property(elements, layout, fc.integer({ min: 1, max: 40 }), (values, end, size) => {
        const list = `[${values.map(([each, a, b]) => a + each + b).join(",")}${end}]`;
        for (const [document, shape] of [
          [list, root],
          [`{"n":${list}${end},"users":${end}${list}}`, listAt("users")],
          [values.map(([each, a]) => each + (a || " ")).join(""), sequence],
        ] as const) {
          const lines = linesOf(document, shape, size);
          expect(returned(lines, size)).toBe(document);
          const objects = shape.isSequence ? values.map(([each]) => JSON.parse(each)) : JSON.parse(list);
          expect(recordsIn(lines).map(valueIn)).toEqual(objects.filter(isObject));
        }
      }),
      { numRuns: times(500) },
    );
  });

  test("stays valid whatever is taken out of it", () => {
    fc.assert(
      fc.property(elements, layout, fc.infiniteStream(fc.boolean()), (values, end, isKept) => {
        const document = `{"n":1,"users":[${values.map(([each, a, b]) => a + each + b).join(",")}${end}]}`;
        const kept = split(linesOf(document, listAt("users"))).map((line) => !isRecord(line) || isKept.next().value);
        const lines = split(linesOf(document, listAt("users"))).filter((_, nth) => kept[nth]);
        const { n, users } = JSON.parse(returned(Buffer.concat(lines)));
        expect(n).toBe(1);
        expect(users.filter(isObject)).toEqual(valuesIn(lines));
        const compacted = Buffer.from(new CompactLines().convert(Buffer.concat(lines)));
        const compact = compacted.toString().split("\n").slice(0, -1);
        expect(compact.map((each) => JSON.parse(each))).toEqual(valuesIn(lines));
        const array = new ArrayOfLines();
        const written = Buffer.concat([array.convert(compacted), array.end()]);
        expect(JSON.parse(written.toString())).toEqual(valuesIn(lines));
      }),
      { numRuns: times(300) },
    );
  });

  test("passes the grammar exactly if JSON.parse accepts it", () => {
    const inserted = fc.constantFrom(...'{}[],:"\\ \n0-.eEtu\x01/');
    fc.assert(
      fc.property(value, fc.nat(), inserted, fc.nat(2), (source, place, character, edit) => {
        const at = place % (source.length + 1);
        const edited = source.slice(0, at) + (edit === 0 ? "" : character) + source.slice(edit === 2 ? at : at + 1);
        let isValid = true;
        try {
          JSON.parse(edited);
        } catch {
          isValid = false;
        }
        const grammar = new Grammar("d.json");
        const check = () => {
          for (const byte of Buffer.from(edited)) grammar.take(byte);
          grammar.end();
        };
        if (isValid) check();
        else expect(check).toThrow(/^d\.json:\d+:\d+: /);
      }),
      { numRuns: times(3000) },
    );
  });
});

test.each([
  ['[{"a":1},]', root, '1:10: not JSON: "]" is where a value belongs'],
  ['[{"a":1} {"a":2}]', root, '1:10: not JSON: "{" is where a comma or a closing bracket belongs'],
  ['[\n{"a":1}\n', root, "3:1: the document ends here, but a comma or a closing bracket is missing"],
  ['[{"a":1', root, "1:8: the document ends here, inside this record"],
  ['[{"a":[1}]', root, '1:9: not JSON: "}" does not match the open bracket'],
  ['[{"a":"\n"}]', root, "1:8: not JSON: a line break is in a string; write it as an escape"],
  ['[\r\n {"a":\x01}]', root, "2:7: not JSON: a control character is between values"],
  ["[]\n[]", root, '2:1: not JSON: "[" is where the end of the document belongs'],
  ["[tru]", root, '1:2: not JSON: "tru" is where a value belongs'],
  ["[01]", root, '1:2: not JSON: "01" is where a value belongs'],
  ['{"a" 1}', listAt("b"), '1:6: not JSON: "1" is where a colon belongs'],
  ["{1:2}", listAt("b"), '1:2: not JSON: "1" is where a name in double quotes or a } belongs'],
  ["[".repeat(100_001), root, "1:100001: over 100,000 brackets are open here"],
  ['{"a":"\\x"}', listAt("b"), '1:8: not JSON: "x" is where an escape such as \\n belongs'],
  ['{"a":"\\u00g0"}', listAt("b"), '1:11: not JSON: "g" is where a hexadecimal digit belongs'],
  [
    `[${" ".repeat(70_000)}{},${" ".repeat(70_000)}{}]`,
    root,
    "1:135541: two records have over 64 KiB of white space or a name between them",
  ],
])("%.40s is refused", (document, shape, message) => {
  for (const size of [1, 5, Number.POSITIVE_INFINITY]) {
    expect(() => linesOf(document, shape, size)).toThrow(`d.json:${message}`);
  }
});

test.each([
  ["[192.0.2.1]\n[192.0.2.2]\n", "l", false],
  ["[Ann] a@x.net\n", "l", false],
  ["[1] first\n", "l", false],
  ['{"a","b"}\n', "l", false],
  ['{"a": 1}\n{"a": 2}\n', "d.json", false],
  ['{"a": 1}\n', "standard input", false],
  ["[1] ann@x.net\n", "l", false],
  ["[10.0.0.1],ann@x.net\n", "l", false],
  ['["a","b"]\tann@x.net\n', "l", false],
  ['{"id":1}\tann@x.net\n', "l", false],
  ['["a","b"]\n', "d.csv", false],
  ['{"a": broken\n{"a": 2}\n', "d.jsonl", false],
  ['{"a": 1}\n{\n"a": 2}\n', "standard input", true],
  ["{'a': 1}", "d.json", true],
  ["{a: 1}", "d.json", true],
  ["[null]\n", "l", true],
])("%j in %s is a document: %s", (text, name, isOne) => {
  const objects = sampleObjects(text, true, undefined).length;
  expect(isDocument(name, text, objects, { profile: profiles.email })).toBe(isOne);
});

test("99,000 nested brackets are read", () => {
  const count = times(99_000, 20_000);
  const deep = "[".repeat(count) + "]".repeat(count);
  checkSyntax("d.json", Buffer.from(deep));
  const document = `{"x":${deep},"users":[{"a":${deep}}]}`;
  expect(returned(linesOf(document, listAt("users")))).toBe(document);
  expect(chooseLists("d.json", Buffer.from(document), true, { profile: profiles.email })?.prefix).toBe("");
});

describe("the lists of a document", () => {
  const wanted = { profile: profiles.email };
  const user = (name = "email") => `{"${name}":"ann@example.org","id":1}`;
  const dump = `[{"type":"header"},{"type":"db"},{"type":"table","data":[${user()},${user()}]}]`;
  test.each<[string, string[] | undefined, string]>([
    [`[${user()}]`, undefined, "list "],
    [`[${user()}, ${user()}`, undefined, "list "],
    [`{"users":[${user()}]}`, undefined, "list users."],
    [`{"n":{"users":[${user()}]},"tags":["x"]}`, undefined, "list n.users."],
    [`{"a":${user()},"b":${user()}}`, undefined, "map *."],
    [`{"a":{"a":${user()},"b":${user()}},"c":[]}`, undefined, "map a.*."],
    [`{"_embedded":{"users":[${user()},${user()}]},"_links":{"self":{}}}`, undefined, "list _embedded.users."],
    [`{"meta":{"page":1},"users":{"1":${user()},"2":${user()}}}`, undefined, "map users.*."],
    [`{"users":{"1":${user()},"2":${user()},"deleted":null}}`, undefined, "map users.*."],
    [`{"users":{"1":${user()}}}`, ["users.*.email"], "map users.*."],
    [`{"users":{"1":${user()},"2":${user()},"3":{"id":3},"4":{"id":4},"5":{"id":5}}}`, undefined, "map users.*."],
    [`{"1":{"email":null},"2":${user()},"3":${user()},"4":{"email":null},"5":{"email":null}}`, undefined, "map *."],
    [`{"1":{"email":null},"2":${user()},"3":{"email":["a@x.net","b@x.net"]},"4":{"email":null}}`, undefined, "map *."],
    [
      `{"meta":{"id":1},"items":[${user()},${user()}],"owner":${user()},"support":${user()},"page":{"id":1}}`,
      undefined,
      "list items.",
    ],
    [
      `{"data":{"id":1,"items":[${user()}]},"owner":${user()},"support":${user()},"a":{"id":1},"b":{"id":1}}`,
      undefined,
      "list data.items.",
    ],
    [`{"host":{"a":1},"from":${user()},"to":${user()},"tls":{"b":1},"log":{"c":1}}`, undefined, "sequence "],
    [dump, undefined, "list null.data."],
    [dump, ["data.email"], "list null.data."],
    [dump, ["type"], "list "],
    [`[{"reviews":[${user()},${user()}]},{"reviews":[${user()}]}]`, undefined, "list "],
    [`{"users":[{"emails":[${user()}]}]}`, undefined, "list users."],
    [`{"users":{}}`, undefined, "map users.*."],
    [`{"users":[{"email":null},{"email":""}]}`, undefined, "list users."],
    [`{"users":[${'{"email":""},'.repeat(150)}${user()}]}`, undefined, "list users."],
    [`{"users":[${'{"id":1},'.repeat(150)}${user()}]}`, ["users.email"], "list users."],
    [`{"scopes":["read"],"users":[${user()}]}`, ["email"], "list users."],
    [user(), undefined, "sequence "],
    [`${user()}\n${user()}`, undefined, "sequence "],
    [`{"emails":["ann@example.org"]}`, undefined, "texts emails."],
    [`{"users":[]}`, undefined, "list users."],
    [`{"users":[]}`, ["email"], "list users."],
    [`{"users":[],"email":"ann@example.org"}`, ["email"], "sequence "],
    [`{"error":"Bad credentials","errors":[]}`, ["email"], "sequence "],
    [`{"users":[],"owner":{"email":"ann@example.org"}}`, ["owner.email"], "sequence "],
    [`{"users":[],"owner":"ann@example.org"}`, undefined, "sequence "],
    [`{"users":[${user()}],"admins":[${user()}]}`, ["admins.email"], "list admins."],
    [`{"users":[${user()}],"admins":[${user()}]}`, ["users.email", "admins.email"], "list users. list admins."],
    [`{"users":[${user()}],"admins":[${user("mail")}]}`, ["users.email", "admins.mail"], "list users. list admins."],
    [`{"users":[${user()}],"email":"x"}`, ["email"], "sequence "],
    [`{"users":[${user()}]}`, ["email"], "list users."],
    [`{"users":{"a":${user()},"b":${user()}}}`, ["users.*.email"], "map users.*."],
    [`{"emails":["ann@example.org"]}`, ["emails"], "texts emails."],
  ])("come out of %j with -c %j as %s", (document, columns, expected) => {
    const found = chooseLists("d.json", Buffer.from(document), true, { ...wanted, ...(columns && { columns }) })!;
    const { isSequence, lists, textName } = found.shape;
    const kinds = lists.map(({ names, isMap }) => {
      const kind = textName === undefined ? (isMap ? "map" : "list") : "texts";
      return `${kind} ${[...names, ...(isMap ? ["*"] : [])].map((name) => `${name}.`).join("")}`;
    });
    expect(isSequence ? `sequence ${found.prefix}` : kinds.join(" ")).toBe(expected);
  });

  test.each([
    [
      `{"users":[${user()},${user()}],"admins":[${user("mail")}]}`,
      undefined,
      'd.json: 2 lists hold e-mail addresses: "users.email" (2), "admins.mail" (1); choose one with -c',
    ],
    [
      `{"users":[${user()}],"admins":[{"email":"x@y.de","mail":"z@y.de"}]}`,
      ["users.email", "admins.mail"],
      "d.json: users.email and admins.mail are in different lists; validate one, and then the other in the output",
    ],
    ["[1, 2]", undefined, "d.json: its list needs objects, strings, or arrays below a header"],
    ["[1, 2,, 3]", undefined, 'd.json:1:7: not JSON: "," is where a value belongs'],
  ])("cannot be chosen in %j with -c %j", (document, columns, message) => {
    const choose = () => chooseLists("d.json", Buffer.from(document), true, { ...wanted, ...(columns && { columns }) });
    expect(choose).toThrow(message);
  });

  test("may be many", () => {
    const lists = Array.from({ length: 200_000 }, (_, n) => ({ names: [`a${n}`], isMap: false }));
    const document = '{"a1":[{}],"b":[{}],"a199999":[{}]}';
    const lines = linesOf(document, { isSequence: false, lists });
    expect(recordsIn(lines)).toHaveLength(2);
    expect(returned(lines)).toBe(document);
  });

  test("need -c if none is found in the first 2 MiB", () => {
    const cut = { ...wanted, isCut: true };
    const bytes = Buffer.from(`{"x":[${"1,".repeat(1_000_000)}`);
    expect(() => chooseLists("d.json", bytes, true, cut)).toThrow(
      "d.json: no list with e-mail addresses begins in its first 2 MiB; name its items with -c, as users.email",
    );
    expect(() => chooseLists("d.json", bytes, true, { ...cut, columns: ["u.email"] })).toThrow(
      "move the list to its start",
    );
  });

  test("stay open until those that are wanted have been found", () => {
    const cut = Buffer.from(`{"x":1,"users":[${user()},`);
    expect(chooseLists("d.json", cut, false, wanted)).toBeUndefined();
    expect(chooseLists("d.json", cut, false, { ...wanted, columns: ["users.email"] })?.prefix).toBe("users.");
    expect(chooseLists("d.json", Buffer.from("["), false, wanted)).toBeUndefined();
    expect(chooseLists("d.json", Buffer.from('{"a":1}{'), false, wanted)?.shape.isSequence).toBe(true);
  });
});
