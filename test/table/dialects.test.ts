/** Covers dialects other than that of RFC 4180: found on the sample, read, and written as they were. */
import { describe, expect, test } from "vitest";
import { dialectWords } from "../../src/core/table/sniff/dialect.js";
import { type Options, open, rewrite } from "../support/tables.js";

async function read(text: string, options: Options = {}, chunkSize = 1 << 20) {
  const table = await open(text, { chunkSize, ...options });
  const values: (string | undefined)[] = [];
  const onValues = (some: readonly (string | undefined)[]) => void values.push(...some);
  const output = (await rewrite(table, "status", { field: "ok", onValues })).toString();
  return { words: dialectWords(table.dialect), values, output };
}

const numbers = Array.from({ length: 40 }, (_, i) => i);
const addresses = numbers.map((i) => `p${i}@larch-and-oak.com`);

const [usual, tabs] = ["id,name,email", "id\tname\temail"];
const spacesInFront = "spaces in front of fields belong to the delimiter";
const quotesAround = "quotes around whole records are left out";

/** A dialect, its words, a header, and a row with its number and address. */
const dialects: [name: string, words: string[], header: string, row: (i: number, item: string) => string][] = [
  ["quotes '", ["quotes are '"], usual, (i, item) => `${i},'Lee, A',${i % 3 ? item : `'${item}'`}`],
  ["doubled '", ["quotes are '"], usual, (i, item) => `${i},'O''Neil, A',${item}`],
  ["quotes that are text", ["quotes are text"], tabs, (i, item) => `${i}\t${i % 4 ? "A" : '"Al'}\t${item}`],
  ["a \\ before quotes", ["\\ escapes quotes"], usual, (i, item) => `${i},"A \\"B, C\\" \\\\",${item}`],
  ["a \\ before '", ["quotes are '", "\\ escapes quotes"], usual, (i, item) => `${i},'A \\'B, C\\'',${item}`],
  ["a space before quotes", [spacesInFront], "id, name, email", (i, item) => `${i}, "Lee, Ann", ${item}`],
  [
    "runs of spaces",
    ["runs of spaces are the delimiter"],
    "  id  name   email",
    (i, item) => `${String(i).padStart(4)} "A B"${" ".repeat(1 + (i % 3))} ${item}${" ".repeat(i % 2)}`,
  ],
  ["quotes around records", [quotesAround], `"${usual}"`, (i, item) => `"${i},""Lee, A"",${item}"`],
  ["a comma and a space", [], "id, name, email", (i, item) => `${i}, Ann Lee, ${item}`],
  ["quotes without need", [], '"id","name","email"', (i, item) => `"${i}","A ""B"" C","${item}"`],
  ["names with '", [], usual, (i, item) => `${i},${i % 5 ? "'t Hooft" : "O'Neil"},${item}`],
  ["a list with names", [], "email", (_, item) => `Ann Lee <${item}>`],
];

describe.each(dialects)("the reader, on %s,", (name, words, header, row) => {
  const rows = numbers.map((i) => row(i, addresses[i]!));
  for (const lineEnding of ["\n", "\r\n"]) {
    const text = [header, ...rows, ""].join(lineEnding);
    test(`detects and keeps the dialect with the line ending ${JSON.stringify(lineEnding)}`, async () => {
      const whole = await read(text);
      expect(whole.words).toEqual(words);
      const items = name === "a list with names" ? addresses.map((item) => `Ann Lee <${item}>`) : addresses;
      expect(whole.values.map((value) => value?.trim())).toEqual(items);
      const isUnwrapped = name === "quotes around records";
      const inside = isUnwrapped ? text.replace(/^"|"$/gm, "").replaceAll('"\r', "\r").replaceAll('""', '"') : text;
      const separator = /spaces? (?:before|between)/.test(name)
        ? ", "
        : name === "runs of spaces"
          ? " "
          : header.includes("\t")
            ? "\t"
            : ",";
      const [head, ...body] = inside.split(lineEnding).slice(0, -1);
      expect(whole.output).toBe(
        [`${head}${separator}status`, ...body.map((line) => `${line}${separator}ok`), ""].join(lineEnding),
      );
      // Wherever the pieces are cut.
      for (const chunkSize of [1, 7]) expect(await read(text, {}, chunkSize)).toEqual(whole);
    });
    test(`agrees with csv-parse with the line ending ${JSON.stringify(lineEnding)}`, async () => {
      if (name === "runs of spaces") return;
      const strict = await read(text, { strict: true });
      expect(strict.words).toEqual(words);
      const trimmed = (values: readonly (string | undefined)[]) => values.map((value) => value?.trim());
      expect(trimmed(strict.values)).toEqual(trimmed((await read(text)).values));
    });
  }

  test("writes plain CSV with --format csv", async () => {
    const { output } = await read([header, ...rows, ""].join("\n"), { format: "csv" });
    expect(output.split("\n")[9]).toContain(addresses[8]);
    expect((await read(output)).words).toEqual([]);
  });

  test("detects the dialect despite a few broken rows", async () => {
    const broken = rows.with(3, `3,"Lee,${addresses[3]}`).with(20, `20,"Lee,${addresses[20]}`);
    const { words: found } = await read([header, ...broken, ""].join("\n"), { badRows: "skip" });
    expect(found).toEqual(words);
  });
});

test("short rows are padded with quoted empty fields if runs of spaces are the delimiter", async () => {
  const rows = addresses.map((item, i) => (i === 7 ? `x${i}  ${item}` : `x${i}  ${item}   Ann`));
  const { output } = await read(`id  email  name\n${rows.join("\n")}\n`);
  expect(output.split("\n").slice(8, 10)).toEqual([`x7  ${addresses[7]} "" ok`, `x8  ${addresses[8]}   Ann ok`]);
});

test("added fields have no quotes if the dialect has none", async () => {
  const table = await open("id\temail\n1\ta@larch-and-oak.com\n", { dialect: { quote: "" } });
  const output = (await rewrite(table, "status", { field: 'a "b"\tc\nd' })).toString();
  expect(output).toBe('id\temail\tstatus\n1\ta@larch-and-oak.com\ta "b" c d\n');
});
