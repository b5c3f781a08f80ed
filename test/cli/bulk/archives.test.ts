/** Covers zip archives: their tables are files of a run, and the archive comes back with all else as it was. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { writeXlsx } from "hucre/xlsx";
import { describe, expect, test } from "vitest";
import { inMemory, listParts, unpack } from "../../../src/formats/zip/archive.js";
import { readQuota, setQuota } from "../../support/quota.js";
import { idv } from "../../support/run-here.js";
import { folderOf } from "../../support/temporary-folder.js";
import { isFull } from "../../support/tier.js";
import { xlsxOf } from "../../support/workbooks.js";
import { zip } from "../../support/zip.mjs";

const ok = "ann@larch-and-oak.com";
const bad = "b@mailinator.com";
const tables = {
  "lists/subscribed.csv": `id,email\n1,${ok}\n2,${bad}\n`,
  "readme.txt": "Thank you for using us\n",
  "users.json": `[\n  {"email": "${bad}"}\n]\n`,
  "settings.json": '{"theme": "dark"}\n',
  "__MACOSX/._users.json": "x",
};
const checked = {
  "lists/subscribed.csv": `id,email,status\n1,${ok},ok\n2,${bad},disposable\n`,
  "users.json": `[\n  {"email": "${bad}","status": "disposable"}\n]\n`,
};

async function filesIn(archive: Buffer): Promise<Record<string, string>> {
  const file = inMemory(archive);
  const found: Record<string, string> = {};
  for (const part of listParts(file)!) {
    const pieces: Buffer[] = [];
    for await (const piece of unpack(file, part)) pieces.push(piece);
    found[part.name] = Buffer.concat(pieces).toString("latin1");
  }
  return found;
}

const run = (home: string, ...args: string[]) => idv(["emails", ...args], { home });
const read = (home: string, name: string) => readFileSync(join(home, name));
const textOf = (home: string, name: string) => read(home, name).toString();
const archivesIn = (home: string) =>
  readdirSync(home, "utf8")
    .filter((name) => /zip|idv/.test(name))
    .sort();

test.each([
  [
    "a text that names an address",
    "Export of the shop, 28 November 2026\nQuestions: help@larch-and-oak.com\nThank you\n",
  ],
  ["a text whose last line is like a header", "The shop.\n\nAsk help@larch-and-oak.com\n\nColumns: id, email\n"],
  ["settings", "contact=a@larch-and-oak.com\nrows=10\nfrom=2026\n"],
])("with %s give it back as it is, and charge nothing for it", async (_, text) => {
  const home = folderOf({ "a.zip": zip({ "a.csv": `email\n${ok}\n`, "readme.txt": text }) });
  const { code, stderr } = await idv(["emails", "a.zip", "--offline", "-I", "--drop", "fake"], { home });
  expect([code, stderr]).toEqual([0, expect.stringContaining("a.zip: not validated: readme.txt\n")]);
  const parts = listParts(inMemory(readFileSync(join(home, "a.zip"))));
  expect(parts?.find(({ name }) => name === "readme.txt")?.length).toBe(text.length);
  expect((await readQuota(home)).used).toBe(1);
});

test.each([
  ["a list", `${ok}\n${bad}\n`, `${ok},ok\n${bad},disposable\n`],
  ["a table with few items", `id\temail\n1\t${ok}\n2\t\n3\t\n`, `id\temail\tstatus\n1\t${ok}\tok\n2\t\t\n3\t\t\n`],
  ["a list with a word for none", "email\nn/a\nn/a\n", "email,status\nn/a,\nn/a,\n"],
  [
    "a sparse table",
    `id;name;email\n${"1;Ann;\n".repeat(200)}2;Bob;${ok}\n`,
    `id;name;email;status\n${"1;Ann;;\n".repeat(200)}2;Bob;${ok};ok\n`,
  ],
])("with %s in a .txt have a table in it", async (_, text, output) => {
  const home = folderOf({ "a.zip": zip({ "a.csv": `email\n${ok}\n`, "list.txt": text }) });
  expect((await idv(["emails", "a.zip", "--offline", "-q", "-o", "out/"], { home })).code).toBe(0);
  expect(readFileSync(join(home, "out/list.txt"), "utf8")).toBe(output);
});

test.each(["out.zip", "out/"])("of a named run need no free units to come a second time: %s", async (output) => {
  const home = folderOf({ "a.zip": zip({ "a.csv": "email\na@larch-and-oak.com\nb@larch-and-oak.com\n" }) });
  await setQuota(home, { limit: 2 });
  const again = () => idv(["emails", "a.zip", "-q", "--offline", "-o", output], { home, env: { IDV_RUN: "nightly" } });
  expect([await again(), await again()]).toMatchObject([{ code: 0 }, { code: 0 }]);
  expect(await readQuota(home)).toMatchObject({ used: 2 });
});

describe("the tables of an archive", () => {
  test("go to a folder, and an item in two is charged once", async () => {
    const home = folderOf({ "a.zip": zip(tables) });
    const { code, stderr } = await run(home, "a.zip", "-o", "o/");
    expect(code, stderr).toBe(0);
    expect(stderr).toContain("a.zip: not validated: readme.txt, settings.json, __MACOSX/._users.json\n");
    expect(stderr).toContain("a.zip/lists/subscribed.csv: 2 rows, 2 distinct e-mail addresses in column 2");
    expect(readdirSync(join(home, "o"))).toEqual(["lists", "users.json"]);
    for (const [name, text] of Object.entries(checked)) expect(textOf(home, `o/${name}`)).toBe(text);
    expect((await readQuota(home)).used).toBe(2);
  });

  test.each([
    ["-o b.zip --log gitlab:b.zip", "cannot be the file of annotations and the output"],
    ["-o b.zip --report b.zip", "cannot be the report and the output"],
    ["-o b.zip --log json:b.zip", "cannot be the summary file and the output"],
    ["-o b.zip --bad-rows skip:b.zip", "cannot be the file of bad rows and the output"],
    ["-I.bak --log sarif:a.zip.bak", "cannot be the backup and the file of annotations"],
    ["-I --report a.zip", "cannot be the report and the output"],
  ])("stay as they are if two outputs go to one file: %s", async (options, message) => {
    const before = zip(tables);
    const home = folderOf({ "a.zip": before });
    const { code, stderr } = await run(home, "a.zip", "-q", ...options.split(" "));
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
    expect(readdirSync(home)).not.toContain("b.zip");
    expect(read(home, "a.zip").equals(before)).toBe(true);
  });

  test.each([["-o", "b.zip"], ["-I.bak"]])("come back in the archive with %s %s", async (...args) => {
    const before = zip(tables);
    const home = folderOf({ "a.zip": before });
    expect((await run(home, "a.zip", "-q", ...args)).code).toBe(0);
    const after = read(home, args[0] === "-o" ? "b.zip" : "a.zip");
    expect(await filesIn(after)).toEqual({ ...tables, ...checked });
    const entriesOf = (bytes: Buffer) => listParts(inMemory(bytes))!.map(({ name, method }) => [name, method]);
    expect(entriesOf(after)).toEqual(entriesOf(before));
    expect(after.includes(zip({ "readme.txt": tables["readme.txt"] }).subarray(0, 60))).toBe(true);
    expect(archivesIn(home)).toEqual(args[0] === "-o" ? ["a.zip", "b.zip"] : ["a.zip", "a.zip.bak"]);
    if (args[0] !== "-o") expect(read(home, "a.zip.bak").equals(before)).toBe(true);
    const again = await run(home, args[0] === "-o" ? "b.zip" : "a.zip", "-q", "-I", "--update");
    expect(again, again.stderr).toMatchObject({ code: 0, stderr: "" });
    expect((await readQuota(home)).used).toBe(2);
  });

  test("come back with -I, whatever the name of the archive is", async () => {
    const home = folderOf({ "export.bin": zip(tables) });
    expect((await run(home, "export.bin", "-q", "-I")).code).toBe(0);
    expect(await filesIn(read(home, "export.bin"))).toEqual({ ...tables, ...checked });
  });

  test("may be workbooks and compressed files", async () => {
    const cell = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`;
    const rows = ["email", ok, bad].map((text) => `<row>${cell(text)}</row>`).join("");
    const home = folderOf({ "a.zip": zip({ "b.xlsx": xlsxOf({ S: rows }), "c.csv.gz": gzipSync(`email\n${bad}\n`) }) });
    expect((await run(home, "a.zip", "-q", "-I")).code).toBe(0);
    expect(listParts(inMemory(read(home, "a.zip")))!.map(({ name }) => name)).toEqual(["b.xlsx", "c.csv.gz"]);
    expect((await run(home, "a.zip", "-q", "-o", "o/", "--update")).code).toBe(0);
    expect(gunzipSync(read(home, "o/c.csv.gz")).toString()).toBe(`email,status\n${bad},disposable\n`);
    expect((await run(home, "o/b.xlsx", "-q", "--update", "-o", "o.csv")).code).toBe(0);
    expect(textOf(home, "o.csv")).toBe(`email,status\n${ok},ok\n${bad},disposable\n`);
    expect((await readQuota(home)).used).toBe(2);
  });

  test("go to standard output or a file if there is one", async () => {
    const home = folderOf({ "a.zip": zip({ "s.csv": `email\n${ok}\n`, "readme.txt": "Hello\n" }) });
    expect(await run(home, "a.zip", "-q")).toEqual({ code: 0, stdout: `email,status\n${ok},ok\n`, stderr: "" });
    const several = folderOf({ "a.zip": zip(tables) });
    expect(await run(several, "a.zip")).toMatchObject({
      ...{ code: 2, stdout: "" },
      stderr: expect.stringContaining(
        "the 2 files of a.zip cannot share one output: write them to a folder with -o FOLDER/, to one file with -o FILE.zip, or replace them with -I\n",
      ),
    });
    expect((await readQuota(several)).used).toBe(0);
  });

  test("are named with the archive that appears with the last of them", async () => {
    const home = folderOf({ "a.zip": zip({ "a.csv": `email\n${ok}\n`, "b.csv": `email\n${bad}\n` }) });
    const { stderr } = await run(home, "a.zip", "-o", "b.zip", "--report", "r.md", "--log", "json");
    const sizes = ["b.zip", "r.md"].map((path) => ({ path, bytes: read(home, path).length }));
    const [first, last, total] = stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).outputs);
    expect([first, last, total]).toEqual([[], sizes, sizes]);
    expect((await run(home, "a.zip", "-I.bak")).stderr).toMatch(/written: a\.zip \(.*\), a\.zip\.bak \(/);
  });

  test("work with --dry-run, --split and annotations", async () => {
    const home = folderOf({ "a.zip": zip(tables) });
    expect((await run(home, "a.zip", "--dry-run", "-o", "b.zip")).stderr).toContain("a.zip/users.json");
    expect((await readQuota(home)).used).toBe(0);
    expect((await run(home, "a.zip", "-q", "--split", "s", "--format", "csv")).code).toBe(6);
    const one = folderOf({ "a.zip": zip({ "a.csv": `email\n${ok}\n`, "b.csv": `email\n${ok}\n${bad}\n` }) });
    expect((await run(one, "a.zip", "-q", "--split", "s")).code).toBe(0);
    expect(textOf(one, "s/ok.csv")).toBe(`email,status\n${ok},ok\n${ok},ok\n`);
    const github = await run(home, "a.zip", "--log", "github", "-o", "o/");
    expect(github.stdout + github.stderr).toContain("file=a.zip/lists/subscribed.csv,line=3");
  });

  test("that have statuses already end a run that would replace them", async () => {
    const parts = { "done.csv": `email,status\n${ok},ok\nx@larch-and-oak.com,\n`, "new.csv": `email\n${ok}\n` };
    const home = folderOf({ "c.zip": zip(parts) });
    const { code, stderr } = await run(home, "c.zip", "-q", "-I");
    expect([code, stderr]).toEqual([2, expect.stringContaining("c.zip/done.csv: has statuses already")]);
    expect(await filesIn(read(home, "c.zip"))).toEqual(parts);
  });

  test("end the run if none has the column named with -c", async () => {
    const home = folderOf({ "a.zip": zip(tables) });
    expect((await run(home, "a.zip", "-c", "email", "-q", "-o", "b.zip")).code).toBe(0);
    const stderr = expect.stringContaining('no column "mail"');
    expect(await run(home, "a.zip", "-c", "mail", "-q", "-o", "c.zip")).toMatchObject({ code: 2, stderr });
    expect(readdirSync(home)).not.toContain("c.zip");
  });
});

describe("an archive on standard input", () => {
  const stdin = zip(tables);
  const twoTables = {
    code: 2,
    stderr: expect.stringContaining("the 2 files of standard input cannot share one output"),
  };

  test("gives the same as one in a file, and leaves no copy", async () => {
    const home = folderOf({ "copies/x": "" });
    const copies = join(home, "copies");
    const env = { TMPDIR: copies };
    const { code, stderr } = await idv(["emails", "-o", "o/"], { stdin, home, env });
    expect(code, stderr).toBe(0);
    expect(stderr).toContain("standard input/users.json: 1 row, no new e-mail addresses in column 1");
    for (const [name, text] of Object.entries(checked)) expect(textOf(home, `o/${name}`)).toBe(text);
    expect((await idv(["emails", "-", "-q", "-o", "b.zip"], { stdin, home, env })).code).toBe(0);
    expect(await filesIn(read(home, "b.zip"))).toEqual({ ...tables, ...checked });
    const one = zip({ "l.csv": `${ok}\n` });
    expect(await idv(["emails", "-q"], { stdin: one, home, env })).toMatchObject({ code: 0, stdout: `${ok},ok\n` });
    expect(readdirSync(copies)).toEqual(["x"]);
  });

  test.each([stdin, gzipSync(stdin)])("is recognised, however few bytes come first", async (bytes) => {
    const home = folderOf({});
    const pieces = [bytes.subarray(0, 2), bytes.subarray(2, 5), bytes.subarray(5)];
    const { code, stderr } = await idv(["emails", "-q", "-o", "o/"], { pieces, home });
    expect(code, stderr).toBe(0);
    for (const [name, text] of Object.entries(checked)) expect(textOf(home, `o/${name}`)).toBe(text);
  });

  test("needs a folder or an archive as output for several tables, and is refused with -I", async () => {
    expect(await idv(["emails"], { stdin })).toMatchObject(twoTables);
    expect(await idv(["emails", "-I"], { stdin })).toMatchObject({
      code: 2,
      stderr: "idv: --in-place needs a FILE; standard input cannot be replaced\n",
    });
  });

  test("may be a workbook, compressed or not a table at all", async () => {
    const sheet = xlsxOf({ S: '<row r="1"><c r="A1" t="inlineStr"><is><t>b@mailinator.com</t></is></c></row>' });
    expect(await idv(["emails", "-q"], { stdin: sheet })).toMatchObject({ code: 0, stdout: `${bad},disposable\n` });
    expect(await idv(["emails", "-q"], { stdin: gzipSync(stdin) })).toMatchObject(twoTables);
    expect((await idv(["emails"], { stdin: zip({ "x.pdf": "x" }) })).stderr).toBe(
      "idv: standard input: a zip archive without tables\n",
    );
    expect(await idv(["emails"], { stdin, env: { TMPDIR: "/missing" } })).toMatchObject({
      code: 6,
      stderr: "idv: a copy of standard input: cannot be written: the folder does not exist\n",
    });
  });
});

test.each([1, 50_000])("an archive appears with all of its tables, or not at all: a bad row after %i", async (rows) => {
  const broken = `id,email\n${`1,${ok}\n`.repeat(rows)}2,${bad},x\n`;
  const home = folderOf({ "a.zip": zip({ "a.csv": `email\n${ok}\n`, "b.csv": broken, "c.csv": `email\n${ok}\n` }) });
  const before = read(home, "a.zip");
  for (const args of [["-o", "b.zip"], ["-I"]]) {
    const { code, stderr } = await run(home, "a.zip", "-q", ...args);
    expect(code).toBe(6);
    expect(stderr).toContain(`a.zip/b.csv:${rows + 2}: 3 fields where the header has 2`);
    expect(archivesIn(home)).toEqual(["a.zip"]);
    expect(read(home, "a.zip").equals(before)).toBe(true);
  }
  expect((await run(home, "a.zip", "-q", "-o", "o/")).code).toBe(6);
  expect(readdirSync(join(home, "o"))).toEqual(["a.csv", "c.csv"]);
});

test("the quota ends in the middle of an archive", async () => {
  const home = folderOf({ "a.zip": zip({ "a.csv": `email\n${ok}\n`, "b.csv": `email\n${bad}\n` }) });
  await setQuota(home, { limit: 1 });
  expect((await run(home, "a.zip", "-q", "-I")).code).toBe(4);
  expect(await filesIn(read(home, "a.zip"))).toEqual({
    "a.csv": `email,status\n${ok},ok\n`,
    "b.csv": `email,status\n${bad},quota_exceeded\n`,
  });
});

const csv = { "a.csv": `email\n${ok}\n` };
const two = zip({ ...csv, "b.csv": `email\n${bad}\n` });
/** Returns a copy with a number written at a place, which counts from the directory on if it is not given otherwise. */
function patched(bytes: 2 | 4, value: number, at: number, archive = zip(csv), from = archive.indexOf("PK\x01\x02")) {
  const copy = Buffer.from(archive);
  copy.writeUIntLE(value, from + at, bytes);
  return copy;
}

