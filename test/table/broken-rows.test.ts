/**
 * Covers rows that are broken: whatever is done to a row of a table, each line with an item is judged by its own item or named as a
 * bad row, and all other rows stay as they are.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Cells, itemTest, usualCells, usualEmptyValues } from "../../src/core/run/items/cells.js";
import { isItem } from "../../src/core/run/items/item-list.js";
import { profiles } from "../../src/core/run/items/profiles.js";
import { TableError } from "../../src/core/table/errors.js";
import type { TableShape } from "../../src/core/table/records.js";
import { findSwallowingQuote, mayHaveSwallowed } from "../../src/core/table/scan/broken-rows.js";
import { boundsIn } from "../../src/core/table/scan/scan-shape.js";
import { isSign } from "../../src/core/table/sniff/item-profile.js";
import { unchanged } from "../../src/core/table/writers/record-writer.js";
import { writerOf } from "../../src/core/table/writers/writer-of.js";
import { chunksIn, type Options, open, valuesOf } from "../support/tables.js";
import { times } from "../support/tier.js";

const others = ["Dee", "Eve", "Fay", '"Gus ""G"" Poe"', "Hal", "Ivy", "Jon", "Kay", "Lou"];
const names = ["Ann Lee", "Bob", '"Ray, Cy"', ...others];
const rows = names.map((name, i) => [`${i + 1}`, name, `p${i + 1}@d${i + 1}.net`, i % 3 ? "new" : "", "2026"]);
const header = ["id", "name", "email", "note", "year"];
const addressIn = /\w*p\d+@d\d+\.net\w*/g;

const with_ = (fields: readonly string[], column: number, field: string) =>
  fields.map((old, i) => (i === column ? field : old)).join(",");

/** Ways to break a row at a column. */
const ways: Readonly<Record<string, (fields: readonly string[], column: number) => string | undefined>> = {
  "a quote at the start": (row, at) => with_(row, at, `"${row[at]}`),
  "a quote at the end": (row, at) => with_(row, at, `${row[at]}"`),
  "a quote within": (row, at) => with_(row, at, `${row[at]!.slice(0, 1)}"${row[at]!.slice(1)}`),
  "quotes around, one too many": (row, at) => with_(row, at, `""${row[at]}"`),
  "a delimiter too many before": (row, at) => with_(row, at, `,${row[at]}`),
  "a delimiter within": (row, at) => with_(row, at, `${row[at]!.slice(0, 1)},${row[at]!.slice(1)}`),
  "a delimiter too few": (row, at) =>
    at === 0 ? undefined : [...row.slice(0, at - 1), `${row[at - 1]}${row[at]}`, ...row.slice(at + 1)].join(","),
  "a field too few": (row, at) => row.filter((_, i) => i !== at).join(","),
  "another delimiter": (row, at) => (at === 0 ? undefined : `${row.slice(0, at).join(",")};${row.slice(at).join(",")}`),
  "a line break within": (row, at) => with_(row, at, `${row[at]!.slice(0, 1)}\n${row[at]!.slice(1)}`),
  "the rest cut off": (row, at) => row.slice(0, at + 1).join(","),
  "more empty fields": (row, at) => `${row.join(",")}${",".repeat(at + 1)}`,
};

interface Outcome {
  readonly named: ReadonlySet<number>;
  /** The items of each record, by the line on which it starts. */
  readonly items: ReadonlyMap<number, readonly string[]>;
  /** The rows without the bad ones, as they are written. */
  readonly output: string;
  readonly refused?: string;
}

async function read(text: string, options: Options = {}): Promise<Outcome> {
  const named = new Set<number>();
  const items = new Map<number, readonly string[]>();
  const cells = new Cells({ ...usualCells, kind: "email" });
  let output = "";
  try {
    const table = await open(text, {
      items: itemTest({ kind: "email", emptyValues: usualEmptyValues }),
      badRows: "keep",
      onBadRow: ({ line }, record) => {
        const count = Buffer.from(record).toString().trimEnd().split("\n").length;
        for (let i = 0; i < count; i++) named.add(line + i);
      },
      ...options,
    });
    const columns = { names: ["status"], indices: [undefined] };
    table.start(columns);
    const writer = writerOf(table.scanned.shape, table.scanned.target, columns);
    for await (const chunk of chunksIn(table)) {
      for (const [row, value] of valuesOf(chunk).entries()) {
        if (value !== undefined) items.set(chunk.lineOf(row), cells.itemsIn(value));
      }
      output += writer.write(chunk, (row) => (chunk.isRow(row) ? unchanged : undefined)).bytes.toString();
    }
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    return { named, items, output, refused: error.message };
  }
  return { named, items, output };
}

