/** Covers the command lines in messages. */
import { expect, test } from "vitest";
import { commandLine, updateCommand } from "../../../../src/cli/bulk/report/command-line.js";

test.each<[string[], string]>([
  [["emails", "list.csv", "-o", "out.csv"], "idv emails list.csv -o out.csv"],
  [["emails", "my list.csv"], "idv emails 'my list.csv'"],
  [["emails", "it's.csv"], "idv emails 'it'\\''s.csv'"],
  [["emails", "$(rm -rf x)"], "idv emails '$(rm -rf x)'"],
  [["emails", ""], "idv emails ''"],
])("quotes words: %j", (words, expected) => {
  expect(commandLine(words)).toBe(expected);
});

test.each<[string[], string]>([
  [["emails", "-I.bak", "list.csv"], "idv emails -I.bak --update list.csv"],
  // Only the rows that are left are asked for again, so that no verdict is mixed with older ones.
  [
    ["emails", "--cache=refresh", "-I", "list.csv", "--update"],
    "idv emails --cache=refresh -I --update list.csv",
  ],
  [["emails", "list.csv", "-o", "list.csv"], "idv emails --update list.csv -o list.csv"],
])("adds --update: %j", (words, expected) => {
  expect(updateCommand(words)).toBe(expected);
});
