/** The port from a run to the stage that asks DNS, which `dns/mail-check.ts` implements. */
import type { Kind, Status, Verdict } from "../validator/validator.js";

export interface MailCheckPort {
  /** Asks DNS about the domains of items, for `verdictOn`. Domains that are already known cost nothing. */
  ask(kind: Kind, items: Iterable<string>): Promise<void>;
  /**
   * Returns the verdict on an item that was asked about. The status is the same if DNS has no objection.
   *
   * @param status the status so far, `ok` or `alias`; `fake` for an item with an unknown ending, which DNS may know
   */
  verdictOn(kind: Kind, item: string, status: Status): Verdict;
}