const unpacked = "a.zip/a.csv: cannot be unpacked:";
test.each<[string, Buffer, string]>([
  ["is torn", zip(csv).subarray(0, 60), "a.zip: a damaged zip archive; unpack it and pass the files"],
  ["is torn at its end", zip(csv).subarray(0, -10), "a.zip: a damaged zip archive"],
  ["has no tables", zip({ "a.png": "x" }), "a.zip: a zip archive without tables"],
  [
    "has its tables in archives",
    zip({ "a.png": "x", "b.zip": zip(csv) }),
    "a.zip/b.zip: an archive in another file is not put back; write its tables to a folder with -o FOLDER/",
  ],
  ["has no items", zip({ "a.csv": "a,b\n1,2\n" }), "no column looks like e-mail addresses"],
  ["is encrypted", patched(2, 1, 8), `${unpacked} it is encrypted`],
  ["is packed in an unknown way", patched(2, 99, 10), `${unpacked} a.csv has an unknown compression`],
  ["lies about a size", patched(4, 3, 24), `${unpacked} a.csv has another length`],
  ["is too short", patched(4, 1e6, 42), "a.zip: a damaged zip archive: a.csv is not where the archive says"],
  ["is zip64", patched(4, 0xffffffff, 24), "a.zip: a zip64 archive (over 4 GiB) is not supported; unpack it"],
  [
    "has parts that overlap",
    patched(4, 0, 42, two, two.lastIndexOf("PK\x01\x02")),
    "a.zip: a zip archive with parts that overlap",
  ],
  [
    "has too many parts",
    isFull
      ? zip(Object.fromEntries(Array.from({ length: 65_536 }, (_, n) => [`${n}`, ""])))
      : patched(2, 0xffff, -12, undefined, zip(csv).length),
    "a.zip: an unsupported zip archive: it has over 65,534 parts",
  ],
])("an archive that %s is refused", async (_, archive, message) => {
  const home = folderOf({ "a.zip": archive });
  const { code, stderr } = await run(home, "a.zip", "-q", "-o", "b.zip");
  expect([2, 6]).toContain(code);
  expect(stderr).toContain(message);
  expect(stderr.split("\n")).toHaveLength(2);
  expect(archivesIn(home)).toEqual(["a.zip"]);
  expect((await readQuota(home)).used).toBe(0);
});

