/** The port from a run to the stage that asks DNS, which `engines/dns/mail-check.ts` implements. */
import type { Kind, Status, Verdict } from "../validator/validator.js";

export interface MailCheckPort {
  /** Asks DNS about the domains of items, for `verdictOn`. Domains that are already known cost nothing. */
  ask(kind: Kind, items: Iterable<string>): Promise<void>;
  /** `status` so far is `ok`, `alias`, or `fake` for an unknown ending. It stays if DNS has no objection. */
  verdictOn(kind: Kind, item: string, status: Status): Verdict;
}
