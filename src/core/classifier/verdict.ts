/** The vocabulary of the classifier: kinds of items, statuses, reasons and verdicts. */
import type { ClassifierStatus, Found, ReasonRecord } from "./rules/rule.js";
import type { ReasonCode } from "./rules/rules.js";

export type { ClassifierStatus } from "./rules/rule.js";
export type { ReasonCode } from "./rules/rules.js";

export type Kind = "email" | "domain";

/** `undecided` comes with a status that passed the rules: DNS gave no usable answer about the domain. */
export type Reason = ReasonCode | `${ReasonCode | "undecided"}: ${string}`;

export interface Classification {
  readonly status: ClassifierStatus;
  /** Absent for `ok`, except for items on the user's allow list. */
  readonly reason?: Reason;
  /** Item that was probably meant, such as the address without a typo. Present only if the guess is safe. */
  readonly suggestion?: string;
}

export function verdictOf({ code, status }: ReasonRecord, { subject, suggestion }: Found): Classification {
  const reason = (subject === undefined ? code : `${code}: ${subject}`) as Reason;
  return suggestion === undefined ? { status, reason } : { status, reason, suggestion };
}
