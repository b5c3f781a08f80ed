/** Covers reading a sheet of a spreadsheet file as CSV, and what damaged and hostile files do. */
import fc from "fast-check";
import { writeXlsx } from "hucre/xlsx";
import { describe, expect, test } from "vitest";
import { profiles } from "../../../src/core/run/items/profiles.js";
import { TableError } from "../../../src/core/table/errors.js";
import { ChoiceError } from "../../../src/files/errors.js";
import { openSheet } from "../../../src/formats/xlsx/workbook.js";
import { inMemory, listParts } from "../../../src/formats/zip/archive.js";
import { times } from "../../support/tier.js";
import { xlsxOf } from "../../support/workbooks.js";

async function* once(bytes: Uint8Array) {
  yield bytes;
}

const { signal } = new AbortController();

const open = (file: Uint8Array, wanted?: string) => openSheet("l.xlsx", once(file), profiles.email, wanted, signal);

async function read(file: Uint8Array, wanted?: string) {
  const { bytes, ...sheet } = await open(file, wanted);
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return { ...sheet, csv: Buffer.concat(chunks).toString() };
}

async function csvOf(file: Uint8Array, wanted?: string): Promise<{ name: string; csv: string }> {
  const { name, csv } = await read(file, wanted);
  return { name, csv };
}

const sheets = [
  { name: "Info", rows: [["Export"], [], ["made by hand"]] },
  {
    name: "People",
    rows: [
      ["id", "email", "since", "share", "note"],
      ["007", "Ann", new Date(Date.UTC(2024, 4, 1)), 0.5, 'a, "b"'],
      [2, "b@x.net", new Date(Date.UTC(2024, 4, 1, 12, 30)), true, "two\nlines"],
    ],
    cells: new Map([["1,1", { value: "Ann", hyperlink: { target: "mailto:ann@x.net" } }]]),
  },
];
const people =
  'id,email,since,share,note\n007,Ann <ann@x.net>,2024-05-01,0.5,"a, ""b"""\n2,b@x.net,2024-05-01 12:30:00,TRUE,"two\nlines"\n';
const xlsx = await writeXlsx({ sheets });

describe("a sheet", () => {
  test("defaults to the first with items, written as text with the addresses of links", async () => {
    expect(await csvOf(xlsx)).toEqual({ name: "People", csv: people });
  });

  test.each([
    ["mailto:ann%2Bnews@x.net?subject=Hi", "Link <ann+news@x.net>"],
    ["mailto:ann@b%C3%BCcher.de", "Link <ann@bücher.de>"],
    ["mailto:ann%40x.net%20", "Link <ann@x.net>"],
    ["mailto:ann@x.net,%20bob@x.net", '"Link <ann@x.net>, <bob@x.net>"'],
  ])("has the address of the link %s", async (target, text) => {
    const rows = [["email"], ["Link"]];
    const cells = new Map([["1,0", { value: "Link", hyperlink: { target } }]]);
    expect((await csvOf(await writeXlsx({ sheets: [{ name: "S", rows, cells }] }))).csv).toBe(`email\n${text}\n`);
  });

  test("chosen by its name has its blank rows", async () => {
    expect(await csvOf(xlsx, "Info")).toEqual({ name: "Info", csv: "Export\n\nmade by hand\n" });
  });

  test("comes from an archive whose parts have comments and extra fields", async () => {
    const file = withNotes(Buffer.from(xlsx));
    const facts = (archive: Buffer) => listParts(inMemory(archive))!.map(({ entry, ...part }) => part);
    expect(facts(file)).toEqual(facts(Buffer.from(xlsx)));
    expect(await csvOf(file)).toEqual({ name: "People", csv: people });
  });
});

test("other sheets with items are named, as far as they can be read", async () => {
  const list = '<row r="1"><c r="A1" t="inlineStr"><is><t>ann@x.net</t></is></c></row>';
  const notes = list.replace("ann@x.net", "notes");
  const of = (sheets: Readonly<Record<string, string>>, wanted?: string) => open(xlsxOf(sheets), wanted);
  expect(await of({ Notes: notes, A: list, B: notes, C: list })).toMatchObject({ name: "A", others: ["C"] });
  expect(await of({ A: list, C: list }, "C")).toMatchObject({ name: "C", others: [] });
  expect(await of({ A: list, B: '<row r="none"/>', C: list })).toMatchObject({ name: "A", others: [] });
  await expect(of({ B: '<row r="none"/>', C: list })).rejects.toThrow('there is no row "none"');
});

