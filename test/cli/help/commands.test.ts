/** Covers the help of every command. */
import type { Command } from "commander";
import { expect, test } from "vitest";
import { createProgram } from "../../../src/cli/program.js";

/** Returns what `idv WORDS --help` prints. */
async function helpOf(words: string): Promise<string> {
  const argv = [...words.split(" "), "--help"];
  const program = await createProgram("1.0.0", argv);
  let text = "";
  const capture = (command: Command): void => {
    command.configureOutput({
      writeOut: (part) => {
        text += part;
      },
    });
    command.commands.forEach(capture);
  };
  capture(program);
  await expect(program.parseAsync(argv, { from: "user" })).rejects.toMatchObject({ exitCode: 0 });
  return text;
}

test.each([
  ...["emails", "domains", "check", "allow", "allow add", "allow remove", "allow list", "deny", "deny add"],
  ...["login", "logout", "cache", "doctor", "quota", "data", "serve", "keys", "usage"],
  ...["quota show", "quota set", "quota reset", "data show", "data update", "cache stats", "cache clear"],
  ...["cache prune", "keys create", "keys list", "keys set", "keys revoke", "keys rotate"],
])("%s --help shows examples first, then options, variables and exit codes", async (command) => {
  const text = await helpOf(command);
  expect(text).toMatch(/Usage: idv.*Examples:\n {2}\$ idv .*Options:.*Environment:\n.*Exit codes:\n {2}0 {2}done\n/s);
  // Each default is named once.
  expect(text).not.toMatch(/\(default: [^)]*\) \(default/);
});

test("the help mentions exit code 5 only for commands that can end with it", async () => {
  expect(await helpOf("emails")).toMatch(
    /strict\[:5%\]:\s+exit\s+5\s+if\s+over\s+half.*undecided\s+\(default:\s+off\)/s,
  );
  const serve = await helpOf("serve");
  expect(serve).toContain("look up whether domains receive mail (default:");
  expect(serve).not.toMatch(/exit\s+5/);
});

test("emails --help groups its options, the common ones first", async () => {
  const headings = [...(await helpOf("emails")).matchAll(/^([A-Z]\w+):$/gm)].map(([, heading]) => heading);
  expect(headings.slice(2, 9)).toEqual(["Input", "Rows", "Output", "Verdicts", "Quota", "Service", "Log"]);
});

test("emails --help has at most 38 options, in fewer than 95 lines", async () => {
  const lines = (await helpOf("emails")).split("\n");
  const [first, last] = [lines.indexOf("Input:"), lines.indexOf("Options:")];
  expect(lines.filter((line) => /^ {2}-/.test(line)).length - 2).toBeLessThanOrEqual(38);
  expect(last - first).toBeLessThan(95);
});

test.each<[string, readonly string[]]>([
  ["serve", ["timeout", "exit 5"]],
  ["check", ["--wait"]],
  ["doctor", ["--wait"]],
])("%s --help shows no option that it does not use", async (command, useless) => {
  const text = await helpOf(command);
  for (const option of useless) expect(text.replace("as timeout=1m", "")).not.toContain(option);
});
