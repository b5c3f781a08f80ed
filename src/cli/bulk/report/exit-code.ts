/** Decides the exit code of a run, and gives the reason where it is not 0. */

import { counted, grouped } from "../../../text.js";
import { exitCodes } from "../../exit-codes.js";
import { say } from "../../terminal/terminal.js";
import { fromNow } from "../../terminal/time.js";
import type { Plan } from "../plan/plan.js";
import { limitCommand } from "./next-commands.js";
import type { DryRun, Summary } from "./result.js";

/** Domains without a usable answer that are reported: a share of them, if there are so many. */
const worryingShare = 0.05;
const worryingCount = 10;

/**
 * Prints the reason even with `--quiet`. An exhausted quota takes precedence over `--fail-on`, because the run is
 * incomplete.
 */
export function exitCodeOf(summary: Summary | DryRun, plan: Plan): number {
  if (!("report" in summary)) return exitCodes.done;
  const { report } = summary;
  const { statuses, otherStatuses, quota, spared } = report;
  const waiting = Math.max(
    ...[statuses, ...otherStatuses].map((counts) => counts.get("quota_exceeded") ?? 0),
  );
  if (waiting > 0) {
    const rows = counted(waiting, "row waits", "rows wait");
    say(
      `quota exhausted: ${rows} for it (quota_exceeded); ${renewal(plan, summary, quota?.renewsAt ?? null)}`,
    );
    return exitCodes.quotaExhausted;
  }
  const { asked = 0, cached = 0, undecided = 0, mostUndecided = 1 } = summary.dns ?? {};
  const share = undecided / Math.max(1, asked + cached);
  const isFailed = share > mostUndecided;
  if (isFailed || share > 0.5 || (share >= worryingShare && undecided >= worryingCount)) {
    say(
      `DNS gave no usable answer for ${grouped(undecided)} of ${counted(asked + cached, "domain")}; their rows keep their statuses; to test the servers, run: idv doctor --dns`,
    );
    if (isFailed) return exitCodes.service;
  }
  if (plan.failOn === undefined) return exitCodes.done;
  const failing = (status: string) => (statuses.get(status) ?? 0) - (spared.get(status) ?? 0);
  const matched = plan.failOn.statuses.filter((status) => failing(status) > 0);
  const found = matched.reduce((sum, status) => sum + failing(status), 0);
  const { count, isPerCent } = plan.failOn.limit ?? { count: 0, isPerCent: false };
  // Rounded, because 29 % of 100 rows are 28.999999999999996 in binary.
  const most = isPerCent ? Number(((count * report.rows) / 100).toFixed(6)) : count;
  if (found <= most) return exitCodes.done;
  const counts = matched.map((status) => `${grouped(failing(status))} ${status}`);
  const allowed = plan.failOn.limit === undefined ? "" : ` (more than ${count}${isPerCent ? " %" : ""})`;
  say(`--fail-on: rows found: ${counts.join(", ")}${allowed}`);
  return exitCodes.failOn;
}

export const annotatedStatuses = ({ failOn }: Plan): readonly string[] =>
  failOn === undefined || failOn.statuses.length === 0 ? ["disposable", "fake"] : failOn.statuses;

function renewal(plan: Plan, { engine, resume }: Summary, renewsAt: number | null): string {
  if (renewsAt !== null) {
    const date = new Date(renewsAt);
    const utc = date.toISOString().replace(/(?::00)?\.\d{3}Z$/, "Z");
    const when = date.getTimezoneOffset() === 0 ? " UTC" : `, at ${utc}`;
    const next = resume === undefined ? "" : `; then run: ${resume}`;
    return `it renews ${fromNow(renewsAt, Date.now())}${when}${next}`;
  }
  return engine === "api"
    ? "run again when there is more"
    : `it does not renew; raise it with ${limitCommand(plan)}`;
}