test("nothing is written outside of the folder", async () => {
  const table = `email\n${ok}\n`;
  const names = ["../x.csv", "/y.csv", "..\\z.csv", "a/../../w.csv", "C:\\v.csv"];
  const home = folderOf({ "in/a.zip": zip(Object.fromEntries(names.map((name) => [name, table]))) });
  expect(await run(join(home, "in"), "a.zip", "-q", "-o", "o/")).toMatchObject({ code: 0, stderr: "" });
  expect(readdirSync(home).sort()).toEqual(["in"]);
  const found = readdirSync(join(home, "in/o"), { recursive: true, encoding: "utf8" });
  expect(found.sort()).toEqual(["C_", "C_/v.csv", "a", "a/w.csv", "x.csv", "y.csv", "z.csv"]);
});

test("two archives cannot be written to one, and an archive with two files of one name is refused", async () => {
  const home = folderOf({ "a.zip": zip(csv), "b.zip": zip(csv) });
  const stderr = expect.stringContaining("c.zip: tables of several files do not fit into one");
  expect(await run(home, "a.zip", "b.zip", "-q", "-o", "c.zip")).toMatchObject({ code: 2, stderr });
  expect((await run(home, "a.zip", "-q", "-o", "a.zip")).stderr).toContain("-o a.zip: is the input itself");
  expect((await run(home, "a.zip", "b.zip", "-q", "-I")).code).toBe(0);
  expect(await filesIn(read(home, "b.zip"))).toEqual({ "a.csv": `email,status\n${ok},ok\n` });
  const twice = zip({ "a.csv": "email\n", "b.csv": "email\n" });
  writeFileSync(join(home, "t.zip"), twice.toString("latin1").replaceAll("b.csv", "a.csv"), "latin1");
  expect((await run(home, "t.zip", "-q", "-o", "o/")).stderr).toBe(
    "idv: t.zip: two of its files are named a.csv; unpack it\n",
  );
  expect((await run(home, "a.zip", "-q", "-o", "x.zip.gz")).code).toBe(2);
});

