/** The port from a run to the stage that asks DNS, which `dns/mail-check.ts` implements. */
import type { Kind, Status, Verdict } from "../validator/validator.js";

/** Finds out whether mail can be sent to items that passed all rules. */
export interface MailCheckPort {
  /** Asks about the domains of items; `verdictOn` knows them afterwards. Those already known cost nothing. */
  ask(kind: Kind, items: Iterable<string>): Promise<void>;
  /**
   * Returns the verdict on an item that was asked about. It has the same status if DNS has nothing against it.
   *
   * @param status the status so far, `ok` or `alias`
   */
  verdictOn(kind: Kind, item: string, status: Status): Verdict;
}
