/** Covers how tables are written back: byte for byte, and alike by the scanner and by csv-parse. */

import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RowFault } from "../../src/core/table/bad-rows.js";
import { usualMarks } from "../../src/core/table/quotes.js";
import type { TableShape } from "../../src/core/table/records.js";
import { readScanned } from "../../src/core/table/scan/scanned-records.js";
import { Offset, recordWords, scanRecords } from "../../src/core/table/scan/scanner.js";
import { anySign } from "../../src/core/table/sniff/item-profile.js";
import { CopyingWriter } from "../../src/core/table/writers/copying-writer.js";
import { type Options, open, rewrite, valuesOf } from "../support/tables.js";
import { times } from "../support/tier.js";

describe("rewritten tables", () => {
  test.each([
    ["id,email\n1,a@b.net\n", "id,email,status\n1,a@b.net,x\n"],
    ["\ufeffid;email\r\n1;a@b.net\r\n", "\ufeffid;email;status\r\n1;a@b.net;x\r\n"],
    ["id\temail\r1\ta@b.net\r", "id\temail\tstatus\r1\ta@b.net\tx\r"],
    ["id|email\n1|a@b.net\n", "id|email|status\n1|a@b.net|x\n"],
    ["a@b.net\nc@d.net\n", "a@b.net,x\nc@d.net,x\n"],
    ["id,email,note\n1\n2,a@b.net\n", "id,email,note,status\n1,,,x\n2,a@b.net,,x\n"],
    ["email\n\na@b.net\n", "email,status\n,x\na@b.net,x\n"],
    ['email,note\na@b.net,"x, ""y"""\n', 'email,note,status\na@b.net,"x, ""y""",x\n'],
    ['email;note\na@b.net;"x\ny"\n', 'email;note;status\na@b.net;"x\ny";x\n'],
    ["email\n", "email,status\n"],
    ["\nid,email\n1,a@b.net\n", "\nid,email,status\n1,a@b.net,x\n"],
    ["", ""],
  ])("keep their dialect: %j", async (input, output) => {
    for (const strict of [false, true]) {
      expect((await rewrite(await open(input, { strict }))).toString()).toBe(output);
    }
  });

  test("keep bytes of any encoding beside a column name in UTF-8", async () => {
    const input = Buffer.from("email,n\xe4me\na@b.net,J\xfcrg \xff\n", "latin1");
    const output = await rewrite(await open(input), "état");
    const name = Buffer.from("état").toString("latin1");
    expect(output.toString("latin1")).toBe(`email,n\xe4me,${name}\na@b.net,J\xfcrg \xff,x\n`);
  });
});

const field = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.string({ unit: fc.constantFrom(...'ab",;\t|\r\n .@\u0000ü'), maxLength: 8 }),
  fc.emailAddress(),
);

test("rewriting keeps the fields of any table written by csv-stringify", async () => {
  const arbitrary = fc
    .integer({ min: 1, max: 5 })
    .chain((width) =>
      fc.record({
        records: fc.array(fc.array(field, { minLength: width, maxLength: width }), { maxLength: 8 }),
        delimiter: fc.constantFrom(",", ";", "\t", "|", ":", "x"),
        lineEnding: fc.constantFrom("\n", "\r\n", "\r"),
        bom: fc.boolean(),
        quoted: fc.boolean(),
        chunkSize: fc.integer({ min: 1, max: 50 }),
        column: fc.integer({ min: 1, max: width }),
      }),
    );
  await fc.assert(
    fc.asyncProperty(arbitrary, async ({ records, delimiter, lineEnding, bom, quoted, chunkSize, column }) => {
      const dialect = { delimiter, record_delimiter: lineEnding, quote_record_delimiter: true };
      const header = (records[0] ?? []).map((_, i) => `name${i}`);
      // Unquoted, an empty field in a one-field record would be an empty line.
      const settings = { ...dialect, quoted, quoted_empty: true, bom };
      const input = stringify(header.length > 0 ? [header, ...records] : [], settings);
      const expected = header.length > 0 ? [[...header, "status"], ...records.map((record) => [...record, "x"])] : [];
      for (const strict of [false, true]) {
        // Trusts the quotes: the random fields may look like rows of the table.
        const trusting = { dialect: { quote: '"' } };
        const options = { delimiter, header: true, columns: [String(column)], chunkSize, strict, ...trusting };
        const output = await rewrite(await open(input, options));
        const back = parse(output, { ...dialect, relax_quotes: true, bom: true }) as string[][];
        // JavaScript's lone surrogates do not survive UTF-8.
        expect(back).toEqual(expected.map((record) => record.map((f) => Buffer.from(f).toString())));
      }
    }),
    { numRuns: times(500) },
  );
});