describe("archives in other files", () => {
  const book = xlsxOf({
    One: `<row r="1"><c r="A1" t="inlineStr"><is><t>${bad}</t></is></c></row>`,
    Two: `<row r="1"><c r="A1" t="inlineStr"><is><t>${ok}</t></is></c></row>`,
  });
  const inner = zip({ "deep/users.csv": `email\n${bad}\n`, "book.xlsx": book });
  const outer = zip({ "own.csv": `email\n${ok}\n`, "more/inner.zip": inner, "notes.txt": "hello" });

  test.each<[name: string, bytes: Buffer]>([
    ["a.zip", outer],
    ["a.zip.gz", gzipSync(outer)],
    ["a.zip", zip({ "around.zip": outer })],
  ])("are opened: %s", async (name, bytes) => {
    const home = folderOf({ [name]: bytes, "tmp/a": "" });
    const env = { TMPDIR: join(home, "tmp") };
    const { code, stderr } = await idv(["emails", name, "-o", "o/"], { home, env });
    expect(code, stderr).toBe(0);
    // Archives whose tables are written are not named among what stays.
    if (bytes === outer) expect(stderr).toContain("a.zip: not validated: notes.txt\n");
    const base = name === "a.zip" && bytes !== outer ? "around/" : "";
    expect(textOf(home, `o/${base}own.csv`)).toBe(`email,status\n${ok},ok\n`);
    expect(textOf(home, `o/${base}more/inner/deep/users.csv`)).toBe(`email,status\n${bad},disposable\n`);
    expect((await readQuota(home)).used).toBe(2);
    expect(readdirSync(join(home, "tmp"))).toEqual(["a"]);
  });

  test("have their sheets opened, too", async () => {
    const home = folderOf({ "a.zip": outer });
    const { code, stderr } = await run(home, "a.zip", "-o", "o/", "--sheet", "*");
    expect(code, stderr).toBe(0);
    expect(textOf(home, "o/more/inner/book-Two.csv")).toBe(`${ok},ok\n`);
    expect(readdirSync(join(home, "o"))).toEqual(["more", "own.csv"]);
  });

  test("stay as they are in an archive that comes back", async () => {
    const home = folderOf({ "a.zip": outer });
    const { code, stderr } = await run(home, "a.zip", "-I");
    expect(code, stderr).toBe(0);
    expect(stderr).toContain("a.zip: not validated: more/inner.zip, notes.txt");
    const parts = await filesIn(read(home, "a.zip"));
    expect(parts["own.csv"]).toBe(`email,status\n${ok},ok\n`);
    expect(parts["more/inner.zip"]).toBe(inner.toString("latin1"));
  });

  test.each<[what: string, name: string, bytes: Buffer]>([
    ["without items", "docs.zip", zip({ "readme.txt": "just text\nmore text\n" })],
    ["without tables", "photos.zip", zip({ "a.jpg": "x" })],
  ])("stay as they are beside tables: those %s", async (_, name, bytes) => {
    const home = folderOf({ "a.zip": zip({ "own.csv": `email\n${ok}\n`, [name]: bytes }) });
    const { code, stderr } = await run(home, "a.zip", "-o", "o/");
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(new RegExp(`a.zip(?:/${name})?: not validated: `));
    expect(stderr).toContain(name);
    expect(textOf(home, "o/own.csv")).toBe(`email,status\n${ok},ok\n`);
    const alone = folderOf({ "a.zip": zip({ [name]: bytes }) });
    expect((await run(alone, "a.zip", "-o", "o/")).code).not.toBe(0);
  });

  test.each<[string, string[]]>([
    ["a folder", ["-o", "o/"]],
    ["files by status", ["--split", "o"]],
  ])("that are damaged fail when the other tables are in %s", async (_, words) => {
    const damaged = { "photos.zip": Buffer.from("PK\x03\x04 damaged") };
    const home = folderOf({ "a.zip": zip({ "own.csv": `email\n${ok}\n`, ...damaged }) });
    const { code, stderr } = await run(home, "a.zip", "-q", ...words);
    expect([code, stderr]).toEqual([6, expect.stringContaining("a.zip/photos.zip: a damaged zip archive")]);
    expect(textOf(home, words[0] === "-o" ? "o/own.csv" : "o/ok.csv")).toBe(`email,status\n${ok},ok\n`);
    expect((await run(folderOf({ "a.zip": zip(damaged) }), "a.zip", "-o", "o/")).code).toBe(6);
  });

  test("do not come back with all sheets of the workbooks in them", async () => {
    const book = await writeXlsx({ sheets: [{ name: "S", rows: [["email"], [ok]] }] });
    const home = folderOf({ "a.zip": zip({ "book.xlsx": Buffer.from(book) }) });
    for (const words of [["-o", "b.zip"], ["-I.bak"]]) {
      const { code, stderr } = await run(home, "a.zip", "--sheet", "*", ...words);
      const why =
        'a.zip/book.xlsx: --sheet "*" is not for workbooks in an archive that comes back; write its tables to';
      expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
    }
  });

  test("are refused if two have one name", async () => {
    const one = zip({ "in1.zip": zip({ "a.csv": `email\n${ok}\n` }), "in2.zip": zip({ "b.csv": `email\n${ok}\n` }) });
    const twice = Buffer.from(one.toString("latin1").replaceAll("in2.zip", "in1.zip"), "latin1");
    expect(await run(folderOf({ "a.zip": twice }), "a.zip", "-o", "o/")).toMatchObject({
      code: 2,
      stderr: "idv: a.zip: two of its files are named in1.zip; unpack it\n",
    });
  });

  test("are not put back, and not opened without end", async () => {
    const home = folderOf({
      "a.zip.gz": gzipSync(outer),
      "deep.zip": Array.from({ length: 6 }).reduce<Buffer>((bytes) => zip({ "b.zip": bytes }), outer),
    });
    const stderr = expect.stringContaining(
      "a.zip.gz: an archive in another file is not put back; write its tables to a folder with -o FOLDER/",
    );
    for (const args of [["-I"], ["-o", "b.zip"]])
      expect(await run(home, "a.zip.gz", ...args)).toMatchObject({ code: 2, stderr });
    expect(await run(home, "deep.zip", "-o", "o/")).toMatchObject({
      code: 6,
      stderr: "idv: deep.zip/b.zip/b.zip/b.zip/b.zip: archives are nested too deeply; unpack it\n",
    });
  });
});

