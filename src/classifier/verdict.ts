/** The vocabulary of the classifier: kinds of items, statuses, and the verdict. */
import type { ClassifierStatus, Found, ReasonFacts } from "./rules/rule.js";
import type { ReasonCode } from "./rules/rules.js";

export type { ClassifierStatus } from "./rules/rule.js";
export type { ReasonCode } from "./rules/rules.js";

/** Kind of an item: an e-mail address or a domain. */
export type Kind = "email" | "domain";

/** A reason code, usually followed by a subject: `disposable-domain: mailinator.com`. */
export type Reason = ReasonCode | `${ReasonCode}: ${string}`;

/** Verdict on one item. */
export interface Classification {
  readonly status: ClassifierStatus;
  /** Absent for `ok`, except for items that the user's own list allows. */
  readonly reason?: Reason;
  /** Item that was probably meant, such as the address without a typo. Present only when the guess is safe. */
  readonly suggestion?: string;
}

/** Returns the verdict of a rule that has found something. */
export function verdictOf({ code, status }: ReasonFacts, { subject, suggestion }: Found): Classification {
  const reason = (subject === undefined ? code : `${code}: ${subject}`) as Reason;
  return suggestion === undefined ? { status, reason } : { status, reason, suggestion };
}
