/** Covers the plan of a run: contradictory options and files with two roles are rejected before any file is opened. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { planRun } from "../../../../src/cli/bulk/plan/plan.js";
import type { BulkOptions } from "../../../../src/cli/options/bulk.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";

const defaults: BulkOptions = { headers: true };

const { env } = process;
let home: string;
beforeEach(() => {
  home = temporaryFolder();
  process.env = { HOME: home, XDG_CONFIG_HOME: join(home, "config"), XDG_STATE_HOME: join(home, "state") };
});
afterEach(() => {
  process.env = env;
});

/** Plans a run over files of the home. */
async function plan(file: string | undefined, options: Partial<BulkOptions> = {}) {
  const inHome = (path: string | undefined) => (path === undefined || path === "-" ? "-" : join(home, path));
  const paths = ["output", "quota"] as const;
  const resolved = Object.fromEntries(
    paths.flatMap((name) => (options[name] === undefined ? [] : [[name, inHome(options[name])]])),
  );
  const { badRows } = options;
  const [planned] = await planRun(
    {
      kind: "email",
      given: [],
      options: {
        ...defaults,
        ...options,
        ...resolved,
        ...(options.set && { set: options.set.map(([name, value]) => [name, inHome(String(value))] as const) }),
        ...(badRows?.file !== undefined && { badRows: { ...badRows, file: inHome(badRows.file) } }),
      },
    },
    [{ path: inHome(file) }],
  );
  return planned;
}

test.each<[string, string | undefined, Partial<BulkOptions>, Record<string, unknown>]>([
  ["a file to standard output", "list.csv", {}, { output: undefined, isInPlace: false, backup: undefined }],
  ["a file to a file", "list.csv", { output: "out.csv" }, { output: "out.csv", isInPlace: false }],
  ["- for standard output", "list.csv", { output: "-" }, { output: undefined }],
  ["in place", "list.csv", { inPlace: "" }, { output: "list.csv", isInPlace: true, backup: undefined }],
  ["in place with a backup", "list.csv", { inPlace: ".bak" }, { output: "list.csv", backup: "list.csv.bak" }],
  ["standard input", undefined, {}, { input: undefined, inputName: "standard input" }],
])("plans %s", async (_, file, options, expected) => {
  const planned: unknown = await plan(file, options);
  const relative = JSON.parse(JSON.stringify(planned).replaceAll(`${home}/`, ""));
  for (const [name, value] of Object.entries(expected)) expect(relative[name]).toBe(value);
});

const keepNeeds = "--bad-rows keep works only in the text format of the input";
const lost = "--in-place would lose the bad rows: keep them with --bad-rows skip:FILE, or the old file with -I.bak";
const fileOf = (path: string) => ({ policy: "skip" as const, file: path });
test.each<[string, Partial<BulkOptions>, string, string?]>([
  ["a comment that is the usual quote", { comment: '"' }, "need different characters"],
  ["an escape that is the delimiter", { quote: { quote: '"', escape: "," }, delimiter: "," }, "different"],
  ["--offline with DNS", { offline: true, set: [["dns", "strict"]] }, "leave out --set dns"],
  ["--offline with a service", { offline: true, set: [["engine", "api"]] }, "leave out --set engine"],
  ["all columns and another one", { column: ["*", "a"] }, '-c "*" stands for all columns'],
  ["two formats of the log", { log: [{ format: "json" }, { format: "text" }] }, "--log takes one of"],
  ["two files of the log", { log: [{ summaryFile: "a" }, { summaryFile: "b" }] }, "--log takes one of"],
  ["bad rows in a workbook", { output: "o.xlsx", badRows: { policy: "keep" } }, "--bad-rows keep works only"],
  ["standard input in place", { inPlace: "" }, "--in-place needs a FILE", "-"],
  ["comments that --format drops", { inPlace: "", comment: "#", format: "csv" }, "--in-place would lose the comments"],
  ["a delimiter that is the quote", { delimiter: "'", quote: { quote: "'" } }, "need different characters"],
  ["a quote that starts comments", { quote: { quote: "#" }, comment: "#" }, "need different characters"],
  ["bad rows with another format", { badRows: { policy: "keep" }, format: "tsv" }, keepNeeds],
  ["bad rows that would be lost", { inPlace: "", badRows: { policy: "skip" } }, lost],
  ["bad rows with --split", { badRows: { policy: "keep" }, split: "d" }, keepNeeds],
  ["the quota file as output", { output: "q", quota: "q" }, "cannot be the output and the quota file at once"],
  ["the input as file of bad rows", { badRows: fileOf("l") }, "cannot be the input and the file of bad rows at once"],
  [
    "the output as file of bad rows",
    { output: "o", badRows: fileOf("o") },
    "cannot be the file of bad rows and the output",
  ],
  [
    "the key file as output",
    { output: "k", set: [["apiKeyFile", "k"]] },
    "cannot be the output and the key file at once",
  ],
  ["the cache as output", { output: "state/idv/verdicts.db" }, "cannot be the output and the cache at once"],
])("rejects %s", async (_, options, message, file = "l") => {
  await expect(plan(file, options)).rejects.toThrow(message);
});

test("rejects the key file of the configuration as output", async () => {
  mkdirSync(join(home, "config/idv"), { recursive: true });
  const settings = JSON.stringify({ apiKeyFile: join(home, "k") });
  writeFileSync(join(home, "config/idv/config.json"), settings, { mode: 0o600 });
  await expect(plan("l", { output: "k" })).rejects.toThrow("cannot be the output and the key file at once");
});

test("rejects the quota file through symbolic links of the file and of its folder", async () => {
  mkdirSync(join(home, "state/idv"), { recursive: true });
  writeFileSync(join(home, "state/idv/quota.db"), "");
  symlinkSync("state/idv/quota.db", join(home, "link"));
  symlinkSync("state/idv", join(home, "folder"));
  for (const output of ["link", "folder/quota.db"]) {
    await expect(plan("l", { output })).rejects.toThrow("and the quota file at once");
  }
});
