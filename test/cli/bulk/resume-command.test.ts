/** Covers the command that resumes a run. */
import { expect, test } from "vitest";
import { resumeCommand } from "../../../src/cli/bulk/resume-command.js";

test.each<[string[], string]>([
  [["emails", "list.csv", "-o", "out.csv"], "idv emails list.csv -o out.csv"],
  [["emails", "my list.csv"], "idv emails 'my list.csv'"],
  [["emails", "it's.csv"], "idv emails 'it'\\''s.csv'"],
  [["emails", "$(rm -rf x)"], "idv emails '$(rm -rf x)'"],
  [["emails", "--refresh", "list.csv"], "idv emails list.csv"],
  [["emails", "--", "--refresh"], "idv emails -- --refresh"],
  [["emails", ""], "idv emails ''"],
])("quotes words and drops --refresh: %j", (words, expected) => {
  expect(resumeCommand(words)).toBe(expected);
});
