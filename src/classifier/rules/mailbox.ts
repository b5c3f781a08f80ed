import { providerFamily } from "../providers.js";
import type { Classification } from "../verdict.js";
import { findImpossibleMailbox, findMailboxGrammar, type MailboxGrammar } from "./mailbox-grammar.js";
import { findPlaceholderRule, isPlaceholder, mayBePlaceholder, type PlaceholderRule } from "./placeholder.js";
import { findRelay } from "./relay.js";

/** What the rules for mailboxes know of a domain. */
export interface MailboxRules {
  /** The domain, lower case, A-labels; empty in {@link ordinaryMailboxes}. */
  readonly domain: string;
  /** Nobody reads mail there. */
  readonly isNoReply: boolean;
  readonly grammar: MailboxGrammar | undefined;
  readonly placeholders: PlaceholderRule;
  /** The forwarding relay that it belongs to. */
  readonly relay: string | undefined;
  /** The domain is itself a sub-address: at Fastmail, `anything@user.fastmail.com` is delivered to `user`. */
  readonly isSubAddress: boolean;
}

/** The rules for the mailboxes of most domains: nothing is known of them. Always this object. */
export const ordinaryMailboxes: MailboxRules = {
  domain: "",
  isNoReply: false,
  grammar: undefined,
  placeholders: undefined,
  relay: undefined,
  isSubAddress: false,
};

/**
 * What the rules for mailboxes know of a domain.
 *
 * @param ascii the domain, lower case, A-labels
 */
export function findMailboxRules(ascii: string): MailboxRules {
  const family = providerFamily(ascii);
  const isNoReply = ascii === "users.noreply.github.com";
  const grammar = findMailboxGrammar(ascii, family);
  const placeholders = findPlaceholderRule(ascii, family);
  const relay = findRelay(ascii);
  const isSubAddress = ascii.endsWith(".fastmail.com") && ascii.indexOf(".") === ascii.length - 13;
  const isOrdinary = !isNoReply && !grammar && !placeholders && !relay && !isSubAddress;
  if (isOrdinary) return ordinaryMailboxes;
  return { domain: ascii, isNoReply, grammar, placeholders, relay, isSubAddress };
}

const plus = 0x2b;

/**
 * The verdict on an address whose domain passed: the first rule that speaks decides. Undefined when none does.
 *
 * @param bytes the local part in UTF-8, without the quotes and backslashes of a quoted string, from `start` to `end`
 * @param isAscii whether it is known to be ASCII
 */
export function judgeMailbox(
  rules: MailboxRules,
  bytes: Buffer,
  start: number,
  end: number,
  isAscii: boolean,
): Classification | undefined {
  const { domain, isNoReply, grammar, placeholders, relay, isSubAddress } = rules;
  let plusAt = start;
  while (plusAt < end && bytes[plusAt] !== plus) plusAt++;
  if (rules !== ordinaryMailboxes) {
    if (isNoReply) return { status: "fake", reason: `no-reply: ${domain}` };
    if (grammar !== undefined) {
      const why = findImpossibleMailbox(grammar, bytes, start, plusAt, end);
      if (why !== undefined) return { status: "fake", reason: `impossible-mailbox: ${domain} ${why}` };
    }
    if (placeholders !== undefined && (!isAscii || mayBePlaceholder(bytes[start]!, bytes[start + 1]!))) {
      if (isPlaceholder(placeholders, bytes.toString("utf8", start, end))) {
        return { status: "fake", reason: "placeholder" };
      }
    }
    if (relay !== undefined) return { status: "alias", reason: `relay: ${relay}` };
  }
  // RFC 5233. Hyphens, dots and `=` are ordinary characters: 3 to 16 % of real people have a hyphen.
  if (plusAt > start && plusAt < end - 1) {
    return { status: "alias", reason: `sub-address: ${bytes.toString("utf8", plusAt, end)}` };
  }
  return isSubAddress ? { status: "alias", reason: `sub-address: ${domain}` } : undefined;
}
