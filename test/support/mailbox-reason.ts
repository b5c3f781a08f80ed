/** The reason that the mailbox rules give for a local part at a domain. */
import { classifyMailbox, findMailboxTests } from "../../src/core/classifier/rules/mailbox/mailbox.js";

/** Returns the reason of the mailbox rules for an address whose domain passed; undefined if it is ok. */
export function reasonOf(local: string, domain: string): string | undefined {
  return classifyMailbox(findMailboxTests(domain), local)?.reason;
}
