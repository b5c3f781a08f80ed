/**
 * The rules for addresses whose domain passes: collects the rules that apply to a domain and runs them on a local
 * part. The kernel has the same rules in `judgeMailbox`, so a verdict may depend on nothing else.
 */
import { families, providerFamily } from "../providers.js";
import type { Classification } from "../verdict.js";
import {
  findImpossibleMailbox,
  findMailboxGrammar,
  grammarOf,
  type MailboxGrammar,
} from "./mailbox-grammar.js";
import {
  findPlaceholderRule,
  freeMail,
  isPlaceholder,
  type PlaceholderRule,
  placeholderWords,
  sampleDomains,
  threeOf,
} from "./placeholder.js";
import { findRelay, relayOf } from "./relay.js";

/** Rules for the mailboxes of one domain. */
export interface MailboxRules {
  /** Domain, lower case, A-labels; empty in {@link ordinaryMailboxes}. */
  readonly domain: string;
  /** Whether mail to the domain is never read. */
  readonly isNoReply: boolean;
  /** Mailbox names that the provider allows; undefined when unknown. */
  readonly grammar: MailboxGrammar | undefined;
  /** Placeholders to look for; undefined for none. */
  readonly placeholders: PlaceholderRule;
  /** Forwarding relay that the domain belongs to. */
  readonly relay: string | undefined;
  /** Whether the domain itself is a sub-address: Fastmail delivers `anything@user.fastmail.com` to `user`. */
  readonly isSubAddress: boolean;
}

/** Rules for domains about whose mailboxes nothing is known, which are most. Compared by identity, so never copy it. */
export const ordinaryMailboxes: MailboxRules = {
  domain: "",
  isNoReply: false,
  grammar: undefined,
  placeholders: undefined,
  relay: undefined,
  isSubAddress: false,
};

/** Domain of addresses that GitHub makes, which nobody reads. */
const noReplyDomain = "users.noreply.github.com";
/** Domain below which each name is a mailbox. */
const subAddressZone = "fastmail.com";

/**
 * Finds the rules for the mailboxes of a domain.
 *
 * @param ascii the domain, lower case, A-labels
 * @returns {@link ordinaryMailboxes} when nothing is known of them
 */
export function findMailboxRules(ascii: string): MailboxRules {
  if (!mayHaveRules(ascii)) return ordinaryMailboxes;
  const family = providerFamily(ascii);
  const isNoReply = ascii === noReplyDomain;
  const grammar = findMailboxGrammar(ascii, family);
  const placeholders = findPlaceholderRule(ascii, family);
  const relay = findRelay(ascii);
  const isSubAddress = ascii.slice(ascii.indexOf(".") + 1) === subAddressZone;
  const isOrdinary = !isNoReply && !grammar && !placeholders && !relay && !isSubAddress;
  if (isOrdinary) return ordinaryMailboxes;
  return { domain: ascii, isNoReply, grammar, placeholders, relay, isSubAddress };
}

/**
 * 1 for each first label that a rule names, by {@link labelCode}: of a domain, or of all domains that begin with it. A rule for
 * other domains has no effect unless they are here.
 */
export const namedLabels = new Uint8Array(32_768);
for (const name of [
  ...[...grammarOf.keys(), ...freeMail, ...sampleDomains, ...relayOf.keys()],
  ...[...families, ...placeholderWords, noReplyDomain, subAddressZone],
]) {
  const [label = ""] = name.split(".");
  namedLabels[labelCode(label, 0, label.length)] = 1;
}

/**
 * Maps a label to a number from 0 to 32,767, by its length and its first, middle and last letter. Other labels have the same
 * number, which costs an unnecessary look but hides no rule.
 */
export function labelCode(name: string, start: number, end: number): number {
  const [first, last] = [name.charCodeAt(start), name.charCodeAt(end - 1)];
  const letters = threeOf(first, name.charCodeAt((start + end) >> 1), last);
  return (letters ^ Math.imul(end - start, 0x2545)) & 32_767;
}

/** Returns whether a rule may name a domain or one above it. Spares most domains six look-ups and two patterns. */
function mayHaveRules(ascii: string): boolean {
  let start = 0;
  for (let dot = ascii.indexOf("."); dot !== -1; dot = ascii.indexOf(".", start)) {
    if (namedLabels[labelCode(ascii, start, dot)] === 1) return true;
    start = dot + 1;
  }
  return false;
}

/**
 * Classifies an address whose domain passes. Rules are tried in order; the first match wins.
 *
 * @param local the local part, without the quotes and backslashes of a quoted string
 * @returns undefined when no rule matches
 */
export function classifyMailbox(rules: MailboxRules, local: string): Classification | undefined {
  const { domain, isNoReply, grammar, placeholders, relay, isSubAddress } = rules;
  const plus = local.indexOf("+");
  if (rules !== ordinaryMailboxes) {
    if (isNoReply) return { status: "fake", reason: `no-reply: ${domain}` };
    const why = grammar && findImpossibleMailbox(grammar, local, plus);
    if (why !== undefined) return { status: "fake", reason: `impossible-mailbox: ${domain} ${why}` };
    if (isPlaceholder(placeholders, local)) return { status: "fake", reason: "placeholder" };
    if (relay !== undefined) return { status: "alias", reason: `relay: ${relay}` };
  }
  // Only `+` starts a sub-address (RFC 5233). Hyphens, dots and `=` do not: 3 to 16 % of real people have a hyphen.
  if (plus > 0 && plus < local.length - 1) {
    return { status: "alias", reason: `sub-address: ${local.slice(plus)}` };
  }
  return isSubAddress ? { status: "alias", reason: `sub-address: ${domain}` } : undefined;
}
