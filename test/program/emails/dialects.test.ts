/** Covers tables in other dialects than that of RFC 4180 in blocks on several threads; test/cli/bulk/dialects.test.ts has the rest. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { idv } from "../../support/run-idv.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const count = 60_000;
const item = (i: number) => (i % 7 === 3 ? `p${i}@mailinator.com` : `p${i}@larch-and-oak.com`);
const status = (i: number) => (i % 7 === 3 ? "disposable" : "ok");

/** A dialect, what is said of it, its header and rows, and what is before the status. */
const dialects: [words: string, header: string, row: (i: number) => string, before: string][] = [
  ["quotes are '", "id,name,email", (i) => `${i},'O''Neil, A ${i}','${item(i)}'`, ","],
  ["\\ escapes quotes", "id,name,email", (i) => `${i},"A \\"B, ${i}\\"",${item(i)}`, ","],
  ["quotes are text", "id\tname\temail", (i) => `${i}\t${i % 3 ? "A" : '"Al'}\t${item(i)}`, "\t"],
  [
    "spaces in front of fields belong to the delimiter",
    "id, name, email",
    (i) => `${i}, "L, A", ${item(i)}`,
    ", ",
  ],
  [
    "runs of spaces are the delimiter",
    "id  name    email",
    (i) => `${i}  ${"N".repeat(1 + (i % 5))}   ${item(i)}`,
    " ",
  ],
];

describe.each(dialects)("%s", (words, header, row, before) => {
  const home = temporaryFolder();
  const rows = Array.from({ length: count }, (_, i) => row(i));
  writeFileSync(join(home, "list.txt"), `${header}\n${rows.join("\n")}\n`);
  const expected = [
    `${header}${before}status`,
    ...rows.map((line, i) => `${line}${before}${status(i)}`),
    "",
  ].join("\n");

  test("is found, said, and kept in blocks on several threads", async () => {
    const { code, stderr } = await idv(["emails", "list.txt", "-o", "out.txt"], { home });
    expect({ code, words: stderr.includes(`read as a table in which ${words}\n`) }).toEqual({
      code: 0,
      words: true,
    });
    expect(readFileSync(join(home, "out.txt"), "utf8")).toBe(expected);
  });
});
