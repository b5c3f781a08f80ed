/** Canonical items: maps addresses that reach the same mailbox to one spelling. Checks the syntax of items only. */
import {
  ispProviders,
  mailcomDomains,
  majorProviders,
  privacyProviders,
  providerFamily,
} from "./providers.js";
import { findPlainAt, parseAddress } from "./syntax/address.js";
import { parseDomainName, withoutRoot } from "./syntax/domain-name.js";
import { Fault } from "./syntax/fault.js";
import type { Kind } from "./verdict.js";

/** Domains that ignore case in local parts. Public providers do; a company's server may not (RFC 5321 §2.4). */
const ignoresCase: ReadonlySet<string> = new Set([
  ...majorProviders,
  ...mailcomDomains,
  ...ispProviders,
  ...privacyProviders,
]);

const gmail: ReadonlySet<string> = new Set(["gmail.com", "googlemail.com"]);

/**
 * Domains that certainly or very probably deliver `ann+news` to `ann`. Source: the providers' own documentation
 * (Google, Microsoft's consumer mail, Fastmail, Proton, mailbox.org).
 */
const taggedDomains: ReadonlySet<string> = new Set([
  ...gmail,
  ..."msn.com fastmail.com fastmail.fm fastmail.to sent.com messagingengine.com".split(" "),
  ..."proton.me protonmail.com protonmail.ch pm.me mailbox.org".split(" "),
]);
const taggedFamilies: ReadonlySet<string> = new Set(["outlook", "hotmail", "live"]);

/** Sub-address as a domain: Fastmail delivers `anything@ann.fastmail.com` to `ann@fastmail.com`. */
const fastmailSubdomain = /^([^.]+)\.fastmail\.com$/;

/** Local part that needs no quotes (RFC 5321 §4.1.2, RFC 6531 §3.3). */
const dotString =
  /^[a-z0-9!#$%&'*+/=?^_`{|}~\x80-\u{10ffff}-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~\x80-\u{10ffff}-]+)*$/iu;

/**
 * Returns one spelling for all items that reach the same mailbox; undefined for an item that breaks the syntax rules or
 * has an address literal. The local part is lower-cased and loses its sub-address and dots only where the provider is
 * known to ignore them. The domain is lower-cased, in A-labels.
 */
export function canonicalItem(kind: Kind, item: string): string | undefined {
  if (kind === "domain") {
    const name = parseDomainName(withoutRoot(item));
    return name instanceof Fault ? undefined : name.ascii;
  }
  const at = findPlainAt(item);
  if (at !== -1) return canonicalAddress(item.slice(0, at), item.slice(at + 1).toLowerCase(), quoteLastDot);
  const address = parseAddress(item);
  if (address instanceof Fault || address.domain === undefined) return undefined;
  return canonicalAddress(address.local, address.domain.ascii, quoteLocal);
}

function canonicalAddress(local: string, ascii: string, quoted: (local: string) => string): string {
  const { user, isSmall, isTagged, hasNoDots } = mailboxesAt(ascii);
  if (user !== undefined) return `${user}@fastmail.com`;
  let mailbox = isSmall ? local.toLowerCase() : local;
  const plus = isTagged ? mailbox.indexOf("+") : -1;
  if (plus > 0) mailbox = mailbox.slice(0, plus);
  return hasNoDots ? `${quoted(mailbox.replaceAll(".", ""))}@gmail.com` : `${quoted(mailbox)}@${ascii}`;
}

interface MailboxSpelling {
  readonly user: string | undefined;
  readonly isSmall: boolean;
  readonly isTagged: boolean;
  readonly hasNoDots: boolean;
}

const unknownProvider = { user: undefined, isSmall: false, isTagged: false, hasNoDots: false };

const knownProviders: ReadonlyMap<string, MailboxSpelling> = new Map(
  [...ignoresCase, ...taggedDomains].map((domain) => [
    domain,
    {
      user: undefined,
      isSmall: ignoresCase.has(domain) || providerFamily(domain) !== undefined,
      isTagged: taggedDomains.has(domain) || taggedFamilies.has(providerFamily(domain) ?? ""),
      hasNoDots: gmail.has(domain),
    },
  ]),
);

function mailboxesAt(ascii: string): MailboxSpelling {
  const known = knownProviders.get(ascii);
  if (known !== undefined) return known;
  const family = providerFamily(ascii);
  if (family !== undefined)
    return { ...unknownProvider, isSmall: true, isTagged: taggedFamilies.has(family) };
  const user = ascii.endsWith(".fastmail.com") ? fastmailSubdomain.exec(ascii)?.[1] : undefined;
  return user === undefined ? unknownProvider : { ...unknownProvider, user };
}

function quoteLocal(local: string): string {
  return dotString.test(local) ? local : `"${local.replace(/["\\]/g, "\\$&")}"`;
}

/** Quotes an unquoted local part only if it ends with a dot, as `ann.+news` does without its sub-address. */
const quoteLastDot = (local: string): string => (local.endsWith(".") ? quoteLocal(local) : local);
