/** Covers what is told to people who have typed something else than they meant. */
import { expect, test } from "vitest";
import { idv } from "../../support/run-here.js";
import { folderOf } from "../../support/temporary-folder.js";

test.each<[string, readonly string[], string]>([
  ["a file in place of a command", ["l.csv"], "unknown command l.csv (to check a list: idv emails l.csv)"],
  ["a URL in place of a command", ["https://a.de/l.csv"], "to check a list: curl -sSf https://a.de/l.csv | idv emails"],
  ["a URL in place of a file", ["emails", "https://a.de/l.csv"], "is a URL, and idv reads files: curl -sSf"],
  ["a command with a typo", ["emials"], "unknown command emials (did you mean emails?)"],
])("%s is answered with the command that was meant", async (_, args, message) => {
  const { code, stderr } = await idv(args, { home: folderOf({ "l.csv": "email\n" }) });
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});