/** Returns the lines that are neither judged by their own item nor named, or both. */
async function wrongLines(text: string): Promise<string[]> {
  const { named, items, refused } = await read(text);
  expect(refused).toBeUndefined();
  return text.split("\n").filter((line, i) => {
    const own = line.match(addressIn) ?? [];
    // A record of several lines is judged whole.
    const start = Math.max(...[...items.keys()].filter((first) => first <= i + 1));
    const judged = items.get(start);
    if (own.length === 0 || named.has(i + 1)) return start === i + 1 && named.has(i + 1);
    return judged?.join() !== own.join();
  });
}

const tableOf = (lines: readonly string[]) => `${[header.join(","), ...lines].join("\n")}\n`;
const whole = rows.map((row) => row.join(","));

describe.each(Object.entries(ways))("each line is judged by its own item or reported, with %s", (_, way) => {
  test.each(header.map((name, column) => [name, column] as const))("in the column %s", async (_, column) => {
    for (const [index, row] of rows.entries()) {
      const broken = way(row, column);
      if (broken === undefined) continue;
      expect(await wrongLines(tableOf(whole.with(index, broken))), broken).toEqual([]);
    }
  });
});

test("with two broken rows, each line is judged by its own item or reported", async () => {
  const place = fc.record({
    row: fc.nat(rows.length - 1),
    column: fc.nat(header.length - 1),
    way: fc.constantFrom(...Object.keys(ways)),
  });
  await fc.assert(
    fc.asyncProperty(place, place, async (a, b) => {
      fc.pre(a.row !== b.row);
      let lines = whole;
      for (const { row, column, way } of [a, b]) {
        lines = lines.with(row, ways[way]!(rows[row]!, column) ?? whole[row]!);
      }
      expect(await wrongLines(tableOf(lines))).toEqual([]);
    }),
    { numRuns: times(2000) },
  );
});

test.each<[string, string]>([
  ["a quote before a delimiter", '3,Cy,"p3@d3.net,"a ""b""",2026'],
  ["a tab and another quoted field", '3,Cy,p3@d3.net\t"a ""b"", c",2026'],
  ["a quoted field glued to the item", '3,Cy,p3@d3.net"a ""b"", c",2026'],
  ["a quote within the item", '3,Cy,p"3@d3.net,note,2026'],
  ["the next field glued to the item", "3,Cy,p3@d3.netnew,2026"],
  ["the next field glued to an item of a large provider", "3,Cy,p3@gmail.compro,2026"],
])("the scanner and csv-parse report a bad row for %s", async (_, line) => {
  const table = tableOf(whole.with(2, line));
  for (const strict of [false, true]) expect((await read(table, { strict })).named).toEqual(new Set([4]));
});

test("a quoted local part, a name in quotes and quotes around an item are not reported", async () => {
  const lines = ['1,Ann,"""ann lee""@x.net",n,2026', '2,Ann,""ann@x.net"",n,2026', "3,Ann,ann@x.corp,n,2026"];
  const named = '4,Ann,"""Lee, Ann"" <ann@x.net>",n,2026';
  expect((await read(tableOf([...lines, named, ...whole]))).named).toEqual(new Set());
});

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