test.each(["contacts.vcf", "a.ods", "a.pdf"])(
  "the name %s is refused for an output, also if the input has its ending",
  async (name) => {
    const home = folderOf({ [name]: "email,name\na@b.net,Ann\n" });
    const ending = name.slice(name.indexOf("."));
    const stderr = expect.stringContaining(`out${ending}: ${ending} cannot be written`);
    expect(await run(home, name, "-o", `out${ending}`)).toMatchObject({ code: 2, stderr });
  },
);

test("a file that is named xlsx is no spreadsheet file, and an empty name is refused", async () => {
  const home = folderOf({ "l.csv": `email\n${ok}\n` });
  expect((await run(home, "l.csv", "-o", "xlsx")).stderr).toContain("for a file of that name, write ./xlsx");
  expect((await run(home, "l.csv", "-o", "./xlsx")).code).toBe(0);
  expect(textOf(home, "xlsx")).toBe(`email,status\n${ok},ok\n`);
  expect(await run(home, "")).toMatchObject({ code: 2, stderr: 'idv: FILE: "" is invalid. It must not be empty.\n' });
});

test.each<[what: string, name: string, table: string, message: string]>([
  ["several columns of items", "two.csv", `a,b\n${ok},${bad}\n${bad},${ok}\n`, "2 columns fit equally well"],
  ["several lists of items", "two.json", `{"a":[{"email":"${ok}"}],"b":[{"email":"${bad}"}]}`, "2 lists hold"],
  ["addresses beside other text", "two.csv", `n,list\n1,${ok}:pw\n2,${bad}:pw\n`, "are not valid e-mail addresses"],
])("a table with %s is not left out of an archive", async (_, name, table, message) => {
  const files = { "good.csv": `email\n${ok}\n`, [name]: table };
  for (const words of [["-o", "o.zip"], ["-o", "o/"], ["-I.bak"], ["--split", "s"]]) {
    const home = folderOf({ "a.zip": zip(files) });
    const { code, stderr } = await run(home, "a.zip", "-q", ...words);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`a.zip/${name}`)]);
    expect(stderr).toContain(message);
    if (words[0] === "-I.bak") expect(await filesIn(read(home, "a.zip"))).toEqual(files);
  }
});

test("contacts stay as they are in an archive that comes back, and become CSV in a folder", async () => {
  const card = `BEGIN:VCARD\r\nFN:Ann\r\nEMAIL:${ok}\r\nEND:VCARD\r\n`;
  const home = folderOf({ "a.zip": zip({ "good.csv": `email\n${ok}\n`, "c.vcf": card }) });
  const { code, stderr } = await run(home, "a.zip", "-o", "b.zip");
  expect([code, stderr]).toEqual([0, expect.stringContaining("a.zip: not validated: c.vcf")]);
  expect(await filesIn(read(home, "b.zip"))).toEqual({ "good.csv": `email,status\n${ok},ok\n`, "c.vcf": card });
  expect((await run(home, "a.zip", "-o", "o/")).code).toBe(0);
  expect(textOf(home, "o/c.csv")).toBe(`name,email,status\nAnn,${ok},ok\n`);
});
