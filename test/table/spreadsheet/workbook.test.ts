/** Covers reading a sheet of a spreadsheet file as CSV, and what damaged and hostile files do. */
import fc from "fast-check";
import { writeOds } from "hucre/ods";
import { writeXlsx } from "hucre/xlsx";
import { describe, expect, test } from "vitest";
import { ChoiceError } from "../../../src/files/errors.js";
import { profiles } from "../../../src/run/item.js";
import { TableError } from "../../../src/table/errors.js";
import { listParts } from "../../../src/table/spreadsheet/archive.js";
import { openSheet } from "../../../src/table/spreadsheet/workbook.js";

async function* once(bytes: Uint8Array) {
  yield bytes;
}

async function csvOf(file: Uint8Array, sheet?: string): Promise<{ name: string; csv: string }> {
  const { name, bytes } = await openSheet("l.xlsx", once(file), profiles.email, sheet);
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return { name, csv: Buffer.concat(chunks).toString() };
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
  test("is the first with items, as text with the addresses of links", async () => {
    expect(await csvOf(xlsx)).toEqual({ name: "People", csv: people });
  });

  test("is the named one, with its blank rows", async () => {
    expect(await csvOf(xlsx, "Info")).toEqual({ name: "Info", csv: "Export\n\nmade by hand\n" });
  });

  test("of an OpenDocument file is read too", async () => {
    const rows = [["email"], ["b@x.net"]];
    const { csv } = await csvOf(
      await writeOds({
        sheets: [
          { name: "Info", rows: [["x"]] },
          { name: "P", rows },
        ],
      }),
    );
    expect(csv).toBe("email\nb@x.net\n");
  });

  test("is read from an archive with comments and further fields of its parts", async () => {
    const file = withNotes(Buffer.from(xlsx));
    expect(listParts(file)).toEqual(listParts(Buffer.from(xlsx)));
    expect(await csvOf(file)).toEqual({ name: "People", csv: people });
  });
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

describe("a file is refused that", () => {
  test.each<[string, () => Uint8Array, string, new (message?: string) => Error]>([
    ["has no such sheet", () => xlsx, 'no sheet "Nope"; the sheets are "Info", "People"', ChoiceError],
    ["is cut off", () => xlsx.subarray(0, 1000), "a damaged zip archive or spreadsheet file", TableError],
    [
      "is another archive",
      () => renamed("xl/workbook.xml", "xx/workbook.xml"),
      "a zip archive; export it",
      ChoiceError,
    ],
    ["says that a part is large", () => withLength(600_000_000), "too large to read", TableError],
    ["is packed too well", () => withLength(70_000_000), "too large to read", TableError],
    ["lies about a length", () => withLength(10), "a damaged spreadsheet file", TableError],
  ])("%s", async (_, file, message, type) => {
    const opening = csvOf(file(), message.startsWith("no sheet") ? "Nope" : undefined);
    await expect(opening).rejects.toThrow(message);
    await expect(opening).rejects.toThrow(type);
  });

  test("has a password", async () => {
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
  for (const { index } of file.toString("latin1").matchAll(/PK\x01\x02/g))
    file.writeUInt32LE(length, index + 24);
  return file;
}

test("damaged files end with an error of ours, or with rows", async () => {
  const change = fc.record({ at: fc.nat(xlsx.length - 1), byte: fc.nat(255) });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 8 }), async (changes) => {
      const file = Buffer.from(xlsx);
      for (const { at, byte } of changes) file[at] = byte;
      await csvOf(file).catch((error) => {
        if (!(error instanceof TableError || error instanceof ChoiceError)) throw error;
      });
    }),
    { numRuns: 300 },
  );
});

test("the parts of an archive are listed with their lengths", () => {
  expect(listParts(Buffer.from(xlsx))?.map(({ name }) => name)).toContain("xl/workbook.xml");
  expect(listParts(Buffer.from("PK"))).toBeUndefined();
});
