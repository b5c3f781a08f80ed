/** Prints the summary of a run, or adds it to a file. */
import { constants, open } from "node:fs/promises";
import { cannotWrite } from "../../../files/errors.js";
import { isUnicodeLocale, type TerminalStyle } from "../../terminal/bars.js";
import { colours } from "../../terminal/terminal.js";
import type { LogPlan } from "../plan/plan.js";
import type { DryRun, Summary } from "./result.js";
import { dryRunSummary, jsonSummary, textSummary } from "./summary.js";

export async function printSummary(format: LogPlan["summary"], summary: Summary | DryRun): Promise<void> {
  if (format === "none") return;
  const text = !("report" in summary)
    ? dryRunSummary(summary, format)
    : format === "json"
      ? jsonSummary(summary)
      : textSummary(summary, await terminalStyle());
  process.stderr.write(`${text}\n`);
}

async function terminalStyle(): Promise<TerminalStyle | undefined> {
  const { isTTY, columns } = process.stderr;
  if (isTTY !== true || process.env["TERM"] === "dumb") return undefined;
  const isUnicode = isUnicodeLocale(process.env, process.platform);
  return { chalk: await colours(process.stderr, process.env), columns: columns || 80, isUnicode };
}

/**
 * Appends the summary to a file as a line of JSON.
 *
 * @throws FileError when it cannot be written
 */
export async function appendSummary(path: string, summary: Summary | DryRun): Promise<void> {
  const line = "report" in summary ? jsonSummary(summary) : dryRunSummary(summary, "json");
  // Opening a named pipe without a reader would block.
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;
  try {
    const file = await open(path, flags);
    await file.appendFile(`${line}\n`).finally(() => file.close());
  } catch (error) {
    throw cannotWrite(path, error);
  }
}
