/** Covers annotations in files: code quality reports of GitLab, and SARIF. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { idv } from "../../support/run-here.js";
import { folderOf } from "../../support/temporary-folder.js";

const a = "id,email\n1,ann@larch-and-oak.com\n2,x@mailinator.com\n3,x@mailinator.com\n4,yvonne@gmial.com\n";
const b = "id,email\n1,bob@larch-and-oak.com\n2,a@b.net,x\n";

async function run(...args: string[]) {
  const home = folderOf({ "a b#1:2.csv": a, "b.csv": b });
  const files = ["a b#1:2.csv", "b.csv", "-o", "out/", "--bad-rows", "skip", "-q"];
  const outcome = await idv(["emails", ...files, ...args], { home });
  return { home, json: (name: string) => JSON.parse(readFileSync(join(home, name), "utf8")), ...outcome };
}

test("--log gitlab:FILE writes the findings of all files, with names that stay", async () => {
  const { code, stderr, json } = await run("--log", "gitlab:q.json", "--fail-on", "disposable,fake");
  expect(code).toBe(1);
  expect(stderr).not.toContain("::error");
  const disposable = "x@mailinator.com is disposable (disposable-domain: mailinator.com)";
  const fake = "yvonne@gmial.com is fake (typo-domain: gmial.com); meant: yvonne@gmail.com";
  const found = json("q.json") as { description: string; fingerprint: string; location: object; check_name: string }[];
  expect(found.map(({ check_name, description, location }) => [check_name, description, location])).toEqual([
    ["disposable", disposable, { path: "a b#1:2.csv", lines: { begin: 3 } }],
    ["disposable", disposable, { path: "a b#1:2.csv", lines: { begin: 4 } }],
    ["fake", fake, { path: "a b#1:2.csv", lines: { begin: 5 } }],
    ["bad-row", expect.stringMatching(/^bad row: 3 fields/), { path: "b.csv", lines: { begin: 3 } }],
  ]);
  const names = found.map(({ fingerprint }) => fingerprint);
  expect(new Set(names).size).toBe(4);
  const again = await run("--log", "gitlab:q.json", "--fail-on", "disposable,fake");
  expect(again.json("q.json").map(({ fingerprint }: { fingerprint: string }) => fingerprint)).toEqual(names);
});

test("findings in what a table is made of name no line of it", async () => {
  const card = `BEGIN:VCARD\n${"NOTE:x\n".repeat(50)}EMAIL:x@mailinator.com\nEND:VCARD\n`;
  const home = folderOf({ "book.vcf": card });
  const args = ["emails", "book.vcf", "-q", "--offline", "-o", "o.csv", "--log", "github", "--log", "sarif:r.sarif"];
  const { stderr } = await idv(args, { home });
  expect(stderr).toBe("::error file=book.vcf::x@mailinator.com is disposable (disposable-domain: mailinator.com)\n");
  // A finding in SARIF has to have one.
  expect(readFileSync(join(home, "r.sarif"), "utf8")).toContain('"startLine": 1\n');
});

test("--log sarif:FILE writes them as SARIF, beside other targets", async () => {
  const { home, json, stderr } = await run("--log", "sarif:r.sarif", "--log", "github", "--log", "json:s.json");
  expect(stderr).toMatch(/^::error file=a b#1%3A2\.csv,line=3::/m);
  expect(readFileSync(join(home, "s.json"), "utf8").split("\n")).toHaveLength(4);
  const { version, runs } = json("r.sarif");
  expect(version).toBe("2.1.0");
  const [{ results, tool }] = runs;
  expect(tool.driver.rules.map(({ id }: { id: string }) => id)).toEqual(["disposable", "fake", "bad-row"]);
  expect(results).toHaveLength(4);
  expect(results[0].locations[0].physicalLocation).toEqual({
    artifactLocation: { uri: "a%20b%231%3A2.csv" },
    region: { startLine: 3 },
  });
});

test.each([
  [["--log", "sarif:"], "sarif:"],
  [["--log", "sarif:b.csv"], "cannot be the input and the file of annotations"],
  [["--log", "gitlab:q", "--log", "sarif:q"], "two of the files would be written there"],
])("%j is refused", async (args, message) => {
  const refused = await run(...args);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  expect(existsSync(join(refused.home, "out"))).toBe(false);
});

test("a dry run, and a run that fails, write no file", async () => {
  expect(existsSync(join((await run("--log", "gitlab:q.json", "--dry-run")).home, "q.json"))).toBe(false);
  const home = folderOf({ "l.csv": 'email\n"open\n' });
  expect((await idv(["emails", "l.csv", "-o", "o.csv", "--log", "gitlab:q.json"], { home })).code).toBe(6);
  expect(existsSync(join(home, "q.json"))).toBe(false);
});

test("all bad rows are findings, up to a limit that is said", async () => {
  const rows = (length: number, row: string) => Array.from({ length }, (_, i) => row.replace("N", `${i}`)).join("");
  const home = folderOf({
    "bad.csv": `id,email\n${rows(300, "N,a@b.net,x\n")}${rows(400, "N,ann@larch-and-oak.com\n")}`,
    "many.csv": `email\n${rows(5001, "N@mailinator.com\n")}`,
  });
  const args = ["--force", "--bad-rows", "skip", "--log", "gitlab:b.json"];
  const bad = await idv(["emails", "bad.csv", "-o", "o.csv", "-q", ...args], { home });
  expect(bad.code, bad.stderr).toBe(0);
  expect(JSON.parse(readFileSync(join(home, "b.json"), "utf8"))).toHaveLength(300);
  const many = await idv(["emails", "many.csv", "-o", "p.csv", "-q", "--log", "gitlab:m.json"], { home });
  expect(many.stderr).toBe("idv: m.json: has the first 5,000 findings; there are more\n");
  expect(JSON.parse(readFileSync(join(home, "m.json"), "utf8"))).toHaveLength(5000);
});