test.each<[string, readonly string[]]>([
  ["notes of several lines", ['1,Ann,a@x.net,"first line\nsecond, with a comma\n\nlast ""quoted"" line",2026']],
  ["an address in such a note", ['1,Ann,a@x.net,"write to\nb@y.net, please\nor call",2026']],
  ["several addresses in a cell", ['1,Ann,"a@x.net\nb@y.net\nc@z.net\nd@z.net\ne@z.net\nf@z.net",note,2026']],
  ["a pasted table of another width", [`1,Ann,a@x.net,${quoted("name,email\nBob,b@y.net\nCy,c@z.net")},2026`]],
  ["a quoted name of two lines before the address", ['1,"Ann\nLee, PhD",a@x.net,note,2026']],
  ["short rows", ["1,Ann,a@x.net", "2,Bob", "3", ""]],
  ["short rows with a mistyped provider", ["1,Ann,a@gmail.con", "2,Bob,b@hotmail.comm", "3,Cy,c@gmial.com"]],
  ["short rows with a mistyped or a private ending", ["1,Ann,a@acme.con", "2,Bob,b@firma.internal", "3,Cy,c@oak.corp"]],
  ["short rows with a word for none", ["1,Ann,n/a", "2,Bob,-,x"]],
  ["delimiters at the end", ["1,Ann,a@x.net,x,2026,,", "2,Bob,b@x.net,,,"]],
])("no row is reported as bad for %s", async (_, lines) => {
  const { named, refused } = await read(tableOf([...lines, ...whole]));
  expect({ named: [...named], refused }).toEqual({ named: [], refused: undefined });
});

test("where short rows are common, a word in the field of the item is not reported", async () => {
  const short = rows.map(([id, name, email], i) => `${id},${name},${i % 4 ? email : "none given"}`);
  expect((await read(tableOf([...short, ...whole]))).named).toEqual(new Set());
});

describe("the quick look at a record", () => {
  const parts = fc.constantFrom(
    ...["ann@b.net", "b.net", "x", "ann", "1", "Lee, Ann", "ann(at)b.net", "ann%40b.net", "mailto:ann%40b.net"],
    ...[
      "ann&#64;b.net",
      "&commat;",
      "\\u0040",
      '{"email":"ann\\u0040b.net"}',
      "b\u3002net",
      "\uff20",
      "http://b.net/x",
    ],
    ...["<", ">", " ", ",", ";", "@", "."],
  );
  const field = fc.array(parts, { maxLength: 4 }).map((all) => all.join(""));

  test.each(["email", "domain"] as const)("takes no text with an item for one without: %s", (kind) => {
    const cells = new Cells({ ...usualCells, kind });
    const items = itemTest({ kind, emptyValues: usualEmptyValues });
    const isItemOf = (text: string) => {
      if (profiles[kind].likeness(text) > 0) return true;
      const found = cells.itemsIn(text);
      return found.length > 0 && found.every((item) => isItem(kind, item));
    };
    fc.assert(
      fc.property(field, (text) => {
        expect(items.isItem(text)).toBe(isItemOf(text));
        const bytes = Buffer.from(text);
        const hasSign = bytes.some((byte, at) => isSign(items.signs, byte, bytes[at + 1]!));
        if (isItemOf(text)) expect(hasSign).toBe(true);
      }),
      { numRuns: times(3000) },
    );
  });

  test("passes over no record in which a quote has swallowed a row", () => {
    const line = fc.array(field, { minLength: 1, maxLength: 4 }).map((fields) => fields.join(","));
    const quoted = fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => `"${lines.join("\n")}"`);
    const cell = fc.oneof(
      field,
      quoted,
      quoted.map((text) => `${text}x`),
    );
    const record = fc.array(cell, { minLength: 1, maxLength: 5 }).map((cells) => cells.join(","));
    let swallowed = 0;
    const property = fc.property(
      record,
      fc.integer({ min: 2, max: 4 }),
      fc.nat({ max: 3 }),
      fc.constantFrom("email" as const, "domain" as const),
      (text, width, column, kind) => {
        const dialect = { delimiter: ",", lineEnding: "\n", comment: null, byteOrderMark: false };
        const marks = { quote: '"', escape: '"', skipsSpaces: false };
        const shape = { dialect: { ...dialect, ...marks }, width, column: column % width } as TableShape;
        const items = itemTest({ kind, emptyValues: usualEmptyValues });
        const bytes = Buffer.from(text);
        const fields = boundsIn(shape, bytes, 0, bytes.length).length / 2;
        const found = findSwallowingQuote(shape, items, bytes, 0, bytes.length);
        if (found === undefined) return;
        swallowed++;
        expect(mayHaveSwallowed(shape, items, bytes, { start: 0, end: bytes.length, fields })).toBe(true);
      },
    );
    fc.assert(property, { numRuns: times(20_000) });
    expect(swallowed).toBeGreaterThan(100);
  });
});
