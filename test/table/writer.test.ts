import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { open, rewrite } from "../support/tables.js";

describe("a table comes back", () => {
  test.each([
    ["id,email\n1,a@b.net\n", "id,email,status\n1,a@b.net,x\n"],
    ["\ufeffid;email\r\n1;a@b.net\r\n", "\ufeffid;email;status\r\n1;a@b.net;x\r\n"],
    ["id\temail\r1\ta@b.net\r", "id\temail\tstatus\r1\ta@b.net\tx\r"],
    ["id|email\n1|a@b.net", "id|email|status\n1|a@b.net|x\n"],
    ["a@b.net\nc@d.net\n", "a@b.net,x\nc@d.net,x\n"],
    ["id,email,note\n1\n2,a@b.net\n", "id,email,note,status\n1,,,x\n2,a@b.net,,x\n"],
    ["email\n\na@b.net\n", "email,status\n,x\na@b.net,x\n"],
    ['email,note\na@b.net,"x, ""y"""\n', 'email,note,status\na@b.net,"x, ""y""",x\n'],
    ['email;note\na@b.net;"x\ny"\n', 'email;note;status\na@b.net;"x\ny";x\n'],
    ["email\n", "email,status\n"],
    ["\nid,email\n1,a@b.net\n", ",,\nid,email,status\n1,a@b.net,x\n"],
    ["", ""],
  ])("%j", async (input, output) => {
    expect((await rewrite(await open(input))).toString()).toBe(output);
  });

  test("names and bytes of any encoding", async () => {
    const input = Buffer.from("email,n\xe4me\na@b.net,J\xfcrg \xff\n", "latin1");
    const output = await rewrite(await open(input), "état");
    expect(output).toEqual(
      Buffer.concat([
        Buffer.from("email,n\xe4me,", "latin1"),
        Buffer.from("état"),
        Buffer.from("\na@b.net,J\xfcrg \xff,x\n", "latin1"),
      ]),
    );
  });
});

test("any table that csv-stringify writes comes back with its fields unchanged", async () => {
  const field = fc.oneof(
    fc.string({ unit: "binary", maxLength: 12 }),
    fc.string({ unit: fc.constantFrom(...'ab",;\t|\r\n .@\u0000ü'), maxLength: 8 }),
    fc.emailAddress(),
  );
  const arbitrary = fc.integer({ min: 1, max: 5 }).chain((width) =>
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
    fc.asyncProperty(
      arbitrary,
      async ({ records, delimiter, lineEnding, bom, quoted, chunkSize, column }) => {
        const dialect = { delimiter, record_delimiter: lineEnding, quote_record_delimiter: true };
        const header = (records[0] ?? []).map((_, i) => `name${i}`);
        // A field of nothing but "" at the start of a one-field record would be an empty line.
        const input = stringify(header.length > 0 ? [header, ...records] : [], {
          ...dialect,
          quoted,
          quoted_empty: true,
          bom,
        });
        const table = await open(input, { delimiter, header: true, column: String(column), chunkSize });
        const output = await rewrite(table);
        const back = parse(output, { ...dialect, relax_quotes: true, bom: true }) as string[][];
        const expected =
          header.length > 0 ? [[...header, "status"], ...records.map((record) => [...record, "x"])] : [];
        // JavaScript's lone surrogates do not survive UTF-8.
        expect(back).toEqual(expected.map((record) => record.map((f) => Buffer.from(f).toString())));
      },
    ),
    { numRuns: 500 },
  );
});
