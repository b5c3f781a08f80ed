/** Covers the command lines in messages. */
import { expect, test } from "vitest";
import { commandLine } from "../../../../src/cli/bulk/command-line.js";
import { pathWord } from "../../../../src/text.js";

test.each<[string[], string]>([
  [["emails", "list.csv", "-o", "out.csv"], "idv emails list.csv -o out.csv"],
  [["emails", "my list.csv"], "idv emails 'my list.csv'"],
  [["emails", "it's.csv"], "idv emails 'it'\\''s.csv'"],
  [["emails", "$(rm -rf x)"], "idv emails '$(rm -rf x)'"],
  [["emails", ""], "idv emails ''"],
  [["emails", pathWord("-x.csv")], "idv emails ./-x.csv"],
])("quotes the words of a command line for a shell: %j", (words, expected) => {
  expect(commandLine(words)).toBe(expected);
});
