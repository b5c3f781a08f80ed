/** Covers one table of each kind through the built program; test/table, test/files and test/cli/bulk have the others. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { compress, decompress } from "@cloudpss/zstd";
import { readXlsx, writeXlsx } from "hucre/xlsx";
import { expect, test } from "vitest";
import { fixtures, idv } from "../../support/run-idv.js";
import { jsonLines } from "../../support/states.js";
import { folderOf } from "../../support/temporary-folder.js";
import { xlsxOf } from "../../support/workbooks.js";

const csv = 'id,email,note\n1,ann@larch-and-oak.com,"a ""b"""\n2,x@mailinator.com,é\n';
const checked = 'id,email,note,status\n1,ann@larch-and-oak.com,"a ""b""",ok\n2,x@mailinator.com,é,disposable\n';
const contacts =
  "Name,E-mail 1 - Type,E-mail 1 - Value,E-mail 2 - Value\nAnn,Work,ann@larch-and-oak.com,b@mailinator.com\nBob,,b@mailinator.com,\n";
const lists = { "allow.txt": "gmial.com\n", "deny.txt": "larch-and-oak.com\n" };

interface Case {
  readonly what: string;
  readonly input: string | Uint8Array;
  /** Words of the command line. */
  readonly args?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly output: string;
  /** A part of what is said. */
  readonly said?: string;
  readonly code?: number;
}

test.each<Case>([
  {
    what: "a CSV file as JSON Lines",
    input: csv,
    args: "--format jsonl",
    output:
      '{"id":"1","email":"ann@larch-and-oak.com","note":"a \\"b\\"","status":"ok"}\n' +
      '{"id":"2","email":"x@mailinator.com","note":"é","status":"disposable"}\n',
  },
  {
    what: "JSON Lines as CSV",
    input: '{"id":"1","email":"ann@larch-and-oak.com","note":"a \\"b\\""}\n{"id":"2","email":"x@mailinator.com"}\n',
    args: "--format csv",
    output: 'id,email,note,status\n1,ann@larch-and-oak.com,"a ""b""",ok\n2,x@mailinator.com,,disposable\n',
  },
  {
    what: "UTF-16 as UTF-8",
    input: Buffer.from(`\ufeff${csv.replaceAll(",", "\t")}`, "utf16le"),
    output: `\ufeff${checked.replaceAll(",", "\t")}`,
    said: "idv: list is UTF-16LE; the output is UTF-8\n",
  },
  {
    what: "comments and other quotes",
    input: "# by hand\nemail,note\nann@larch-and-oak.com,'a,''b'''\n",
    args: "--comment # --quote '",
    output: "# by hand\nemail,note,status\nann@larch-and-oak.com,'a,''b''',ok\n",
  },
  {
    what: "a title above the table",
    input: "Export from CRM\r\nid;email\r\n1;ann@larch-and-oak.com\r\n2;b@mailinator.com\r\n",
    output: "Export from CRM\r\nid;email;status\r\n1;ann@larch-and-oak.com;ok\r\n2;b@mailinator.com;disposable\r\n",
  },
  {
    what: "all columns, each with a status",
    input: contacts,
    args: "-c *",
    output:
      "Name,E-mail 1 - Type,E-mail 1 - Value,E-mail 2 - Value,status,status_E-mail 2 - Value\n" +
      "Ann,Work,ann@larch-and-oak.com,b@mailinator.com,ok,disposable\nBob,,b@mailinator.com,,disposable,\n",
    said: "2 units used",
  },
  {
    what: "the rest of an earlier run",
    input: "email,status\nann@larch-and-oak.com,\nb@mailinator.com,quota_exceeded\nc@mailinator.com,ok\n",
    args: "--update",
    output: "email,status\nann@larch-and-oak.com,ok\nb@mailinator.com,disposable\nc@mailinator.com,ok\n",
    said: "2 units used",
  },
  {
    what: "the rows that are selected",
    input: "email\nann@larch-and-oak.com\nbob@mailinator.com\n\nANN@larch-and-oak.com\nbroken\n",
    args: "--dedupe --only ok",
    output: "email,status\nann@larch-and-oak.com,ok\n",
    said: "5 rows, 3 distinct",
  },
  {
    what: "canonical addresses, with formulas escaped",
    input: "email,n\n=cmd@larch-and-oak.com,=1\n",
    args: "--add canonical --set escapeFormulas=true",
    output: "email,n,status,canonical\n=cmd@larch-and-oak.com,=1,ok,'=cmd@larch-and-oak.com\n",
  },
  {
    what: "own lists from the environment",
    input: "a@gmial.com\nb@mailinator.com\nann@larch-and-oak.com\n",
    env: { IDV_ALLOW: "allow.txt", IDV_DENY: "deny.txt" },
    output: "a@gmial.com,ok\nb@mailinator.com,disposable\nann@larch-and-oak.com,disposable\n",
  },
  {
    what: "rows without the bad ones",
    input: "id,email\n1,ann@larch-and-oak.com\n2,a@b.net,x\n3\n",
    args: "--bad-rows skip",
    output: "id,email,status\n1,ann@larch-and-oak.com,ok\n3\n",
    said: "idv: list:3: 3 fields where the header has 2; quote the fields that hold the delimiter, or name the delimiter with -d\n",
  },
  {
    what: "a sheet with a formula without a value",
    input: xlsxOf({
      S: `<row r="1"><c r="A1" t="inlineStr"><is><t>email</t></is></c></row><row r="2"><c r="A2" t="inlineStr"><is><t>ann@larch-and-oak.com</t></is></c></row><row r="3"><c r="A3"><f>LOWER(A1)</f></c></row>`,
    }),
    output: "email,status\nann@larch-and-oak.com,ok\n\n",
    said: "\n1 formula without a stored value, the first in A3: open the workbook in a spreadsheet program, recalculate it and save it\n",
  },
  {
    what: "annotations for GitHub, and the exit code of --fail-on",
    input: "email\nx@mailinator.com\n",
    args: "-q --log github --fail-on disposable",
    output: "email,status\nx@mailinator.com,disposable\n",
    said: "::error file=list,line=2::x@mailinator.com is disposable (disposable-domain: mailinator.com)\nidv: --fail-on: rows found: 1 disposable\n",
    code: 1,
  },
])("a run writes $what", async ({ input, args = "", env = {}, output, said = "", code = 0 }) => {
  const words = args === "" ? [] : args.split(" ");
  const outcome = await idv(["emails", "list", ...words], { home: folderOf({ list: input, ...lists }), env });
  const stdout = Buffer.from(output).toString("latin1");
  expect(outcome).toEqual({ code, stdout, stderr: expect.stringContaining(said) });
});