/** Returns an archive with a further field and a comment for each part, of different lengths, and a comment at its end. */
function withNotes(archive: Buffer): Buffer {
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  const start = archive.readUInt32LE(end + 16);
  const entries: Buffer[] = [];
  for (let at = start, nth = 0; at < end; nth++) {
    const entry = Buffer.from(archive.subarray(at, at + 46 + archive.readUInt16LE(at + 28)));
    at += entry.length + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
    // A field of no known kind (APPNOTE.TXT 4.5.2), with its length.
    const field = Buffer.from([0xfe, 0xca, nth, 0, ...Array<number>(nth).fill(1)]);
    const comment = Buffer.from("part ".repeat(nth + 1));
    entry.writeUInt16LE(field.length, 30);
    entry.writeUInt16LE(comment.length, 32);
    entries.push(entry, field, comment);
  }
  const directory = Buffer.concat(entries);
  const last = Buffer.from(archive.subarray(end, end + 22));
  last.writeUInt32LE(directory.length, 12);
  last.writeUInt16LE(4, 20);
  return Buffer.concat([archive.subarray(0, start), directory, last, Buffer.from("made")]);
}

/** A cell of an .xlsx file with a text of its own. */
const inline = (place: string, text: string) => `<c r="${place}" t="inlineStr"><is><t>${text}</t></is></c>`;
const ann = "ann@x.net";

describe("cells of an .xlsx file", () => {
  const styles = `<numFmts><numFmt numFmtId="170" formatCode="&quot;day&quot; 0"/><numFmt numFmtId="171" formatCode="[$-409]d\\ mmm"/></numFmts>
    <cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/><xf numFmtId="171"/></cellXfs>`;
  const texts = [
    "<t>plain &amp; simple</t>",
    "<r><t>rich</t></r><r><t xml:space='preserve'> text</t></r><rPh><t>hint</t></rPh>",
    "<t>a_x000D_b</t>",
  ];

  test.each<[string, string, string]>([
    ["numbers", '<c><v>1.50</v></c><c t="n"><v>1E3</v></c>', "1.5,1000"],
    ["times", '<c s="1"><v>0.127835648</v></c><c s="1"><v>0.5000000058</v></c>', "03:04:05,12:00:00.001"],
    ["dates", '<c s="1"><v>60</v></c><c s="1"><v>45413.5</v></c>', "1900-02-28,2024-05-01 12:00:00"],
    ["dates of a format of its own", '<c s="2"><v>7</v></c><c s="3"><v>45413</v></c>', "7,2024-05-01"],
    ["numbers that are no dates", '<c s="1"><v>1e300</v></c>', "1e+300"],
    ["dates as text", '<c t="d"><v>2024-05-01</v></c>', "2024-05-01"],
    ["truth and errors", '<c t="b"><v>0</v></c><c t="e"><v>#N/A</v></c>', "FALSE,#N/A"],
    ["shared texts", '<c t="s"><v>0</v></c><c t="s"><v>1</v></c>', "plain & simple,rich text"],
    ["escaped characters", '<c t="s"><v>2</v></c><c t="str"><v>a_x0040_b</v></c>', '"a\rb",a@b'],
    ["rich text of their own", '<c t="inlineStr"><is><r><t>a</t></r><r><t>b</t></r></is></c>', "ab"],
    ["formulas with a value", '<c t="str"><f>A1&amp;"b"</f><v>ab</v></c>', "ab"],
    ["cells in any order", `${inline("C1", "c")}${inline("A1", "a")}`, "a,,c"],
    ["cells without text at the end", '<c><v>1</v></c><c s="1"/><c t="s"><v/></c>', "1"],
    ["sections and comments", "<!-- <c> --><c><v><![CDATA[<&]]></v></c>", "<&"],
    ["references to characters", inline("A1", "&#97;&#x40;&lt;&copy;&#1114112;"), "a@<&copy;&#1114112;"],
    ["a sign in an attribute", `<c r='A1' x=">" t="str"><v>a</v></c>`, "a"],
  ])("become text: %s", async (_, cells, line) => {
    const { csv } = await csvOf(xlsxOf({ S: `<row>${cells}</row>` }, { texts, styles }));
    expect(csv).toBe(`${line}\n`);
    if (cells.includes("<!--") || / r=/.test(cells)) return;
    // Most programs name the place of each cell. Then it is read in another way.
    let column = 0;
    const placed = cells.replace(/<c(?=[ >])/g, () => `<c r="${"AB"[column++] ?? "C"}1"`);
    const named = await csvOf(xlsxOf({ S: `<row r="1">${placed}</row>` }, { texts, styles }));
    expect(named.csv).toBe(`${line}\n`);
  });

  test("become text in a sheet that is decompressed in several pieces", async () => {
    const rows = Array.from({ length: 4000 }, (_, i) => `<row>${inline(`A${i + 1}`, `é${i} &amp; "x"`)}</row>`);
    const { csv } = await csvOf(xlsxOf({ S: rows.join("") }));
    expect(csv).toBe(rows.map((_, i) => `"é${i} & ""x"""\n`).join(""));
  });
});

