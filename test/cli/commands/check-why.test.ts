/** Covers `idv check --why`: where a verdict comes from. */
import { expect, test } from "vitest";
import { reasons } from "../../../src/core/classifier/rules/rules.js";
import { idv } from "../../support/run-here.js";
import { folderOf } from "../../support/temporary-folder.js";

test("names the rule, its source, the lists with their dates and pages, and a sentence for the person", async () => {
  const { code, stdout } = await idv(["check", "--why", "x@mailinator.com"]);
  expect(code).toBe(0);
  const lines = stdout.split("\n");
  expect(lines.slice(0, 2)).toEqual([
    "x@mailinator.com\tdisposable\tdisposable-domain: mailinator.com",
    "  rule: disposable domain; source: lists of disposable domains, and a table of free zones",
  ]);
  expect(lines).toContain(
    "  mailinator.com is in fakefilter, as of 2026-02-18; corrections: https://github.com/7c/fakefilter/issues",
  );
  expect(lines.filter((line) => line.includes("mailinator.com is in "))).toHaveLength(9);
  expect(lines.at(-2)).toMatch(/^ {2}for the person: The domain of this address is on lists of services/);
});

test.each([
  ["ann@x.us.to", "  us.to is in idv's own list"],
  ["ann@in.dropmail.me", "  dropmail.me is in "],
  ["grace.lee@gmial.com", "  rule: mistyped domain; source: domains one edit away"],
  ["ann@larch-and-oak.com", "  no rule objects"],
  ["ann@x.\u001b[2J", "  rule: syntax; source: RFC 5321, section 4.1.2, and RFC 6531"],
])("%s: %s", async (address, line) => {
  const { stdout } = await idv(["check", "--why", address]);
  expect(stdout).toContain(`\n${line}`);
  expect(stdout).not.toContain("\u001b");
});

test("own lists are the source of their verdicts", async () => {
  const home = folderOf({ deny: "larch-and-oak.com\n" });
  const { stdout } = await idv(["check", "--json", "--why", "--deny", "deny", "ann@larch-and-oak.com"], { home });
  expect(JSON.parse(stdout)).toMatchObject({
    status: "disposable",
    why: { rule: "on your deny list", source: "your own deny list", lists: [], isOwn: false },
  });
});

test("each rule has a source, and a sentence that a person can be shown", () => {
  for (const { code, source, forPerson } of reasons) {
    expect(source, code).not.toBe("");
    expect(forPerson, code).toMatch(/^[A-Z].*\.$/);
  }
});
