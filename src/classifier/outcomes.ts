/** The outcomes of offline verdicts: each status with each of its reasons, as a small number. */
import type { Classification, ClassifierStatus, ReasonCode } from "./verdict.js";

/** A status and the code of its reason. */
interface Outcome {
  readonly status: ClassifierStatus;
  readonly reason?: ReasonCode;
}

/** All outcomes. The code of an outcome is its position, counted from 1. */
export const outcomes: readonly Outcome[] = [
  { status: "ok" },
  { status: "ok", reason: "allow-list" },
  { status: "alias", reason: "relay" },
  { status: "alias", reason: "sub-address" },
  { status: "disposable", reason: "disposable-domain" },
  { status: "disposable", reason: "deny-list" },
  { status: "fake", reason: "syntax" },
  { status: "fake", reason: "special-use" },
  { status: "fake", reason: "unknown-tld" },
  { status: "fake", reason: "public-suffix" },
  { status: "fake", reason: "typo-domain" },
  { status: "fake", reason: "no-reply" },
  { status: "fake", reason: "impossible-mailbox" },
  { status: "fake", reason: "placeholder" },
];

/** Returns the code of the reason of a verdict: the part before the colon. */
export function reasonCode(reason: string | undefined): string | undefined {
  const end = reason?.indexOf(":") ?? -1;
  return end === -1 ? reason : reason!.slice(0, end);
}

/** Returns the code of a verdict of the classifier. */
export function outcomeCode({ status, reason }: Classification): number {
  const code = reasonCode(reason);
  return 1 + outcomes.findIndex((outcome) => outcome.status === status && outcome.reason === code);
}

const disposable = "disposable-domain: ";

/** Returns the listed domain from the reason of a verdict; undefined if it is another reason. */
export function listedDomain(reason: string | undefined): string | undefined {
  return reason?.startsWith(disposable) ? reason.slice(disposable.length) : undefined;
}