test("long words in tags and formats are read without delay", async () => {
  const styles = `<numFmts><numFmt numFmtId="170" formatCode="${"[".repeat(900_000)}"/></numFmts>
    <cellXfs><xf numFmtId="170"/></cellXfs>`;
  const cells = `<c s="0" ${"a".repeat(900_000)}><v>1</v></c>`;
  expect((await csvOf(xlsxOf({ S: `<row>${cells}</row>` }, { styles }))).csv).toBe("1\n");
});

describe("formulas without a stored value", () => {
  const formula = (place: string, rest = "") => `<c r="${place}"><f>A1</f>${rest}</c>`;
  const row = (number: number, ...cells: string[]) => `<row r="${number}">${cells.join("")}</row>`;

  test("add to their count, and their rows stay", async () => {
    const rows = [
      row(1, inline("A1", "id"), inline("B1", "email"), inline("C1", "sum")),
      row(2, inline("A2", "1"), inline("B2", ann), formula("C2")),
      row(3, inline("A3", "2"), formula("B3", "<v></v>"), formula("C3", "<v/>")),
      row(4, formula("C4")),
      row(5, inline("A5", "3"), formula("B5", `<v>${ann}</v>`)),
    ];
    const { emptyFormulas, lacksValues, csv } = await read(xlsxOf({ S: rows.join("") }));
    expect(csv).toBe(`id,email,sum\n1,${ann},\n2,,\n,,\n3,${ann}\n`);
    expect(emptyFormulas()).toEqual({ count: 4, first: "C2" });
    expect([await lacksValues(0), await lacksValues(1), await lacksValues(2)]).toEqual([false, false, true]);
  });

  test("do not include formulas whose value is an empty text", async () => {
    const cell = '<c r="B1" t="str"><f>""</f><v></v></c>';
    const { emptyFormulas, lacksValues } = await read(xlsxOf({ S: row(1, inline("A1", ann), cell) }));
    expect([emptyFormulas(), await lacksValues(1)]).toEqual([undefined, false]);
  });
});

describe("a sheet is chosen", () => {
  const filled = `<row>${inline("A1", "x")}</row>`;
  const blank = '<row r="1"><c r="A1" s="1"/></row>';

  test.each<[string, Uint8Array, string]>([
    ["with items, beside charts", xlsxOf({ Chart: undefined, P: `<row>${inline("A1", ann)}</row>` }), "P"],
    ["that is not empty", xlsxOf({ Empty: blank, "Not empty": filled, Last: filled }), "Not empty"],
    ["that is first if all are empty", xlsxOf({ A: blank, B: "" }), "A"],
  ])("%s", async (_, file, name) => {
    expect((await csvOf(file)).name).toBe(name);
  });

  test("only by its name if its items start below row 100", async () => {
    const row = (text: string) => `<row>${inline("", text)}</row>`;
    const file = xlsxOf({ A: row("x"), B: row("x").repeat(100) + row(ann), C: row(ann) });
    expect((await csvOf(file)).name).toBe("C");
    expect(await csvOf(file, "B")).toMatchObject({ name: "B", csv: expect.stringMatching(/x\nann@x.net\n$/) });
  });
});

