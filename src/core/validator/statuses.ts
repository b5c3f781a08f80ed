/** The words of the statuses, which the help, README, reports and pages show. Those of reasons are in the rule records. */
import type { knownStatuses } from "./validator.js";

export interface StatusWords {
  readonly meaning: string;
  readonly advice: string;
  readonly command?: string;
}

export const statusWords: Readonly<Record<(typeof knownStatuses)[number] | "(empty)", StatusWords>> = {
  ok: { meaning: "no problem found", advice: "Keep it." },
  alias: {
    meaning: "a sub-address (`ann+news@...`) or a forwarding relay: a real mailbox under another name",
    advice: "Keep it: mail arrives. Its owner may switch it off.",
    command: "`--dedupe=canonical` keeps one row for each mailbox.",
  },
  disposable: {
    meaning: "the domain, or one above it, hands out throw-away addresses",
    advice: "Leave it out, or ask for another one: its mailboxes last for minutes or days.",
  },
  fake: {
    meaning: "cannot exist: broken syntax, reserved or unknown top-level domain, mistyped provider, impossible mailbox",
    advice: "Leave it out, or repair it if it is mistyped: mail to it bounces.",
    command: "`--explain` says why, `--fix` repairs.",
  },
  quota_exceeded: { meaning: "not checked, because the quota ran out", advice: "Check it when there are units again." },
  "(empty)": { meaning: "nothing to check", advice: "These rows have nothing to check." },
};

/** The word for a status in a report for people: a customer who has mistyped an address is no fake. */
export const shownStatus = (status: string): string => (status === "fake" ? "undeliverable" : status);
