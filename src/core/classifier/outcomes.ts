/** The outcomes of offline verdicts: a small number for each status with each of its reasons. */
import { disposableDomain } from "./rules/domain/disposable-domain.js";
import { impossibleMailbox } from "./rules/mailbox/impossible-mailbox.js";
import { relay } from "./rules/mailbox/relay.js";
import { subAddress } from "./rules/mailbox/sub-address.js";
import { ruleReasons } from "./rules/rules.js";
import type { ClassifierStatus, ReasonCode } from "./verdict.js";

type Outcome = { readonly status: ClassifierStatus; readonly reason?: ReasonCode };

/** In the order of their codes in kernel/layout.ts, which start at 2. */
const ofKernel = [relay, subAddress, disposableDomain, impossibleMailbox] as const;
const others = ruleReasons.filter((reason) => !ofKernel.some(({ code }) => code === reason.code));

export const outcomes: readonly Outcome[] = [
  { status: "ok" },
  ...[...ofKernel, ...others].map(({ status, code }) => ({ status, reason: code })),
];

const codes = new Map<string | undefined, number>(outcomes.map(({ reason }, position) => [reason, position + 1]));

export function reasonCode(reason: string | undefined): string | undefined {
  const end = reason?.indexOf(":") ?? -1;
  return end === -1 ? reason : reason!.slice(0, end);
}

export function outcomeCode({ reason }: { readonly reason?: string }): number {
  const code = codes.get(reasonCode(reason));
  if (code === undefined) throw new Error(`the reason ${reason} is not in rules.ts`);
  return code;
}
