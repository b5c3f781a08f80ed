/** Covers runs over tables in other dialects than that of RFC 4180: what is said of them, and what becomes of them. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readXlsx } from "hucre/xlsx";
import { describe, expect, test } from "vitest";
import { dialects, dialectTable, item } from "../../support/dialect-tables.js";
import { idv } from "../../support/run-here.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { times } from "../../support/tier.js";

const count = times(60_000, 3000);
const rows = count.toLocaleString("en");

describe.each(dialects)("a table in which %s", (...dialect) => {
  const [words] = dialect;
  const { home, expected } = dialectTable(dialect, count);

  test("shows its dialect and its column with --dry-run", async () => {
    const { stderr } = await idv(["emails", "list.txt", "--dry-run"], { home });
    expect(stderr).toBe(
      `list.txt: ${rows} rows, ${rows} distinct e-mail addresses in column 3 "email"; ${rows} units would be charged\nread as a table in which ${words}\n`,
    );
  });

  test("becomes CSV if the output is named .csv", async () => {
    expect((await idv(["emails", "list.txt", "-q", "-o", "out.csv"], { home })).code).toBe(0);
    const lines = readFileSync(join(home, "out.csv"), "utf8").split("\n");
    expect(lines).toHaveLength(count + 2);
    expect(lines[4]).toContain(`,${item(3)},disposable`);
  });

  test("keeps its dialect with --update", async () => {
    writeFileSync(join(home, "part.txt"), expected.replace(/disposable$/gm, "quota_exceeded"));
    expect((await idv(["emails", "part.txt", "-q", "--update", "-o", "rest.txt"], { home })).code).toBe(0);
    expect(readFileSync(join(home, "rest.txt"), "utf8")).toBe(expected);
  });
});

test.each([
  ['"id,name,email"', (i: number) => `"${i},""Lee, A"",${item(i)}"`, '3,"Lee, A",p3@mailinator.com,disposable'],
  ['"id,name,email"', (i: number) => `"${i},Ann,${item(i)}"`, "3,Ann,p3@mailinator.com,disposable"],
  ['"email,id"', (i: number) => `"${item(i)},${i}"`, "p3@mailinator.com,3,disposable"],
])("quotes around whole records are left out, and the summary says so: %s", async (header, rowOf, written) => {
  const stdin = [header, ...Array.from({ length: 30 }, (_, i) => rowOf(i)), ""].join("\r\n");
  const { stdout, stderr } = await idv(["emails"], { stdin });
  expect(stdout.split("\r\n").slice(0, 5).at(-1)).toBe(written);
  expect(stderr).toContain("\nread as a table in which quotes around whole records are left out\n");
});

test("--quote none counts the quotes around an item among the marks", async () => {
  const stdin = 'email,id\n"x@mailinator.com",1\nann@larch-and-oak.com,2\n';
  const { stderr } = await idv(["emails", "--offline", "--quote", "none"], { stdin });
  expect(stderr).toContain("1 value has invisible characters, quotes or the like around an item");
});

test("quotes are text with --quote none", async () => {
  const wrapped = `"id,email"\n${Array.from({ length: 9 }, (_, i) => `"${i},${item(i)}"\n`).join("")}`;
  const { stderr } = await idv(["emails", "--quote", "none"], { stdin: wrapped });
  expect(stderr).not.toContain("are left out");
  const stdin = 'id,name,email\n1,"Al,a@larch-and-oak.com\n2,B,b@larch-and-oak.com\n3,C,c@larch-and-oak.com\n';
  const { code, stdout } = await idv(["emails", "-q", "--quote", "none"], { stdin });
  expect({ code, lines: stdout.match(/,ok$/gm) }).toEqual({ code: 0, lines: [",ok", ",ok", ",ok"] });
  expect((await idv(["emails", "-q"], { stdin })).code).toBe(6);
});

test("--dry-run names the bad rows, and JSON has the dialect", async () => {
  const stdin = `id,name,email\n${"1,'L, A',a@larch-and-oak.com\n".repeat(20)}2,b,x,y,z\n`;
  const text = await idv(["emails", "--dry-run", "--bad-rows", "skip"], { stdin });
  expect(text.stderr).toContain("\n1 bad row: 1 too many fields (line 22)\n".slice(1));
  const json = await idv(["emails", "--dry-run", "--bad-rows", "skip", "-q", "--log", "json"], { stdin });
  expect(JSON.parse(json.stderr.trim().split("\n").at(-1)!)).toMatchObject({
    badRows: 1,
    inputs: [{ dialect: { delimiter: ",", quote: "'", escape: "'", skipsSpaces: false } }],
    requests: null,
  });
});

test("other dialects become workbooks", async () => {
  const home = temporaryFolder();
  const rows = Array.from({ length: 20 }, (_, i) => `${i}  "A B"   ${item(i)}`);
  writeFileSync(join(home, "l.txt"), `id  name  email\n${rows.join("\n")}\n`);
  expect((await idv(["emails", "l.txt", "-q", "-o", "o.xlsx"], { home })).code).toBe(0);
  expect((await readXlsx(readFileSync(join(home, "o.xlsx")))).sheets[0]?.rows[1]).toEqual([
    ...["0", "A B", "p0@larch-and-oak.com", "ok"],
  ]);
});
