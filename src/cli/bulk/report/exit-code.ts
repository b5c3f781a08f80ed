/** Decides the exit code of a run, and gives the reason where it is not 0. */

import { countOf, type Facts } from "../../../core/facts/facts.js";
import { counted, grouped } from "../../../text.js";
import { exitCodes } from "../../exit-codes.js";
import { say } from "../../terminal/terminal.js";
import { fromNow } from "../../terminal/time.js";
import type { Plan } from "../plan/plan.js";
import { limitCommand } from "./next-commands.js";

/** Domains without a usable answer are reported: a share of them, if there are so many. */
const worryingShare = 0.05;
const worryingCount = 10;

/** The reason is printed even with `--quiet`. An exhausted quota comes before `--fail-on`: the run is incomplete. */
export function exitCodeOf(facts: Facts, plan: Plan): number {
  if (facts.dryRun) return exitCodes.done;
  const { statuses, spared, inputs, units, dns } = facts;
  const others = inputs.flatMap(({ otherColumns }) => otherColumns.map((column) => column.statuses));
  const waiting = [statuses, ...others].reduce((sum, counts) => sum + countOf(counts, "quota_exceeded"), 0);
  if (waiting > 0) {
    // In a row, several columns may lack a status.
    const what = counted(waiting, others.length > 0 ? "item" : "row");
    say(`quota exhausted: ${what} not checked (quota_exceeded); ${renewal(plan, facts, units.renews)}`);
    return exitCodes.quotaExhausted;
  }
  const { asked, cached, undecided } = dns ?? { asked: 0, cached: 0, undecided: 0 };
  const mostUndecided = (typeof plan.dns === "string" ? undefined : plan.dns.mostUndecided) ?? 1;
  const share = undecided / Math.max(1, asked + cached);
  const isFailed = share > mostUndecided;
  if (isFailed || share > 0.5 || (share >= worryingShare && undecided >= worryingCount)) {
    const some = `${grouped(undecided)} of ${counted(asked + cached, "domain")}`;
    const advice = "their rows keep their statuses; to test the servers, run: idv doctor --dns";
    say(`DNS gave no usable answer for ${some}; ${advice}`);
    if (isFailed) return exitCodes.service;
  }
  if (plan.failOn === undefined) return exitCodes.done;
  const failing = (status: string) => countOf(statuses, status) - countOf(spared, status);
  const matched = plan.failOn.statuses.filter((status) => failing(status) > 0);
  const found = matched.reduce((sum, status) => sum + failing(status), 0);
  const { count, isPerCent } = plan.failOn.limit ?? { count: 0, isPerCent: false };
  // Rounded, because 29 % of 100 rows are 28.999999999999996 in binary.
  const most = isPerCent ? Number(((count * facts.rows) / 100).toFixed(6)) : count;
  if (found <= most) return exitCodes.done;
  const counts = matched.map((status) => `${grouped(failing(status))} ${status}`);
  const allowed = plan.failOn.limit === undefined ? "" : ` (more than ${count}${isPerCent ? " %" : ""})`;
  say(`--fail-on: rows found: ${counts.join(", ")}${allowed}`);
  return exitCodes.failOn;
}

export const annotatedStatuses = ({ failOn }: Plan): readonly string[] =>
  failOn === undefined || failOn.statuses.length === 0 ? ["disposable", "fake"] : failOn.statuses;

function renewal(plan: Plan, { engine, resume }: Facts, renews: string | null): string {
  if (renews !== null) {
    const date = new Date(renews);
    const utc = date.toISOString().replace(/(?::00)?\.\d{3}Z$/, "Z");
    const when = date.getTimezoneOffset() === 0 ? "" : `, at ${utc}`;
    const next = resume === null ? "" : `; then run: ${resume}`;
    return `the quota renews ${fromNow(date.getTime(), Date.now())}${when}${next}`;
  }
  return engine === "api"
    ? "run again when the quota has units"
    : `the quota does not renew; raise its limit with ${limitCommand(plan)}`;
}