describe("a sheet ends with an error", () => {
  const limit = "a sheet has rows 1 to 1,048,576; repair the workbook in a spreadsheet program, or export it as CSV";
  const long = "a ".repeat(600_000);
  const textless = '<c r="B3" t="s"><v>99</v></c>';
  const cellIn = (row: number | string, place: string, text = ann, texts: readonly string[] = []) =>
    xlsxOf({ S: `<row${row && ` r="${row}"`}>${inline(place, text)}</row>` }, { texts });

  test.each<[string, () => Uint8Array, string]>([
    ["above the last row", () => cellIn("1048577", "A1"), `l.xlsx: sheet "S", row 1048577: ${limit}`],
    ["far above the last row", () => cellIn("99999999999", "A1"), `sheet "S", row 99999999999: ${limit}`],
    ["above the first row", () => cellIn("0", "A1"), `sheet "S", row 0: ${limit}`],
    ["in a row without end", () => cellIn("Infinity", "A1"), 'sheet "S": there is no row "Infinity"'],
    ["in a row without number", () => cellIn("1e9", "A1"), 'sheet "S": there is no row "1e9"'],
    ["right of the last column", () => cellIn(7, "XFE7"), 'sheet "S", cell XFE7: a sheet has columns A to XFD; repair'],
    ["in a cell with a long name", () => cellIn("", `${"Z".repeat(900)}1`), `there is no cell "${"Z".repeat(20)}"`],
    ["in no cell", () => cellIn("", "7"), 'sheet "S": there is no cell "7"'],
    ["in a long text", () => cellIn("", "A1", long), 'sheet "S", cell A1: the row is over 1 MiB'],
    ["in a long shared text", () => cellIn("", "A1", ann, [`<t>${long}</t>`]), "a text of its cells is over 1 MiB"],
    [
      "at a text that is missing",
      () => xlsxOf({ S: `<row r="3">${inline("A3", ann)}${textless}</row>` }, { texts: ["<t>a</t>"] }),
      'l.xlsx: sheet "S", cell B3: its text, number 99, is missing; repair the workbook',
    ],
    [
      "where its XML is cut off",
      () => xlsxOf({ S: `<row>${inline("A1", ann)}` }),
      "a damaged spreadsheet file: its XML ends too early; export it as CSV",
    ],
    ["without sheets", () => xlsxOf({ Chart: undefined }), "it has no sheet with cells"],
  ])("%s", async (_, file, message) => {
    const reading = csvOf(file());
    await expect(reading).rejects.toThrow(message);
    await expect(reading).rejects.toThrow(TableError);
  });

  test("when its signal is aborted", async () => {
    const ending = new AbortController();
    ending.abort(new Error("stopped"));
    const opening = openSheet("l.xlsx", once(xlsx), profiles.email, undefined, ending.signal);
    await expect(opening).rejects.toThrow("stopped");
  });
});

describe("opening a workbook", () => {
  test.each<[string, () => Uint8Array, string, (typeof ChoiceError | typeof TableError)?, string?]>([
    ["has no such sheet", () => xlsx, 'no sheet "Nope"; the sheets are "Info", "People"', ChoiceError, "Nope"],
    ["has the sheet in other case", () => xlsx, 'no sheet "people" (did you mean "People"?)', ChoiceError, "people"],
    ["is cut off", () => xlsx.subarray(0, 1000), "damaged or cut off; save it anew"],
    [
      "is another archive",
      () => renamed("xl/workbook.xml", "xx/workbook.xml"),
      "a zip archive without a workbook",
      ChoiceError,
    ],
    ["says that a part is large", () => withLength(600_000_000), "too large to read"],
    ["is packed too well", () => withLength(70_000_000), "too large to read"],
    ["lies about a length", () => withLength(10), "a damaged spreadsheet file"],
  ])("refuses a file that %s", async (_, file, message, type = TableError, wanted) => {
    const opening = csvOf(file(), wanted);
    await expect(opening).rejects.toThrow(message);
    await expect(opening).rejects.toThrow(type);
  });

  test("refuses a file that has a password", async () => {
    const file = await writeXlsx({ sheets, encryption: { password: "x", spinCount: 1000 } });
    await expect(csvOf(file)).rejects.toThrow(TableError);
  });
});

/** Returns the workbook with another name for a part, in both places of the archive. */
function renamed(name: string, other: string): Uint8Array {
  return Buffer.from(Buffer.from(xlsx).toString("latin1").replaceAll(name, other), "latin1");
}

/** Returns the workbook with another length of its last part in the directory. */
function withLength(length: number): Uint8Array {
  const file = Buffer.from(xlsx);
  file.writeUInt32LE(length, file.lastIndexOf(Buffer.from([0x50, 0x4b, 1, 2])) + 24);
  for (const { index } of file.toString("latin1").matchAll(/PK\x01\x02/g)) file.writeUInt32LE(length, index + 24);
  return file;
}

test("a damaged file gives rows, a TableError or a ChoiceError", async () => {
  const change = fc.record({ at: fc.nat(xlsx.length - 1), byte: fc.nat(255) });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 8 }), async (changes) => {
      const file = Buffer.from(xlsx);
      for (const { at, byte } of changes) file[at] = byte;
      await csvOf(file).catch((error) => {
        if (!(error instanceof TableError || error instanceof ChoiceError)) throw error;
      });
    }),
    { numRuns: times(300) },
  );
});

test("the parts of an archive are listed", () => {
  expect(listParts(inMemory(Buffer.from(xlsx)))?.map(({ name }) => name)).toContain("xl/workbook.xml");
  expect(listParts(inMemory(Buffer.from("PK")))).toBeUndefined();
});