/** Text as in files that were not written by a CSV library. */
const wildText = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'ab@.,;"\n\r \u0000é', '""', '",', '\n"', "\r\n", "\n#", '"#'), maxLength: 60 }),
  fc
    .array(fc.array(field, { minLength: 2, maxLength: 3 }), { maxLength: 6 })
    .chain((records) => fc.tuple(fc.constant(stringify(records)), fc.nat(200), fc.constantFrom('"', ",", "\r", "")))
    .map(([text, at, inserted]) => text.slice(0, at) + inserted + text.slice(at)),
);
const wildTable = fc.record({
  text: wildText,
  comment: fc.constantFrom(undefined, undefined, "#"),
  ragged: fc.constantFrom("pad" as const, "error" as const),
  badRows: fc.constantFrom("error" as const, "error" as const, "skip" as const),
  delimiter: fc.constantFrom(",", ";", undefined),
  chunkSize: fc.integer({ min: 1, max: 70 }),
  format: fc.constantFrom(undefined, undefined, "tsv" as const, "jsonl" as const),
});

test("the scanner and csv-parse read the same table from any bytes, and write the same in another format", async () => {
  const outcome = async (text: string, options: Options) => {
    const bad: string[] = [];
    const settings = { ...options, onBadRow: (fault: RowFault) => void bad.push(fault.message) };
    try {
      const table = await open(text, settings);
      const delimiter = table.dialect.delimiter ?? ",";
      const read: (string | undefined)[] = [];
      const output = await rewrite(table, "status", { onValues: (values) => read.push(...values) });
      const values = read.filter((value) => value !== undefined);
      if (options.format && delimiter !== "\t")
        return { values, output: output.toString("latin1"), names: table.names, bad };
      const { quote, escape: escaping, skipsSpaces } = table.dialect;
      const parsed = parse(output, {
        delimiter,
        quote: quote || null,
        escape: escaping || null,
        ltrim: skipsSpaces,
        relax_quotes: true,
        relax_column_count: true,
        bom: true,
        record_delimiter: ["\r\n", "\n", "\r"],
        comment: options.dialect?.comment ?? "",
        comment_no_infix: true,
      });
      return { values, table: parsed, bad };
    } catch (error) {
      return { error: (error as Error).message };
    }
  };
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(wildTable, async ({ text, delimiter, comment, format, ...others }) => {
      const options = {
        columns: ["1"],
        // Lines above the table are copied unchanged, whether or not they are CSV.
        skipLines: 0,
        ...(delimiter !== undefined && { delimiter }),
        ...(format !== undefined && { format }),
        ...(comment !== undefined && { dialect: { comment } }),
        ...others,
      };
      // Runs of spaces may be the delimiter, but not for csv-parse, which does not merge them.
      if (delimiter === undefined && / {2}\S/.test(text)) return;
      const strict = await outcome(text, { ...options, strict: true });
      // csv-parse cannot continue after a quote that is never closed.
      if (others.badRows === "skip" && /never closed|inside it/.test(strict.error ?? "")) return;
      // csv-parse drops the rest of such a line, as if a comment could follow a field.
      if (comment !== undefined && /(^|[\r\n])""#/.test(text)) return;
      const scanned = await outcome(text, options);
      const lineOf = (error: string) => Number(/:(\d+):/.exec(error)?.[1]);
      if (/never closed|inside it/.test(strict.error ?? "") && scanned.error !== strict.error) {
        // csv-parse is ahead of the scanner, which has not come to a fault before.
        expect(lineOf(scanned.error!)).toBeLessThan(lineOf(strict.error!));
        return;
      }
      expect(scanned).toEqual(strict);
      if (strict.error === undefined) compared++;
    }),
    { numRuns: times(4000) },
  );
  expect(compared).toBeGreaterThan(times(1000, 25));
});

