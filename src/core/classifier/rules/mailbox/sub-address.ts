/** The rule for sub-addresses: other names of a mailbox, such as `ann+news@example.net`. */
import { fastmailDomains } from "../../providers.js";
import type { MailboxRule } from "../rule.js";

const fastmail: ReadonlySet<string> = new Set(fastmailDomains);

export const subAddress = {
  code: "sub-address",
  status: "alias",
  words: "sub-address",
  plainly: "ann+news reaches the mailbox of ann",
  source: "RFC 5233, and the providers' own pages",
  forPerson: "This address reaches a mailbox under another name. It is accepted.",
  example: "`sub-address: +news`",
  names: fastmailDomains,
  at(ascii) {
    const isSubAddress = fastmail.has(ascii.slice(ascii.indexOf(".") + 1));
    return {
      find(local, plus) {
        // Only `+` starts one (RFC 5233), not `-`, `.` or `=`: 3 to 16 % of real people have a hyphen in theirs.
        if (plus > 0 && plus < local.length - 1) return { subject: local.slice(plus) };
        return isSubAddress ? { subject: ascii } : undefined;
      },
      kernel: { isSubAddress },
    };
  },
} as const satisfies MailboxRule;
