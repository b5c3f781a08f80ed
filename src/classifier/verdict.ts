/** The vocabulary of the classifier: kinds of items, statuses, and the verdict. */

/** Kind of an item: an e-mail address or a domain. */
export type Kind = "email" | "domain";

/** Statuses that the classifier gives. */
export type ClassifierStatus = "ok" | "alias" | "disposable" | "fake";

/** Stable codes of the reasons, in the order in which the rules are tried. */
export const reasonCodes = [
  "syntax",
  "allow-list",
  "deny-list",
  "special-use",
  "unknown-tld",
  "public-suffix",
  "typo-domain",
  "disposable-domain",
  "no-reply",
  "impossible-mailbox",
  "placeholder",
  "relay",
  "sub-address",
  "no-such-domain",
  "null-mx",
  "no-mail-server",
  "disposable-mx",
] as const;
export type ReasonCode = (typeof reasonCodes)[number];
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
