/**
 * Entry point of the GitHub Action (action.yml): makes a command line of the inputs, runs it, and gives its counts as outputs
 * and its report as the summary of the job. Reads and writes the files and variables of the runner by itself: three lines, for
 * which the toolkit of GitHub would bring an HTTP client.
 */
import fs, { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { endOf, factsIn, startProgram } from "../../child-program.js";
import { workflowCommand } from "../../text.js";

/** Inputs of action.yml. A runner passes `fail-on` as the variable `INPUT_FAIL-ON`. */
type Input = "files" | "command" | "column" | "fail-on" | "max-bad" | "options" | "report";
const inputOf = (name: Input): string => process.env[`INPUT_${name.toUpperCase()}`]?.trim() ?? "";
const linesOf = (name: Input): string[] =>
  inputOf(name)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** Of Node.js 22 and newer: the runner has 24, but the types are those of 20. */
const { globSync } = fs as typeof fs & { readonly globSync?: (pattern: string) => string[] };
/** Returns the files that a path or a pattern names. */
const matching = (pattern: string): string[] => (existsSync(pattern) ? [pattern] : (globSync?.(pattern).sort() ?? []));

/** Returns the words of options, one a line: `--drop fake`, `--explain`. */
const words = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => /^(-\S+)\s+(.*)$/.exec(line)?.slice(1) ?? [line]);

function setOutput(name: string, value: string | number): void {
  const file = process.env["GITHUB_OUTPUT"];
  if (file) appendFileSync(file, `${name}=${value}\n`);
}

/** @throws Error when a line of the input names no file */
function findFiles(): string[] {
  const lines = linesOf("files");
  if (lines.length === 0) throw new Error('the input "files" is empty');
  return lines.flatMap((line) => {
    const found = matching(line);
    if (found.length === 0) throw new Error(`no file matches the input "files": ${line}`);
    return found;
  });
}

/** Returns the exit code of the command line. The table may go to standard output: addresses do not belong into a log. */
async function run(args: readonly string[]): Promise<number> {
  const program = fileURLToPath(new URL("../../bin/idv.js", import.meta.url));
  const own = { program: process.execPath, words: [program] };
  const { exitCode } = await endOf(startProgram(own, args, { stdio: ["ignore", "ignore", "inherit"] }));
  // Killed, as for want of memory.
  return exitCode ?? 70;
}

async function main(): Promise<void> {
  const files = findFiles();
  const folder = mkdtempSync(join(process.env["RUNNER_TEMP"] ?? tmpdir(), "idv-"));
  const summary = join(folder, "report.md");
  const counts = join(folder, "summary.jsonl");
  const checked = join(folder, "checked");
  const report = inputOf("report") || join(folder, "report.html");
  const options = words(linesOf("options"));
  const isPlaced = options.some((word) => /^(?:-[oI]|--(?:output|in-place|split)(?:=|$))/.test(word));
  mkdirSync(checked);
  const column = inputOf("column");
  const failOn = inputOf("fail-on") || "disposable,fake";
  const mostBad = inputOf("max-bad");
  const common = [
    ...(column === "" ? [] : ["--column", column]),
    ...(failOn === "none" ? [] : ["--fail-on", mostBad === "" ? failOn : `${failOn}:${mostBad}`]),
    ...["--report", report, "--report", summary, "--log", "github", "--log", `json:${counts}`],
    ...options,
  ];
  const place = isPlaced ? [] : ["--output", `${checked}/`];
  // After `--`, no file is an option: a pull request may add one called `--allow=x`.
  process.exitCode = await run([inputOf("command") || "emails", ...place, ...common, "--", ...files]);

  const totals = new Map<string, number>();
  const add = (name: string, count: number) => totals.set(name, (totals.get(name) ?? 0) + count);
  for (const name of ["rows", "empty", "ok", "alias", "disposable", "fake", "quota_exceeded"]) add(name, 0);
  const lines = existsSync(counts) ? readFileSync(counts, "utf8").split("\n") : [];
  for (const { rows, empty, statuses } of factsIn(lines)) {
    for (const [name, count] of Object.entries({ rows, empty, ...statuses })) add(name, count);
  }
  for (const [name, count] of totals) setOutput(name.replaceAll("_", "-"), count);
  setOutput("exit-code", process.exitCode);
  if (!isPlaced) setOutput("checked", checked);
  if (existsSync(report)) setOutput("report", resolve(report));
  const summaryOfJob = process.env["GITHUB_STEP_SUMMARY"];
  if (summaryOfJob && existsSync(summary)) appendFileSync(summaryOfJob, readFileSync(summary));
}

main().catch(({ message }: Error) => {
  process.stdout.write(workflowCommand("error", message));
  process.exitCode = 2;
});
