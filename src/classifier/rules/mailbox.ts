/**
 * The rules for addresses whose domain passes: collects the rules that apply to a domain and runs them on a local
 * part. The kernel has the same rules in `judgeMailbox`, so a verdict may depend on nothing else.
 */
import { fillSlots, hashSuffixes, NameTable } from "../name-table.js";
import { families, mailcomDomains, majorProviders, providerFamily } from "../providers.js";
import type { Classification } from "../verdict.js";
import {
  findImpossibleMailbox,
  findMailboxGrammar,
  grammarOf,
  type MailboxGrammar,
} from "./mailbox-grammar.js";
import {
  findPlaceholderRule,
  isPlaceholder,
  type PlaceholderRule,
  placeholderWords,
  sampleDomains,
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

/**
 * Finds the rules for the mailboxes of a domain.
 *
 * @param ascii the domain, lower case, A-labels
 * @returns {@link ordinaryMailboxes} when nothing is known of them
 */
export function findMailboxRules(ascii: string): MailboxRules {
  if (!mayHaveRules(ascii)) return ordinaryMailboxes;
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

/** The domains that a rule names. Some rules also hold for the domains below them. */
const named = new NameTable(
  fillSlots(
    new Map(
      [
        ...[...grammarOf.keys(), ...majorProviders, ...mailcomDomains, ...sampleDomains, ...relayOf.keys()],
        ...["users.noreply.github.com", "fastmail.com"],
      ].map((domain) => [domain, 0]),
    ),
    1,
  ),
  1,
);
/** First labels for which rules hold under any suffix. */
const namedFirst: ReadonlySet<string> = new Set([...families, ...placeholderWords]);
const longestFirst = Math.max(...[...namedFirst].map(({ length }) => length));

/** Returns whether any rule names a domain, one above it, or its first label. Spares most domains five look-ups and two patterns. */
function mayHaveRules(ascii: string): boolean {
  const { count, starts, lows, highs } = hashSuffixes(ascii);
  for (let label = 1; label < count; label++) {
    if (named.find(lows[label]!, highs[label]!) !== -1) return true;
  }
  const first = (starts[count - 2] ?? 0) - 1;
  return first <= longestFirst && namedFirst.has(ascii.slice(0, first));
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
