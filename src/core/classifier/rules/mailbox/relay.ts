/** The rule for forwarding relays, whose addresses are aliases of real mailboxes. providers.ts lists the relays. */
import { relays } from "../../providers.js";
import { findSuffixIn } from "../../tables/suffix-walk.js";
import type { MailboxRule } from "../rule.js";

const relayOf: ReadonlyMap<string, string> = new Map(
  Object.entries(relays).flatMap(([relay, domains]) => domains.map((domain) => [domain, relay] as const)),
);

/** Domains below a relay's domain count: relays give their users domains such as `user.anonaddy.com`. */
function findRelay(ascii: string): string | undefined {
  const listed = findSuffixIn(ascii, (suffix) => relayOf.has(suffix));
  return listed === undefined ? undefined : relayOf.get(listed);
}

export const relay = {
  code: "relay",
  status: "alias",
  words: "private relay",
  plainly: "forwards to a mailbox, and can be switched off",
  source: "the relays' own pages",
  forPerson: "This address forwards mail to a mailbox. It is accepted.",
  example: "`relay: duckduckgo`",
  names: [...relayOf.keys()],
  at(ascii) {
    const subject = findRelay(ascii);
    return subject === undefined ? undefined : { find: () => ({ subject }), kernel: { isRelay: true } };
  },
} as const satisfies MailboxRule;