const notClosed = "a quoted field is never closed; the quote opens in column 2 of the record that starts here";
const manyLines = `${'{"email":"a@b.net"}\n'.repeat(4001)}{"more":1}\n`;
const notThere = 'field "more" is in none of the first rows, so it has no column; pass --format jsonl';
const domains = "no line of list looks like an e-mail address; 3 of 3 are domains: idv domains list";
const cutOff = "list: the gzip data is damaged: it is cut off; get the file again";
test.each<[string, string | Uint8Array, number, string, (readonly string[])?]>([
  ["domains", "acme.com\nlarch-and-oak.com\nbrightmill.co.uk\n", 2, domains],
  ["an open quote", `${csv}3,"x@mailinator.com\n`, 6, `list:4: ${notClosed}; close it or double it`],
  ["gzip that is cut off", gzipSync(csv).subarray(0, -12), 6, cutOff],
  ["JSON Lines, of which CSV would lose a field", manyLines, 6, `list:4002: ${notThere}`, ["--format", "csv"]],
  ["a column that is not there", "email\nann@larch-and-oak.com\n", 2, "", ["-c", "__proto__"]],
])("a run refuses %s and leaves the old output", async (_, input, code, message, args = []) => {
  const home = folderOf({ list: input, "o.csv": "old" });
  const outcome = await idv(["emails", "list", "-q", "-o", "o.csv", ...args], { home });
  expect(outcome).toEqual({ code, stdout: "", stderr: expect.stringMatching(/^idv: .*\n$/) });
  expect(outcome.stderr).toContain(message === "" ? "" : `${message}\n`);
  expect(readFileSync(join(home, "o.csv"), "utf8")).toBe("old");
  const left = readdirSync(home).filter((name) => name !== "state");
  expect(left.sort()).toEqual(["list", "o.csv"]);
});

test("a run writes the format that the name of its output asks for", async () => {
  const home = folderOf({ list: "id;email\n1;ann@larch-and-oak.com\n" });
  expect((await idv(["emails", "list", "-o", "o.tsv"], { home })).code).toBe(0);
  expect(readFileSync(join(home, "o.tsv"), "utf8")).toBe("id\temail\tstatus\n1\tann@larch-and-oak.com\tok\n");
});

