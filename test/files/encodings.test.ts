/** Covers files in encodings that are not UTF-8: no row is fake for its bytes, and no advice makes other letters of them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { decodeWindows1252 } from "../../src/core/table/bytes.js";
import { idv } from "../support/run-here.js";
import { fixtures } from "../support/run-idv.js";
import { folderOf } from "../support/temporary-folder.js";

const read = (encoding: string) => readFileSync(join(fixtures, "encodings", `${encoding}.csv`));
const statusesIn = (table: string) =>
  table
    .split("\n")
    .slice(1, -1)
    .map((line) => line.split(",")[3]);

// The third row has a domain in the encoding, the fourth a local part.
const few = ["euc-jp", "gb18030", "big5", "euc-kr", "windows-1251", "koi8-r", "windows-1250"];
describe.each([
  ["shift_jis", ["ok", "disposable", "", ""]] as const,
  ...few.map((name) => [name, ["ok", "disposable", "", "ok"]] as const),
  ["windows-1252", ["ok", "disposable", "ok", "ok", "ok", "ok"]] as const,
])("a file in %s", (encoding, statuses) => {
  test("gets no fake rows, and a note names its encoding", async () => {
    const stdin = read(encoding);
    const { stdout, stderr } = await idv(["emails"], { stdin });
    expect(statusesIn(stdout)).toEqual(statuses);
    expect(stderr).toContain(`\n2 rows have items that are not UTF-8; pass --encoding ${encoding}\n`);
    expect(stdout.replace(/,\w*$/gm, "")).toBe(stdin.toString("latin1"));
  });

  test.each([encoding, "auto"])("gets a status in every row with --encoding %s", async (named) => {
    const { stdout, stderr } = await idv(["emails", "--encoding", named], { stdin: read(encoding) });
    expect(statusesIn(stdout)).toEqual(statuses.map((status) => status || "ok"));
    expect(stderr).not.toContain("not UTF-8");
    const remark = `idv: standard input is ${encoding.toUpperCase()}; the output is UTF-8\n`;
    expect(stderr.includes(remark)).toBe(named === "auto");
  });

  test("keeps its encoding with --encoding auto:same", async () => {
    const { stdout, stderr } = await idv(["emails", "--encoding", "auto:same"], { stdin: read(encoding) });
    expect(stdout.replace(/,\w*$/gm, "")).toBe(read(encoding).toString("latin1"));
    expect(stderr).not.toContain("the output is UTF-8");
  });
});

test("lines that are not UTF-8 keep their letters in every output, and bytes that are UTF-8 too", async () => {
  const rows = ["1,a.lee@larch-and-oak.com,M\u00fcnchen", "2,b@larch-and-oak.com,\u20ac \u00fc"];
  const text = `id,email,Stra\u00dfe\n${rows.join("\n")}\n`;
  const list = Buffer.concat(text.split("\n").map((line, i) => Buffer.from(`${line}\n`, i < 2 ? "latin1" : "utf8")));
  const home = folderOf({ "list.csv": list.subarray(0, -1) });
  const checked = text
    .replace(/$/gm, ",ok")
    .replace(/,ok\n1/, ",status\n1")
    .replace(/\n,ok$/, "\n");
  const decoders: Record<string, (bytes: Buffer) => string> = {
    "windows-1252": decodeWindows1252,
    "utf-16le": (bytes) => bytes.toString("utf16le"),
    // With its mark, without which nobody knows the order of its bytes.
    "UTF-16": (bytes) => (bytes[0] === 0xff ? bytes.subarray(2).toString("utf16le") : ""),
    "utf-8": (bytes) => bytes.toString(),
    "utf-8-bom": (bytes) => bytes.toString().replace(/^\ufeff/, ""),
  };
  for (const [encoding, decode] of Object.entries(decoders)) {
    const args = ["list.csv", "-o", "out.csv", "--force", "--offline", "-q", "--encoding", `:${encoding}`];
    const { code, stderr } = await idv(["emails", ...args], { home });
    expect(code, stderr).toBe(0);
    expect(decode(readFileSync(join(home, "out.csv")))).toBe(checked);
  }
  await idv(["emails", "list.csv", "-o", "a.xlsx", "--offline", "-q"], { home });
  await idv(["emails", "a.xlsx", "-o", "b.csv", "--update", "--offline", "-q"], { home });
  expect(readFileSync(join(home, "b.csv"), "utf8")).toBe(checked);
  const none = await idv(["emails", "list.csv", "-o", "c.csv", "--encoding", ":shift_jis", "--offline"], { home });
  expect([none.code, none.stderr]).toEqual([6, expect.stringContaining("U+00DF does not exist in shift_jis")]);
});

test("an encoding that is not sure is not named", async () => {
  const stdin = Buffer.from("id,email\n1,m\x81ller@larch-and-oak.com\n", "latin1");
  for (const args of [[], ["--encoding", "auto"]]) {
    const { stdout, stderr } = await idv(["emails", ...args], { stdin });
    expect(stdout.replace(/,\w*$/gm, "")).toBe(stdin.toString("latin1"));
    expect(stderr).toContain("\n1 row has an item that is not UTF-8; name the encoding with --encoding\n");
    const unsure = "standard input: cannot detect its encoding, so --encoding auto is ignored; name the encoding\n";
    expect(stderr.includes(unsure)).toBe(args.length > 0);
  }
});

test("the encoding of a header is named", async () => {
  const { stderr } = await idv(["emails"], { stdin: read("shift_jis-header") });
  expect(stderr).toContain("idv: standard input: its header is not UTF-8; pass --encoding shift_jis\n");
});

describe("--encoding :OUT", () => {
  const rows = Array.from({ length: 20_000 }, (_, i) => `${i},Jürgen 漢😀,a${i}@larch-and-oak.com\r\n`);
  const table = `\ufeffid,name,email\r\n${rows.join("")}`;

  test("gives a file back as it was, of any size", async () => {
    const home = folderOf({ "l.csv": Buffer.from(table, "utf16le") });
    const { code, stderr } = await idv(["emails", "-I", "--encoding", ":same", "l.csv"], { home });
    expect(code, stderr).toBe(0);
    const written = readFileSync(join(home, "l.csv")).toString("utf16le");
    expect(written.replace(/,\w*\r$/gm, "\r")).toBe(table);
    expect(stderr).toContain("idv: l.csv is UTF-16LE\n");
  });

  test("leaves out the byte order mark where there is none", async () => {
    const home = folderOf({ "l.csv": "\ufeffname,email\nJürgen,a@b.net\n" });
    expect((await idv(["emails", "-q", "l.csv", "--encoding", ":latin1", "-o", "o.csv.gz"], { home })).code).toBe(0);
    const written = gunzipSync(readFileSync(join(home, "o.csv.gz")));
    expect(written.toString("latin1")).toBe("name,email,status\nJürgen,a@b.net,ok\n");
  });

  const missing = "o.csv: the character U+6F22 does not exist in windows-1252; use UTF-8";
  test.each<[string, string, number, string]>([
    ["a character that does not exist in it", "-o o.csv --encoding :windows-1252", 6, missing],
    ["an unknown name", "-o o.csv --encoding :klingon", 2, 'unknown encoding "klingon"'],
    ["a spreadsheet file", "-o o.xlsx --encoding :same", 2, "an encoding of the output is for text"],
    ["several outputs", "--split parts --encoding :same", 2, "the files of --split are UTF-8"],
  ])("fails for %s", async (_, words, code, message) => {
    const home = folderOf({ "l.csv": "name,email\nJü 漢,a@larch-and-oak.com\n" });
    const stderr = expect.stringContaining(message);
    expect(await idv(["emails", "l.csv", ...words.split(" ")], { home })).toMatchObject({ code, stderr });
    expect(readdirSync(home).filter((name) => name.startsWith("o."))).toEqual([]);
  });
});
