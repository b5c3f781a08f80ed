/** Covers states that `idv state import` refuses. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { idv } from "../../support/run-here.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const first = '{"idv":"state","version":3}';
const sha256 = createHash("sha256").update(`${first}\n`).digest("hex");
const counts = { quota: 0, key: 0, secret: 0, answer: 0, usage: 0, usage_sum: 0, audit: 0 };
const none = JSON.stringify({ end: counts, sha256 });

test.each([
  ["", "standard input: not a state that this version of idv has exported"],
  ['{"idv":"state","version":1}\n', "standard input:1: not a state"],
  [`${first}\n`, "standard input: is cut off: its last line, with the number of all rows, is missing"],
  [
    `${first}\n${none.replace('"key":0', '"key":1')}\n`,
    "standard input:2: the last line does not match the rows above it",
  ],
  [
    `${first}\n${none.replace(sha256, "0".repeat(64))}\n`,
    "standard input:2: the last line does not match the rows above it",
  ],
  [`${first}\n${none}\n${none}\n`, "standard input:3: not a state"],
  [`${first}\nnonsense\n`, "standard input:2: not a state"],
  [`${first}\n{"usage":{"key_id":"a"}}\n`, "standard input:2: not a state"],
  [`${first}\n{"key":null}\n`, "standard input:2: not a state"],
])("%j is refused, and nothing is imported", async (stdin, message) => {
  const home = temporaryFolder();
  const { code, stderr } = await idv(["state", "import"], { home, stdin });
  expect(code, stderr).not.toBe(0);
  expect(stderr).toContain(message);
  // Nor is a state made.
  expect((await idv(["keys", "list", "--json"], { home })).code).toBe(6);
});

test("a file that is not there makes no state", async () => {
  const home = temporaryFolder();
  const { code, stderr } = await idv(["state", "import", "none.jsonl"], { home });
  expect([code, stderr]).toEqual([6, "idv: none.jsonl: cannot be read: no such file\n"]);
  expect((await idv(["keys", "list"], { home })).code).toBe(6);
});
