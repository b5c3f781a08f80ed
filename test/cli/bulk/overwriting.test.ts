/** Covers files that have two roles in a run: nothing is overwritten that is needed, and no row is in no file. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { writeXlsx } from "hucre/xlsx";
import { expect, test } from "vitest";
import { readQuota, setQuota } from "../../support/quota.js";
import { idv } from "../../support/run-here.js";
import { folderOf } from "../../support/temporary-folder.js";

const [a, b] = ["email\nann@larch-and-oak.com\n", "email\nbob@larch-and-oak.com\n"];

const read = (home: string, name: string) => readFileSync(join(home, name), "utf8");

const shared = "/dev/shm/idv-test/a.csv";
test.each(
  Object.entries({
    "link.csv: two of the files would be written there; rename one of them": "a.csv link.csv -I --dedupe",
    "a.csv.bak: cannot be the backup and the output at once": "a.csv a.csv.bak -I.bak",
    "a.csv: cannot be the input and the output at once": "sub-a.csv a.csv -o out/",
    "allow.txt: cannot be the output and a list of your own at once": "a.csv --allow allow.txt -o allow.txt",
    "fake.csv: cannot be the file of bad rows and a file of --split at once":
      "a.csv --split . --bad-rows skip:fake.csv",
    [`${shared}: cannot be the file of bad rows and the output at once`]: `a.csv -o ${shared} --bad-rows skip:${shared}`,
    "ok.csv: cannot be the input and a file of --split at once": "ok.csv --split .",
    "link.csv: is given twice, and its rows would be written twice; name it once": "a.csv link.csv --split parts",
    "-o a.csv: is the input itself; to replace it, use -I, or -I.bak to keep the old one": "a.csv -o a.csv",
    "-o link.csv: is the input itself": "a.csv -o link.csv",
    "-o a.csv: is the input itself": "a.csv ok.csv -o ./",
    "--in-place: a.csv would have the format json; write it with -o a.json": "-I --format json a.csv",
    ".bak: no such file; to keep the old files, write -I.bak, without a space": "-I .bak a.csv",
  }),
)("a run that would overwrite what it needs ends: %s", async (message, words) => {
  const files = { "a.csv": a, "a.csv.bak": b, "sub-a.csv": a, "ok.csv": a, "allow.txt": "larch-and-oak.com\n" };
  const home = folderOf(files);
  symlinkSync("a.csv", join(home, "link.csv"));
  mkdirSync(join(home, "out"));
  symlinkSync("../a.csv", join(home, "out/sub-a.csv"));
  await setQuota(home, { limit: 9 });
  const stderr = expect.stringContaining(message);
  expect(await idv(["emails", ...words.split(" ")], { home })).toEqual({ code: 2, stdout: "", stderr });
  for (const [name, content] of Object.entries(files)) expect(read(home, name)).toBe(content);
  expect(await readQuota(home)).toMatchObject({ used: 0 });
});

test.each([
  ["-I --only ok", "--only"],
  ["-I --drop fake --dedupe", "--drop or --dedupe"],
])("%s notes that rows will be in no file", async (words, options) => {
  const home = folderOf({ "a.csv": a });
  const note = `idv: -I: rows that ${options} leaves out will be lost; -I.bak keeps the old file\n`;
  expect((await idv(["emails", "a.csv", ...words.split(" ")], { home })).stderr).toContain(note);
  const kept = await idv(["emails", "a.csv", "--update", ...words.replace("-I", "-I.bak").split(" ")], { home });
  expect([kept.code, kept.stderr]).toEqual([0, expect.not.stringContaining("no file")]);
});

test("rows that wait for the quota stay in a file that is replaced", async () => {
  const home = folderOf({ "l.csv": "email\nann@larch-and-oak.com\nx@mailinator.com\nbob@larch-and-oak.com\n" });
  await setQuota(home, { limit: 2 });
  const outcome = await idv(["emails", "l.csv", "-I", "--only", "ok,alias"], { home });
  expect(outcome.code, outcome.stderr).toBe(4);
  const rest = "ann@larch-and-oak.com,ok\nbob@larch-and-oak.com,quota_exceeded\n";
  expect(read(home, "l.csv")).toBe(`email,status\n${rest}`);
  await setQuota(home, { limit: null });
  await idv(["emails", "l.csv", "-I", "--update", "--only", "ok,alias"], { home });
  expect(read(home, "l.csv")).toBe(`email,status\n${rest.replace("quota_exceeded", "ok")}`);
});

test.each<[string, string, number, string]>([
  ["is missing", "missing.csv", 6, "missing.csv: cannot be read: no such file; no file is replaced"],
  ["has no addresses", "names.csv", 2, "no line of names.csv looks like an e-mail address"],
  ["has no table", "table.pdf", 2, "table.pdf: a PDF document; export it as CSV"],
  ["cannot be kept", "kept.csv", 6, "kept.csv.bak: is a folder; choose another name for the copy"],
])("no file is replaced if one of them %s", async (_, name, exitCode, message) => {
  const home = folderOf({ "a.csv": a, "names.csv": "Ann\nBob\n", "table.pdf": "%PDF-1.7\n1 0 obj\n", "kept.csv": b });
  mkdirSync(join(home, "kept.csv.bak"));
  await setQuota(home, { limit: 9 });
  const { code, stderr } = await idv(["emails", "-I.bak", "a.csv", name], { home });
  expect(stderr).toContain(message);
  expect([code, stderr.endsWith("; no file is replaced\n")], stderr).toEqual([exitCode, true]);
  expect(read(home, "a.csv")).toBe(a);
  expect(readdirSync(home)).not.toContain("a.csv.bak");
  expect(await readQuota(home)).toMatchObject({ used: 0 });
});

test("the input may be in the folder of --split; in a dry run, it may be one of its files", async () => {
  const home = folderOf({ "parts/ok.2025.csv": a });
  const { code, stderr } = await idv(["emails", "parts/ok.2025.csv", "--split", "parts"], { home });
  expect(code, stderr).toBe(0);
  expect(read(home, "parts/ok.csv")).toBe("email,status\nann@larch-and-oak.com,ok\n");
  const dry = await idv(["emails", "parts/ok.csv", "--split", "parts", "--dry-run"], { home });
  expect(dry.code, dry.stderr).toBe(0);
});

test("--update --explain adds its columns once, wherever the status is", async () => {
  const home = folderOf({ "l.csv": "email,status,name,b\nann.lee@gmial.com,,Ann,x@mailinator.com\n" });
  const args = "emails -q -I --update=all --explain --add canonical -c email -c b l.csv".split(" ");
  expect((await idv(args, { home })).code).toBe(0);
  const once = read(home, "l.csv");
  expect(once.split("\n")[0]).toBe(
    "email,status,name,b,reason,suggestion,canonical,status_b,reason_b,suggestion_b,canonical_b",
  );
  expect((await idv(args, { home })).code).toBe(0);
  expect(read(home, "l.csv")).toBe(once);
});

test("a column of reasons that is the user's own is kept by --update --explain", async () => {
  const home = folderOf({ "l.csv": "email,reason\nann@larch-and-oak.com,moved away\n" });
  const args = ["emails", "-q", "-I", "l.csv", "--explain"];
  await idv(args, { home });
  appendFileSync(join(home, "l.csv"), "x@mailinator.com,paid twice,,,\n");
  await idv([...args, "--update"], { home });
  await idv([...args, "--update=all"], { home });
  expect(read(home, "l.csv")).toBe(
    "email,reason,status,idv_reason,suggestion\n" +
      "ann@larch-and-oak.com,moved away,ok,,\n" +
      "x@mailinator.com,paid twice,disposable,disposable-domain: mailinator.com,\n",
  );
});

test("bad rows of several files are in one table, byte by byte", async () => {
  const files = ["a.csv", "b.csv", "c.csv"];
  const [first, second] = files.map((name) =>
    Buffer.from(`id,email\n1,ann@larch-and-oak.com\n2,x,${name}\xe9\n`, "latin1"),
  );
  const old = "file,line,reason,record\nz.csv,1,of last night,1\n";
  const home = folderOf({ "a.csv": first!, "b.csv": second!, "c.csv": b, "bad.csv": old });
  const skip = ["--bad-rows", "skip:bad.csv"];
  const { code, stderr } = await idv(["emails", ...files, "-o", "out/", ...skip], { home });
  expect(code, stderr).toBe(0);
  const lines = readFileSync(join(home, "bad.csv"), "latin1").trimEnd().split("\n");
  expect(lines.map((line) => line.replace(/3,.*,"2/, '3,"2'))).toEqual([
    "file,line,reason,record",
    'a.csv,3,"2,x,a.csv\xe9"',
    'b.csv,3,"2,x,b.csv\xe9"',
  ]);
  // A second shard reports none, and leaves the table alone.
  await idv(["emails", "a.csv", "--shard", "2/2", "-o", "two.csv", ...skip], { home });
  expect(readFileSync(join(home, "bad.csv"), "latin1").trimEnd().split("\n")).toEqual(lines);
});

test("a spreadsheet file is not replaced under the name of another format", async () => {
  const bytes = await writeXlsx({ sheets: [{ name: "list", rows: [["email"], ["ann@larch-and-oak.com"]] }] });
  const home = folderOf({ "l.xlsm": bytes });
  expect(await idv(["emails", "-q", "-I.bak", "l.xlsm"], { home })).toMatchObject({
    code: 2,
    stderr: "idv: l.xlsm: a workbook with macros is made from one only; name it .xlsx\n",
  });
  expect(readFileSync(join(home, "l.xlsm")).equals(Buffer.from(bytes))).toBe(true);
});

test.each<[string, string[]]>([
  ["--update=all", []],
  ["--update", []],
  ["--update=all", ["--explain"]],
  ["--update=all", ["-c", "email", "-c", "other"]],
])("a status column of the user's that starts empty is not overwritten by %s %j", async (update, args) => {
  const rows = Array.from({ length: 1500 }, (_, i) => `u${i}@larch-and-oak.com,o${i}@larch-and-oak.com`);
  const list = `email,other,status\n${rows.map((row, i) => `${row},${i === 1234 ? "shipped" : ""}`).join("\n")}\n`;
  const home = folderOf({ "l.csv": list });
  const { code, stderr } = await idv(["emails", "-q", "-I", update, ...args, "l.csv"], { home });
  expect(stderr).toMatch(
    /^idv: l\.csv(:1236)?: the column "status" has a field that is not a status and is not overwritten; name another column with --set statusColumn=NAME, or leave out --update/,
  );
  expect(code).toBe(6);
  expect(read(home, "l.csv")).toBe(list);
  await idv(["emails", "-q", "-I", "l.csv"], { home });
  expect(read(home, "l.csv")).toContain("u1234@larch-and-oak.com,o1234@larch-and-oak.com,shipped,ok\n");
});

test("a file that was replaced before gets no second status column", async () => {
  const home = folderOf({ "l.csv": "email,note\nx@mailinator.com,a\n" });
  await idv(["emails", "-q", "-I", "l.csv"], { home });
  const checked = read(home, "l.csv");
  const { code, stderr } = await idv(["emails", "-q", "-I", "l.csv"], { home });
  expect([code, read(home, "l.csv")]).toEqual([2, checked]);
  expect(stderr).toBe(
    'idv: l.csv: has statuses already, in the column "status"; --update keeps them and checks the rest, --update=all overwrites them, --set statusColumn=NAME adds a column\n',
  );
  for (const options of [["--update"], ["--update=all"], ["--set", "statusColumn=again"], ["-o", "other.csv"]]) {
    const place = options[0] === "-o" ? [] : ["-I"];
    expect((await idv(["emails", "-q", ...place, ...options, "l.csv"], { home })).code, options.join(" ")).toBe(0);
  }
});

test("a status column of the user's own does not hold up a file that is replaced", async () => {
  const home = folderOf({
    "own.csv": "email,status\nann@larch-and-oak.com,ok\nx@mailinator.com,bounced\n",
    "both.csv": "email,status\nann@larch-and-oak.com,active\n",
    "plain.txt": "ann@larch-and-oak.com\nx@mailinator.com\n",
    "flags.csv": "email,flags\nann@larch-and-oak.com,ok\n",
  });
  expect((await idv(["emails", "-q", "-I", "--add", "flags", "flags.csv"], { home })).code).toBe(0);
  expect((await idv(["emails", "-q", "-I", "plain.txt"], { home })).code).toBe(0);
  const headless = await idv(["emails", "-q", "-I", "plain.txt"], { home });
  expect([headless.code, headless.stderr]).toEqual([2, expect.stringContaining("in its last column, and no header")]);
  expect((await idv(["emails", "-q", "-I", "own.csv"], { home })).code).toBe(0);
  expect(read(home, "own.csv")).toContain("x@mailinator.com,bounced,disposable\n");
  expect((await idv(["emails", "-q", "-I", "--update", "both.csv"], { home })).code).toBe(0);
  const again = await idv(["emails", "-q", "-I", "both.csv"], { home });
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('in the column "idv_status"')]);
});

test("a status column that starts with rows without an address is updated", async () => {
  const home = folderOf({ "l.csv": `email,name,status\n${",Ann,\n".repeat(500)}x@mailinator.com,Bob,\n` });
  expect((await idv(["emails", "-q", "-I", "--update=all", "l.csv"], { home })).code).toBe(0);
  expect(read(home, "l.csv")).toMatch(/^email,name,status\n,Ann,\n/);
  expect(read(home, "l.csv")).toMatch(/x@mailinator\.com,Bob,disposable\n$/);
});

test("a repeated header, as in outputs put together, has no status", async () => {
  const header = "email,status\n";
  const home = folderOf({ "all.csv": `${header}ann@larch-and-oak.com,ok\n${header}bob@larch-and-oak.com,\n` });
  const checked = `${header}ann@larch-and-oak.com,ok\nemail,\nbob@larch-and-oak.com,ok\n`;
  for (const update of ["--update", "--update=all"]) {
    expect(await idv(["emails", "-q", update, "all.csv"], { home })).toEqual({ code: 0, stderr: "", stdout: checked });
  }
  await idv(["emails", "-q", "--update", "--split", "parts", "all.csv"], { home });
  expect(readdirSync(join(home, "parts")).sort()).toEqual(["empty.csv", "ok.csv"]);
});
