/** Covers idv emails and idv domains on fixtures, in pipes, and what they print; test/cli/bulk/tables.test.ts has more. */
import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Facts } from "../../../src/core/facts/facts.js";
import { collected, startInShell } from "../../support/processes.js";
import { finished, fixtures, idv, startIdv } from "../../support/run-idv.js";
import { jsonLines } from "../../support/states.js";
import { folderOf } from "../../support/temporary-folder.js";
import { times } from "../../support/tier.js";

const utf8 = (binary: string) => Buffer.from(binary, "latin1").toString("utf8");

test("idv emails --explain fixtures/addresses.txt gives reasons and suggestions", async () => {
  const { code, stdout } = await idv(["emails", "--explain", `${fixtures}addresses.txt`]);
  expect(utf8(stdout)).toBe(`anna.adler@larch-and-oak.com,ok,,
Ben Brown <ben.brown@brightmill.co.uk>,ok,,
"""Costa, Clara"" <clara@campo-verde.es>",ok,,
mailto:david.dubois@atelier-rive.fr,ok,,
emma+news@fjordline-books.no,alias,sub-address: +news,
felix@mailinator.com,disposable,disposable-domain: mailinator.com,
felix@mail.mailinator.com,disposable,disposable-domain: mailinator.com,
grace.lee@gmial.com,fake,typo-domain: gmial.com,grace.lee@gmail.com
hugo@example.com,fake,special-use: example.com,
ines@duck.com,alias,relay: duckduckgo,
test@hotmail.com,fake,placeholder,
ann@gmail.com,fake,"impossible-mailbox: gmail.com needs 6 to 30 characters, letters and digits",
12345+octocat@users.noreply.github.com,fake,no-reply: users.noreply.github.com,
not an address,fake,syntax: a space in the local part at 4,
Anna.Adler@Larch-and-Oak.com,ok,,
jürgen@bücher-weber.de,ok,,
karin@team.fastmail.com,alias,sub-address: team.fastmail.com,
`);
  expect(code).toBe(0);
});

test("idv domains fixtures/domains.txt gives every domain its status", async () => {
  const { code, stdout } = await idv(["domains", `${fixtures}domains.txt`]);
  const lines = readFileSync(`${fixtures}domains.txt`, "utf8").trimEnd().split("\n");
  const statuses = "ok ok disposable disposable fake fake fake fake fake ok ok ok ok ok fake fake ok ok".split(" ");
  expect(utf8(stdout)).toBe(lines.map((line, i) => `${line},${statuses[i]}\n`).join(""));
  expect(code).toBe(0);
});

/** Runs a line of bash in a new folder with files. */
const inShell = (line: string, words: readonly string[], files: Readonly<Record<string, string>>) =>
  finished(startInShell(line, words, folderOf(files)));

test("cat list.csv | idv emails -c email | head -2 ends silently, without an error", async () => {
  const rows = Array.from({ length: times(300_000, 60_000) }, (_, i) => `${i},user${i}@larch-and-oak.com\n`);
  const line = `cat list.csv | idv emails -c email | head -2; echo "\${PIPESTATUS[1]}"`;
  const outcome = await inShell(line, [], { "list.csv": `id,email\n${rows.join("")}` });
  expect(outcome).toEqual({ code: 0, stdout: "id,email,status\n0,user0@larch-and-oak.com,ok\n0\n", stderr: "" });
});

test("--log json prints the summary even with -q", async () => {
  const stdin = "mailinator.com\nduck.com\n";
  const { stderr } = await idv(["domains", "-q", "--log", "json"], { stdin });
  expect(JSON.parse(stderr)).toMatchObject({
    ...{ type: "summary", version: 1, kind: "domain", engine: "offline", dryRun: false, failed: 0 },
    inputs: [{ name: "standard input", column: 1, columnName: null, dialect: { delimiter: null } }],
    ...{ rows: 2, written: 2, empty: 0, badRows: 0, distinct: 2, cached: 0, requests: null, dns: null },
    statuses: { ok: 1, disposable: 1, fake: 0, quota_exceeded: 0 },
    ...{ distinctStatuses: { ok: 1, disposable: 1 }, reasons: { "disposable-domain": 1 }, outputs: [] },
    topDomains: [{ domain: "mailinator.com", items: 1 }],
    units: { used: 2, paidBefore: 0, left: null, renews: null },
  });
});

