/** The last step of a bulk run: prints the summary and decides the exit code. */
import { constants, open } from "node:fs/promises";
import { exitCodes } from "../exit-codes.js";
import { isUnicodeLocale, type TerminalStyle } from "../terminal/bars.js";
import { colours, counted, grouped, say } from "../terminal/terminal.js";
import { fromNow } from "../terminal/time.js";
import { type BulkOptions, failStatuses } from "./plan.js";
import { type DryRun, dryRunSummary, jsonSummary, type Summary, textSummary } from "./summary.js";

/** Prints the summary of a run to standard error. */
export async function printSummary(format: BulkOptions["summary"], summary: Summary | DryRun): Promise<void> {
  if (format === "none") return;
  const text = !("report" in summary)
    ? dryRunSummary(summary, format)
    : format === "json"
      ? jsonSummary(summary)
      : textSummary(summary, await terminalStyle());
  process.stderr.write(`${text}\n`);
}

/** Returns the style of the terminal on standard error; undefined off a terminal or with TERM=dumb. */
async function terminalStyle(): Promise<TerminalStyle | undefined> {
  const { isTTY, columns } = process.stderr;
  if (isTTY !== true || process.env["TERM"] === "dumb") return undefined;
  const isUnicode = isUnicodeLocale(process.env, process.platform);
  return { chalk: await colours(process.stderr, process.env), columns: columns || 80, isUnicode };
}

/**
 * Adds the summary of a run to a file as a line of JSON. A failure is reported and does not fail the run.
 */
export async function appendSummary(path: string, summary: Summary | DryRun): Promise<void> {
  const line = "report" in summary ? jsonSummary(summary) : dryRunSummary(summary, "json");
  // Without a reader, a named pipe would block.
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;
  try {
    const file = await open(path, flags);
    await file.appendFile(`${line}\n`).finally(() => file.close());
  } catch (error) {
    say(`${path}: the summary cannot be written: ${(error as Error).message}`);
  }
}

/** The commands for a quota that has ended: one that validates what is left, if there is one, and one that raises the limit. */
export interface QuotaCommands {
  readonly next: string | undefined;
  readonly limit: string;
}

/**
 * Returns the exit code. If it is not 0, prints the reason, even with `--quiet`. An exhausted quota takes precedence
 * over `--fail-on`, because the run is incomplete.
 */
export function exitCodeOf(
  summary: Summary | DryRun,
  options: Pick<BulkOptions, "failOn" | "maxBad" | "annotations">,
  commands: QuotaCommands,
): number {
  if (!("report" in summary)) return exitCodes.done;
  const { engine, report } = summary;
  const { statuses, otherStatuses, quota, spared } = report;
  const waiting = Math.max(
    ...[statuses, ...otherStatuses].map((counts) => counts.get("quota_exceeded") ?? 0),
  );
  if (waiting > 0) {
    const rows = counted(waiting, "row waits", "rows wait");
    say(
      `quota exhausted: ${rows} for it (quota_exceeded); ${renewal(engine, quota?.renewsAt ?? null, commands)}`,
    );
    return exitCodes.quotaExhausted;
  }
  const { asked = 0, cached = 0, undecided = 0, isStrict } = summary.dns ?? {};
  if (2 * undecided > asked + cached) {
    say(
      `DNS gave no usable answer for ${grouped(undecided)} of ${counted(asked + cached, "domain")}; their rows keep their statuses; to test the servers, run: idv doctor --dns`,
    );
    if (isStrict) return exitCodes.service;
  }
  if (options.failOn === undefined && options.maxBad === undefined) return exitCodes.done;
  const failing = (status: string) => (statuses.get(status) ?? 0) - (spared.get(status) ?? 0);
  const matched = failStatuses(options).filter((status) => failing(status) > 0);
  const found = matched.reduce((sum, status) => sum + failing(status), 0);
  const { count, isPerCent } = options.maxBad ?? { count: 0, isPerCent: false };
  if (found <= (isPerCent ? (count / 100) * report.rows : count)) return exitCodes.done;
  const counts = matched.map((status) => `${grouped(failing(status))} ${status}`);
  const allowed = options.maxBad === undefined ? "--fail-on" : `--max-bad ${count}${isPerCent ? "%" : ""}`;
  say(`${allowed}: rows found: ${counts.join(", ")}`);
  return exitCodes.failOn;
}

function renewal(
  engine: string,
  renewsAt: number | null,
  { next: nextCommand, limit }: QuotaCommands,
): string {
  if (renewsAt !== null) {
    const when = new Date(renewsAt).toISOString().replace(/(?::00)?\.\d{3}Z$/, "Z");
    const next = nextCommand === undefined ? "" : `; then run: ${nextCommand}`;
    return `it renews ${fromNow(renewsAt, Date.now())}, at ${when}${next}`;
  }
  return engine === "api" ? "run again when there is more" : `it does not renew; raise it with ${limit}`;
}
