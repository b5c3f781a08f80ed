/** Covers `idv --help --json`: the tree has every command and option of the help, with types and defaults. */
import { expect, test } from "vitest";
import { createProgram } from "../../../src/cli/program.js";
import { idv } from "../../support/run-here.js";

interface Fact {
  readonly flags: readonly string[];
  readonly type: string;
  readonly [other: string]: unknown;
}

test.each([
  ["--help", "--json"],
  ["--json", "-h"],
])("idv %s %s describes every option that there is", async (...args) => {
  const { stdout, stderr, code } = await idv(args);
  expect([code, stderr]).toEqual([0, ""]);
  const tree = JSON.parse(stdout) as {
    readonly commands: readonly {
      readonly name: string;
      readonly options: readonly Fact[];
      readonly exitCodes: number[];
    }[];
    readonly exitCodes: Readonly<Record<string, string>>;
  };
  const program = await createProgram("0.0.0", ["help"]);
  const emails = tree.commands.find(({ name }) => name === "emails")!;
  const flagsOf = (options: readonly { readonly long?: string | null | undefined }[]) =>
    options.map(({ long }) => long);
  expect(emails.options.map(({ flags }) => flags.at(-1))).toEqual(
    flagsOf(program.commands.find((command) => command.name() === "emails")!.options),
  );
  const option = (flag: string) => emails.options.find(({ flags }) => flags.includes(flag));
  expect(option("--dedupe")).toMatchObject({ choices: ["item", "canonical"], valueOptional: true, type: "string" });
  expect(option("--color")).toMatchObject({ default: "auto", value: "WHEN" });
  expect(option("-q")).toMatchObject({ type: "boolean", flags: ["-q", "--quiet"] });
  expect(emails.exitCodes).toContain(4);
  for (const { exitCodes } of tree.commands)
    for (const each of exitCodes) expect(tree.exitCodes).toHaveProperty(String(each));
  expect(tree.commands.map(({ name }) => name)).toEqual(expect.arrayContaining(["page", "keys create", "state check"]));
});