test("the scanner finds the same records wherever the bytes are cut", async () => {
  const shape = (badRows: "skip" | "keep", comment: string | null): TableShape => ({
    name: "list.csv",
    dialect: { delimiter: ",", ...usualMarks, comment, lineEnding: "\n", byteOrderMark: false },
    width: 3,
    column: 0,
    otherColumns: [],
    hasHeader: false,
    firstLine: 1,
    ragged: "pad",
    badRows,
    trustsQuotes: false,
    isWidthSure: true,
    itemColumns: [0],
  });
  const items = {
    signs: anySign,
    isItem: (field: string) => /^[a-z]/.test(field),
    isGlued: () => false,
    isHeader: () => false,
    holds: (field: string) => field.includes("@"),
    isNone: (field: string) => field === "",
  };
  const assemble = async (pieces: readonly Buffer[], settings: TableShape) => {
    const bad: string[] = [];
    const target = { format: undefined, keys: [] };
    const none = (async function* () {})();
    const { assembler } = await readScanned(
      settings,
      target,
      { first: Buffer.of(), rest: none },
      items,
      (fault, record) => bad.push(fault.message, Buffer.from(record).toString()),
    );
    const chunks = [...pieces, undefined].map((piece) => assembler.assemble(piece));
    const writer = new CopyingWriter(settings, [undefined]);
    const added = writer.prepare(["x"]);
    const output = Buffer.concat(chunks.map((chunk) => writer.write(chunk, () => added).bytes));
    return { values: chunks.flatMap(valuesOf), output: output.toString("latin1"), bad };
  };
  await fc.assert(
    fc.asyncProperty(
      wildText,
      fc.constantFrom("skip" as const, "keep" as const),
      fc.constantFrom("#", null),
      async (text, badRows, comment) => {
        const bytes = Buffer.from(text);
        const settings = shape(badRows, comment);
        const whole = await assemble([bytes], settings);
        const single = Array.from(bytes, (byte) => Buffer.of(byte));
        expect(await assemble(single, settings)).toEqual(whole);
        for (let cut = 1; cut < bytes.length; cut++) {
          const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)];
          expect(await assemble(pieces, settings)).toEqual(whole);
        }
      },
    ),
    { numRuns: times(200) },
  );
});

test("without the added column, the output is the input; rows before it are padded, others stay short", async () => {
  const records = (text: Buffer) => {
    const { count, at } = scanRecords(text, { delimiter: 0x2c, column: 0 }, true);
    return Array.from({ length: count }, (_, i) => {
      const [start, end, next] = at.subarray(i * recordWords) as unknown as [number, number, number];
      const fields = at[i * recordWords + Offset.fields]!;
      return { record: text.toString("utf8", start, end), lineEnd: text.toString("utf8", end, next), fields };
    });
  };
  const compared = { whole: 0, short: 0, blank: 0 };
  await fc.assert(
    fc.asyncProperty(wildTable, async ({ text, chunkSize }) => {
      // Otherwise, quotes may be found to be text.
      const options = { columns: ["1"], delimiter: ",", dialect: { quote: '"' }, header: false, chunkSize };
      const written = (field: string) =>
        open(text, options)
          .then(async (table) => ({ width: table.width, rows: records(await rewrite(table, "status", { field })) }))
          .catch(() => undefined);
      const [filled, empty] = [await written("x"), await written("")];
      if (filled === undefined || empty === undefined) return;
      const input = records(Buffer.from(text));
      const { width } = filled;
      // Empty fields behind the last column are dropped.
      if (input.some(({ fields }) => fields > width)) return;
      const padded = ({ record, fields }: { record: string; fields: number }) => record + ",".repeat(width - fields);
      const lines = ({ rows }: typeof filled) => rows.map(({ record, lineEnd }) => [record, lineEnd]);
      expect(lines(filled)).toEqual(input.map((row) => [`${padded(row)},x`, row.lineEnd]));
      expect(lines(empty)).toEqual(
        input.map(({ record, lineEnd, fields }) => {
          const isLeft = fields < width || record === "";
          compared[record === "" ? "blank" : isLeft ? "short" : "whole"]++;
          return [isLeft ? record : `${record},`, lineEnd];
        }),
      );
    }),
    // Enough for each kind of row.
    { numRuns: times(2000, 200) },
  );
  for (const count of Object.values(compared)) expect(count).toBeGreaterThan(times(30, 0));
});

test.each([
  ["unnecessary quotes", 'email,"a"\n"a@b.net","x"\r\n', 'email,"a",status\n"a@b.net","x",x\r\n'],
  ["quotes in text", 'email,n\na@b.net,5" pipe\n', 'email,n,status\na@b.net,5" pipe,x\n'],
  ["mixed line ends", "a@b.net,1\rc@d.net,2\r\ne@f.net,3", "a@b.net,1,x\rc@d.net,2,x\r\ne@f.net,3,x"],
  ["a plain line with quotes", '"Lee" <a@b.net>\n', '"Lee" <a@b.net>,x\n'],
  [
    "a plain line with a comma, as one field",
    '"Lee, A" <a@b.net>\nc@d.net\n"e@f.net,"\n',
    '"""Lee, A"" <a@b.net>",x\nc@d.net,x\n"e@f.net,",x\n',
  ],
])("byte-for-byte output keeps %s", async (_, input, output) => {
  expect((await rewrite(await open(input))).toString()).toBe(output);
});
