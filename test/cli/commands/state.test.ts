/** Covers states that `idv state import` refuses. */
import { expect, test } from "vitest";
import { idv } from "../../support/run-here.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const first = '{"idv":"state","version":2}';
const none = '{"end":{"quota":0,"key":0,"secret":0,"usage":0,"answer":0,"audit":0}}';

test.each([
  ["", "standard input: not a state that this version of idv has exported"],
  ['{"idv":"state","version":1}\n', "standard input:1: not a state"],
  [`${first}\n`, "standard input: is cut off: its last line, with the number of all rows, is missing"],
  [`${first}\n${none.replace('"key":0', '"key":1')}\n`, "standard input:2: its last line counts other rows"],
  [`${first}\n${none}\n${none}\n`, "standard input:3: not a state"],
  [`${first}\nnonsense\n`, "standard input:2: not a state"],
  [`${first}\n{"usage":{"key_id":"a"}}\n`, "standard input:2: not a state"],
  [`${first}\n{"key":null}\n`, "standard input:2: not a state"],
])("%j is refused, and nothing is imported", async (stdin, message) => {
  const home = temporaryFolder();
  const { code, stderr } = await idv(["state", "import"], { home, stdin });
  expect(code, stderr).not.toBe(0);
  expect(stderr).toContain(message);
  expect((await idv(["keys", "list", "--json"], { home })).stdout).toBe("");
});
