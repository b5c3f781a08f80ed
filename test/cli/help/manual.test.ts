/** Covers the manual page: everything that the commands have is in it, and roff reads it as text. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { blocksIn, manualPage, readTopic } from "../../../src/cli/help/from-markdown.js";
import { topicNames } from "../../../src/cli/help/topic-names.js";
import { createProgram } from "../../../src/cli/program.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const program = await createProgram("1.2.3", ["help"]);
const topics = Object.fromEntries(topicNames.map((name) => [name, blocksIn(readTopic(name))]));
const page = manualPage(program, "1.2.3", topics);

test("the manual page names every command and option", () => {
  const commands = program.commands.filter((command) => command.name() !== "help");
  const leaves = commands.flatMap((command) => (command.commands.length > 0 ? command.commands : [command]));
  for (const { options } of leaves.filter((command) => command.name() !== "domains")) {
    for (const { flags } of options) expect(page).toContain(`\n.B ${flags.replaceAll("-", "\\-")}\n`);
  }
  expect(page.match(/^\.SS /gm)).toHaveLength(leaves.length);
});

test("idv domains has the options of idv emails", () => {
  const flagsOf = (name: string) =>
    program.commands.find((command) => command.name() === name)!.options.map(({ flags }) => flags);
  expect(flagsOf("domains")).toEqual(flagsOf("emails"));
});

test("no line of text in the manual page is a roff request by mistake", () => {
  const requests = new Set([".TH", ".SH", ".SS", ".B", ".br", ".TP", ".PP", ".RS", ".RE", ".nf", ".fi", ".IP"]);
  for (const known of [".na", ".ad", ".TS", ".TE"]) requests.add(known);
  const lines = page
    .split("\n")
    .filter((line) => /^[.']/.test(line))
    .slice(1);
  expect(lines.filter((line) => !requests.has(line.split(" ")[0]!))).toEqual([]);
});

const hasMan = (() => {
  try {
    return execFileSync("man", ["--version"], { encoding: "utf8" }).includes("man");
  } catch {
    return false;
  }
})();

test.skipIf(!hasMan)("man renders the manual page", () => {
  const path = join(temporaryFolder(), "idv.1");
  writeFileSync(path, page);
  const text = execFileSync("man", ["-l", path], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], MANWIDTH: "100", LC_ALL: "C.UTF-8" },
  });
  expect(text).toContain("idv - validate e-mail addresses and domains in bulk");
  expect(text).toMatch(/EXIT STATUS\n {7}0 {6}done\n/);
  expect(text).toMatch(/quota_exceeded +not checked/);
});
