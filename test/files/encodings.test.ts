/** Covers files in encodings that are not UTF-8: no row is fake for its bytes, and no advice makes other letters of them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { idv } from "../support/run-here.js";
import { fixtures } from "../support/run-idv.js";

const read = (encoding: string) => readFileSync(join(fixtures, "encodings", `${encoding}.csv`));
const statusesIn = (table: string) =>
  table
    .split("\n")
    .slice(1, -1)
    .map((line) => line.split(",")[3]);

// The third row has a domain in the encoding, the fourth a local part.
describe.each([
  ["shift_jis", ["ok", "disposable", "", ""]],
  ["euc-jp", ["ok", "disposable", "", "ok"]],
  ["gb18030", ["ok", "disposable", "", "ok"]],
  ["big5", ["ok", "disposable", "", "ok"]],
  ["euc-kr", ["ok", "disposable", "", "ok"]],
  ["windows-1251", ["ok", "disposable", "", "ok"]],
  ["koi8-r", ["ok", "disposable", "", "ok"]],
  ["windows-1252", ["ok", "disposable", "ok", "ok", "ok", "ok"]],
])("a file in %s", (encoding, statuses) => {
  test("has no fake rows, and its encoding is named", async () => {
    const stdin = read(encoding);
    const { stdout, stderr } = await idv(["emails"], { stdin });
    expect(statusesIn(stdout)).toEqual(statuses);
    expect(stderr).toContain(`\n2 rows have items that are not UTF-8; pass --encoding ${encoding}\n`);
    expect(stdout.replace(/,\w*$/gm, "")).toBe(stdin.toString("latin1"));
  });

  test("is read whole with its encoding", async () => {
    const { stdout, stderr } = await idv(["emails", "--encoding", encoding], { stdin: read(encoding) });
    expect(statusesIn(stdout)).toEqual(statuses.map((status) => status || "ok"));
    expect(stderr).not.toContain("not UTF-8");
  });
});

test("an encoding that is not sure is not named", async () => {
  const { stdout, stderr } = await idv(["emails"], { stdin: read("windows-1250") });
  expect(statusesIn(stdout)).toEqual(["ok", "disposable", "", "ok"]);
  expect(stderr).toContain("\n2 rows have items that are not UTF-8; name the encoding with --encoding\n");
});

test("the encoding of a header is named", async () => {
  const { stderr } = await idv(["emails"], { stdin: read("shift_jis-header") });
  expect(stderr).toContain(
    "idv: standard input: its header is not UTF-8; pass --encoding shift_jis to read the names of its columns\n",
  );
});
