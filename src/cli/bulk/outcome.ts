/** The last step of a bulk run: prints the summary and decides the exit code. */
import { exitCodes } from "../exit-codes.js";
import { colours, counted, say } from "../terminal/terminal.js";
import type { BulkOptions } from "./plan.js";
import { type DryRun, dryRunSummary, jsonSummary, type Summary, textSummary } from "./summary.js";

/** Prints the summary of a run to standard error. */
export async function printSummary(format: BulkOptions["summary"], summary: Summary | DryRun): Promise<void> {
  if (format === "none") return;
  const text = !("report" in summary)
    ? dryRunSummary(summary, format)
    : format === "json"
      ? jsonSummary(summary)
      : textSummary(summary, await colours(process.stderr, process.env));
  process.stderr.write(`${text}\n`);
}

/**
 * Returns the exit code. If it is not 0, prints the reason, even with `--quiet`. An exhausted quota takes precedence
 * over `--fail-on`, because the run is incomplete.
 */
export function exitCodeOf(summary: Summary | DryRun, failOn: readonly string[]): number {
  if (!("report" in summary)) return exitCodes.done;
  const { engine, report } = summary;
  const { statuses, quota } = report;
  const waiting = statuses.get("quota_exceeded") ?? 0;
  if (waiting > 0) {
    const rows = counted(waiting, "row waits", "rows wait");
    say(`quota exhausted: ${rows} for it (quota_exceeded); ${renewal(engine, quota?.renewsAt ?? null)}`);
    return exitCodes.quotaExhausted;
  }
  const matched = failOn.filter((status) => statuses.has(status));
  if (matched.length === 0) return exitCodes.done;
  const counts = matched.map((status) => `${statuses.get(status)?.toLocaleString("en")} ${status}`);
  say(`--fail-on: rows found: ${counts.join(", ")}`);
  return exitCodes.failOn;
}

function renewal(engine: string, renewsAt: number | null): string {
  if (renewsAt !== null) {
    return `it renews at ${new Date(renewsAt).toISOString().replace(/:00\.000Z$/, "Z")}`;
  }
  return engine === "api"
    ? "run again when there is more"
    : "it does not renew; raise it with idv quota set --limit N";
}