test("an export in the encoding of its program is copied with a status in every row", async () => {
  const path = `${fixtures}exports/excel-french.csv`;
  const { code, stdout, stderr } = await idv(["emails", path, "--log", "json"]);
  expect(code, stderr).toBe(0);
  expect(jsonLines(stderr).at(-1)).toMatchObject({ inputs: [{ column: 5, columnName: "Adresse e-mail" }] });
  const added = ["", "", ";status", ";ok", ";disposable", ";", ";fake"];
  const records = readFileSync(path, "latin1").trimEnd().split("\r\n");
  expect(stdout).toBe(records.map((record, i) => `${record}${added[i]}\r\n`).join(""));
});

test("a file in Shift_JIS has no fake rows, and --encoding reads it whole", async () => {
  const stdin = readFileSync(join(fixtures, "encodings/shift_jis.csv"));
  const rowsOf = (table: string) => table.split("\n").slice(1, -1);
  const statusesIn = (table: string) => rowsOf(table).map((line) => line.split(",")[3]);
  const unread = await idv(["emails"], { stdin });
  expect(statusesIn(unread.stdout)).toEqual(["ok", "disposable", "", ""]);
  expect(unread.stderr).toContain("\n2 rows have items that are not UTF-8; pass --encoding shift_jis\n");
  const read = await idv(["emails", "--encoding", "shift_jis"], { stdin });
  expect(statusesIn(read.stdout)).toEqual(["ok", "disposable", "ok", "ok"]);
  expect(read.stderr).not.toContain("not UTF-8");
});

test.each<[string, (text: string) => Uint8Array, (bytes: Uint8Array) => Uint8Array]>([
  ["gz", (text) => gzipSync(text), gunzipSync],
  ["zst", (text) => compress(Buffer.from(text)), decompress],
])(
  "a run reads .%s by its first bytes, writes it by its name, and keeps it with -I",
  async (extension, pack, unpack) => {
    const packed = pack(csv);
    const home = folderOf({ list: packed, [`list.csv.${extension}`]: packed });
    const output = `o.csv.${extension}`;
    expect((await idv(["emails", "list", "-q"], { home })).stdout).toBe(Buffer.from(checked).toString("latin1"));
    expect((await idv(["emails", "-q"], { home, stdin: packed })).code).toBe(0);
    expect((await idv(["emails", "-q", "list", "-o", output], { home })).code).toBe(0);
    expect((await idv(["emails", "-q", "-I", "list"], { home })).code).toBe(0);
    for (const name of [output, "list"]) {
      expect(Buffer.from(unpack(readFileSync(join(home, name)))).toString()).toBe(checked);
    }
  },
);

test("other sheets with items are named", async () => {
  const rows = [["email"], ["ann@larch-and-oak.com"]];
  const sheets = ["Customers", "Old", "Older", "Oldest", "Lost"].map((name) => ({ name, rows }));
  const home = folderOf({ "l.xlsx": await writeXlsx({ sheets }) });
  const remark = async (...args: string[]) =>
    (await idv(["emails", "l.xlsx", ...args], { home })).stderr.split("\n")[0];
  expect(await remark()).toBe(
    'idv: l.xlsx: sheet "Customers"; "Old", "Older", "Oldest", and 1 other have items, too: choose one with --sheet, or all with --sheet "*"',
  );
  expect(await remark("--sheet", "Old")).toBe('idv: l.xlsx: sheet "Old"');
});

test("a spreadsheet file becomes CSV, and a spreadsheet file again", async () => {
  const rows = [
    ["id", "email"],
    ["007", "ann@larch-and-oak.com"],
    [2, "b@mailinator.com"],
  ];
  const csv = "id,email,status\n007,ann@larch-and-oak.com,ok\n2,b@mailinator.com,disposable\n";
  const home = folderOf({ "l.xlsx": await writeXlsx({ sheets: [{ name: "People", rows }] }) });
  const printed = await idv(["emails", "l.xlsx"], { home });
  expect({ code: printed.code, output: printed.stdout }, printed.stderr).toEqual({ code: 0, output: csv });
  expect(printed.stderr).toContain('idv: l.xlsx: sheet "People"\n');
  // A run over a part of the list cannot return the workbook.
  const written = await idv(["emails", "l.xlsx", "-o", "o.xlsx", "--shard", "1/1"], { home });
  expect(written.stderr).toContain("styles, formulas and other sheets are not kept, and all cells are text\n");
  const { sheets } = await readXlsx(readFileSync(join(home, "o.xlsx")));
  const lines = csv.trimEnd().split("\n");
  expect(sheets.map(({ name, rows }) => [name, rows])).toEqual([["People", lines.map((line) => line.split(","))]]);
  const back = await idv(["emails", "o.xlsx", "-o", "o.csv", "--update"], { home });
  expect(back.stderr).toContain("0 units used");
  expect(readFileSync(join(home, "o.csv"), "utf8")).toBe(csv);
});
