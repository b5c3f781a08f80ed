/** Covers tables in other dialects than that of RFC 4180 in blocks on several threads; test/cli/bulk/dialects.test.ts has the rest. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { dialects, dialectTable } from "../../support/dialect-tables.js";
import { idv } from "../../support/run-idv.js";
import { some } from "../../support/tier.js";

describe.each(some(dialects, 2))("a table in which %s", (...dialect) => {
  const [words] = dialect;
  const { home, expected } = dialectTable(dialect, 60_000);

  test("keeps its dialect with several threads, and the summary names it", async () => {
    const { code, stderr } = await idv(["emails", "list.txt", "-o", "out.txt"], { home });
    expect({ code, words: stderr.includes(`read as a table in which ${words}\n`) }).toEqual({ code: 0, words: true });
    expect(readFileSync(join(home, "out.txt"), "utf8")).toBe(expected);
  });
});