test("--log json:FILE adds a line of JSON for each file, whatever else --log says", async () => {
  const home = folderOf({ "a.csv": "email\nann@larch-and-oak.com\nbob@gmial.com\n", "b.csv": "email\nx@y.z\n" });
  const options = ["--log", "json:runs.jsonl", "-q", "--bad-rows", "skip:bad.csv"];
  await idv(["emails", "a.csv", "-o", "out.csv", ...options], { home });
  await idv(["emails", "b.csv", "-I.old", "--explain", ...options], { home });
  const [first, second] = jsonLines(readFileSync(join(home, "runs.jsonl"), "utf8"));
  expect(first).toMatchObject({ inputs: [{ name: "a.csv" }], rows: 2, reasons: { "typo-domain": 1 } });
  const sizeOf = (path: string) => ({ path, bytes: statSync(join(home, path)).size });
  expect(first.outputs).toEqual([sizeOf("out.csv"), sizeOf("bad.csv")]);
  expect(second.outputs.map(({ path }: { path: string }) => path)).toEqual(["b.csv", "b.csv.old", "bad.csv"]);
});

test("--log json is read whole by a slow reader", async () => {
  const names = Array.from({ length: 5000 }, (_, i) => `column_with_a_long_name_${i}`);
  const table = `email,${names.join(",")}\nann@larch-and-oak.com${",".repeat(5000)}\n`;
  const line = "idv emails a.csv -o o.csv --log json 2>&1 >/dev/null | { sleep 0.3; cat; }";
  const { stdout } = await inShell(line, [], { "a.csv": table });
  expect(stdout.length).toBeGreaterThan(100_000);
  expect((JSON.parse(stdout) as Facts).inputs[0]!.columns).toHaveLength(5001);
});

test("--log json:FILE does not wait for the reader of a named pipe, and ends with 6", async () => {
  const home = folderOf({ "a.csv": "email\nann@larch-and-oak.com\n" });
  execFileSync("mkfifo", [join(home, "pipe")]);
  const { code, stderr } = await idv(["emails", "a.csv", "-q", "--log", "json:pipe"], { home });
  expect([code, stderr]).toEqual([6, expect.stringContaining("pipe: cannot be written: ENXIO")]);
  expect((await idv(["completion", "suggest", "--", "emails", "pipe", "-c", ""], { home })).code).toBe(0);
});

test.each([
  ["with own lists of mailboxes there", "unlimited"],
  ["where WebAssembly cannot run", "2500000"],
])("--log json counts items at disposable domains %s", async (_, limit) => {
  const table = `email\n${"a@mailinator.com\n".repeat(50)}good@mailinator.com\nLee <b@x.mooo.com>\n`;
  const words = ["emails", "a.csv", "-q", "--log", "json", "--allow", "allow.txt"];
  const files = { "a.csv": table, "allow.txt": "good@mailinator.com\n" };
  const { stderr } = await inShell(`ulimit -v ${limit}; exec "$@"`, words, files);
  expect(JSON.parse(stderr).topDomains).toEqual([
    { domain: "mailinator.com", items: 50 },
    { domain: "mooo.com", items: 1 },
  ]);
});

test("--log json says how far the run is, off a terminal too, and --log plain only after ten seconds", async () => {
  const stdin = `email\n${Array.from({ length: 9000 }, (_, i) => `user${i}@larch-and-oak.com\n`).join("")}`;
  const child = startIdv(["emails", "--log", "json"]);
  const outcome = finished(child);
  child.stdin?.write(stdin);
  // The input stays open until the run has said how far it is.
  await expect.poll(collected(child.stderr)).toContain('"rows":9000');
  child.stdin?.end();
  const lines = (await outcome).stderr.trim().split("\n");
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({ type: "summary", rows: 9000 });
  expect(lines.at(-2)).toMatch(
    /^\{"type":"progress","rows":9000,"share":null,"seconds":[\d.]+,"units":9000,"cached":0,"statuses":\{"ok":9000\}\}$/,
  );
  expect((await idv(["emails", "--log", "plain"], { stdin })).stderr).not.toContain("idv: 9,000 rows");
});

test.skipIf(process.platform !== "linux")("lines that the shell appends to a file end with a line break", async () => {
  const home = folderOf({ l: "ann@larch-and-oak.com" });
  const line = ["> new", ">> all", ">> all"].map((to) => `idv emails -q l ${to}`).join("; ");
  await finished(startInShell(line, [], home));
  expect(readFileSync(join(home, "new"), "utf8")).toBe("ann@larch-and-oak.com,ok");
  expect(readFileSync(join(home, "all"), "utf8")).toBe("ann@larch-and-oak.com,ok\n".repeat(2));
});
