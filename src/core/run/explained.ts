/** The verdict behind a status: of the engine that gave it, of DNS, or of the offline rules. */
import { mayReceiveMail } from "../classifier/rules/domain/unknown-tld.js";
import type { Status, Verdict } from "../validator/validator.js";
import type { RunOptions } from "./run-options.js";

/** Without a reason if none of them explains the status. */
export function explained(options: RunOptions, item: string, status: Status): Verdict {
  const { kind, validator, mailCheck } = options;
  const verdict = validator.explain
    ? validator.explain(kind, item)
    : (validator.precheck?.(kind, item) ?? offlineVerdict(options, item, status));
  const found = withDns(verdict);
  return found?.status === status ? found : { status };

  function withDns(verdict: Verdict | undefined): Verdict | undefined {
    if (mailCheck === undefined) return verdict;
    // DNS replaces only statuses that passed. A status from DNS has its reason; others get the MX host.
    const before = verdict?.status ?? "ok";
    const byDns = mayReceiveMail({ ...verdict, status: before }) ? mailCheck.verdictOn(kind, item, before) : undefined;
    if (byDns?.status === status && status !== before) return byDns;
    const { mx, reason } = byDns?.status === before ? byDns : {};
    return { ...verdict, status, ...(mx !== undefined && { mx }), ...(reason !== undefined && { reason }) };
  }
}

/** Marks the reason as one of the offline rules: the service may have other reasons. */
function offlineVerdict({ kind, offlineRules }: RunOptions, item: string, status: Status): Verdict | undefined {
  const { reason, suggestion, ...rest } = offlineRules?.(kind, item) ?? { status: "" };
  if (rest.status !== status || reason === undefined) return undefined;
  return { status, reason: `offline: ${reason}`, ...(suggestion !== undefined && { suggestion }) };
}
