/**
 * Entry point of the GitHub Action (action.yml): makes a command line of the inputs, runs it, and gives its counts as outputs
 * and its report as the summary of the job. Reads and writes the files and variables of the runner by itself: three lines, for
 * which the toolkit of GitHub would bring an HTTP client.
 */
import { spawn } from "node:child_process";
import fs, { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

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
const matching = (pattern: string): string[] =>
  existsSync(pattern) ? [pattern] : (globSync?.(pattern).sort() ?? []);

/** Returns the words of options, one a line: `--drop fake`, `--explain`. */
const words = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => /^(-\S+)\s+(.*)$/.exec(line)?.slice(1) ?? [line]);

function setOutput(name: string, value: string | number): void {
  const file = process.env["GITHUB_OUTPUT"];
  if (file) appendFileSync(file, `${name}=${value}\n`);
}

function fail(message: string): void {
  process.stdout.write(`::error::${message.replaceAll("%", "%25").replaceAll("\n", "%0A")}\n`);
  process.exitCode = 2;
}

interface FileSummary {
  readonly type: string;
  readonly rows?: number;
  readonly empty?: number;
  readonly statuses?: Readonly<Record<string, number>>;
}

async function main(): Promise<void> {
  const patterns = linesOf("files");
  const files = patterns.flatMap(matching);
  if (files.length === 0)
    return fail(`no file matches the input "files": ${patterns.join(", ") || "it is empty"}`);
  const folder = mkdtempSync(join(process.env["RUNNER_TEMP"] ?? tmpdir(), "idv-"));
  const [page, summary, counts] = ["report.html", "report.md", "summary.jsonl"].map((name) =>
    join(folder, name),
  );
  const report = inputOf("report") || page!;
  const options = words(linesOf("options"));
  const isPlaced = options.some((word) => /^(?:-o|-I|--output|--in-place|--split)/.test(word));
  const checked = join(folder, "checked");
  mkdirSync(checked);
  const column = inputOf("column");
  const [failOn, mostBad] = [inputOf("fail-on") || "disposable,fake", inputOf("max-bad")];
  const args = [
    inputOf("command") || "emails",
    ...files,
    ...(isPlaced ? [] : ["--output", `${checked}/`]),
    ...(column === "" ? [] : ["--column", column]),
    ...(failOn === "none" ? [] : ["--fail-on", mostBad === "" ? failOn : `${failOn}:${mostBad}`]),
    ...["--report", report, "--report", summary!, "--log", "github", "--log", `json:${counts}`],
    ...options,
  ];
  const program = fileURLToPath(new URL("../../bin/idv.js", import.meta.url));
  // The table may go to standard output: addresses do not belong into a log.
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "ignore", "inherit"] });
  process.exitCode = await new Promise<number>((done) => child.on("exit", (code) => done(code ?? 1)));

  const totals = new Map<string, number>();
  const add = (name: string, count = 0) => totals.set(name, (totals.get(name) ?? 0) + count);
  for (const name of ["rows", "empty", "ok", "alias", "disposable", "fake", "quota_exceeded"]) add(name);
  const lines = existsSync(counts!) ? readFileSync(counts!, "utf8").trim().split("\n") : [];
  for (const { type, rows, empty, statuses = {} } of lines.map((line) => JSON.parse(line) as FileSummary)) {
    if (type !== "summary") continue;
    add("rows", rows);
    add("empty", empty);
    for (const [status, count] of Object.entries(statuses)) add(status, count);
  }
  for (const [name, count] of totals) setOutput(name.replaceAll("_", "-"), count);
  setOutput("exit-code", process.exitCode);
  if (!isPlaced) setOutput("checked", checked);
  if (existsSync(report)) setOutput("report", resolve(report));
  const place = process.env["GITHUB_STEP_SUMMARY"];
  if (place && existsSync(summary!)) appendFileSync(place, readFileSync(summary!));
}

main().catch((error: Error) => fail(error.message));
