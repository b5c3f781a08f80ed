/** Canonical items: maps addresses that reach the same mailbox to one spelling. Checks the syntax of items only. */
import { fastmailDomains, providerFamily } from "./providers.js";
import { findPlainAt, parseAddress } from "./syntax/address.js";
import { parseDomainName, withoutRoot } from "./syntax/domain-name.js";
import { Fault } from "./syntax/fault.js";
import type { Kind } from "./verdict.js";

/** How a provider spells its mailboxes. Only providers that (very probably) deliver `ann+news` to `ann` are listed. */
interface MailboxSpelling {
  readonly domain?: string;
  readonly ignored?: RegExp;
  readonly dotsAreHyphens?: true;
  readonly hasPhones?: true;
}

/** Sources: the providers' documentation; validator.js 13.15 for the domains of Yandex and the tags of iCloud. */
const spellings: readonly (readonly [string, MailboxSpelling])[] = [
  ["gmail.com googlemail.com", { domain: "gmail.com", ignored: /\./g }],
  ["proton.me protonmail.com protonmail.ch pm.me", { domain: "proton.me", ignored: /[._-]/g }],
  ["icloud.com me.com mac.com", { domain: "icloud.com" }],
  [
    "yandex.ru yandex.com yandex.by yandex.kz yandex.ua ya.ru",
    { domain: "yandex.ru", dotsAreHyphens: true, hasPhones: true },
  ],
  ["outlook hotmail live msn.com", {}],
  [[...fastmailDomains, "messagingengine.com"].join(" "), {}],
  ["mailbox.org posteo.de posteo.net pobox.com runbox.com rambler.ru", {}],
  ["zoho.com zohomail.com zohomail.eu zoho.eu zoho.in mail.ru bk.ru list.ru inbox.ru", {}],
];

const spellingOf: ReadonlyMap<string, MailboxSpelling> = new Map(
  spellings.flatMap(([domains, spelling]) => domains.split(" ").map((domain) => [domain, spelling] as const)),
);

/** A name without a dot stands for the domains of a family. */
export const spelledNames: readonly string[] = [...spellingOf.keys()];

/** `anything@ann.fastmail.com` reaches `ann@fastmail.com`. */
export const mailboxIsDomain: MailboxSpelling = {};

const fastmail: ReadonlySet<string> = new Set(fastmailDomains);

export const spellingAt = (ascii: string): MailboxSpelling | undefined =>
  fastmail.has(ascii.slice(ascii.indexOf(".") + 1))
    ? mailboxIsDomain
    : (spellingOf.get(ascii) ?? spellingOf.get(providerFamily(ascii) ?? ""));

export const ignoresDots = (ascii: string): boolean => spellingOf.get(ascii)?.ignored?.source.includes(".") === true;

const dotString = /^(?!\.)(?:\.?[a-z0-9!#$%&'*+/=?^_`{|}~\x80-\u{10ffff}-])+$/iu;

/** Returns lower case. Drops tags and dots only where providers do. Undefined for bad syntax or a literal. */
export function canonicalItem(kind: Kind, item: string): string | undefined {
  const parts = partsOf(kind, item);
  return parts === undefined || kind === "domain" ? parts?.domain : canonicalAddress(parts.local, parts.domain);
}

/** The domain has lower case and A-labels. Returns undefined for bad syntax or a literal. */
export function partsOf(kind: Kind, item: string): { readonly local: string; readonly domain: string } | undefined {
  const at = kind === "email" ? findPlainAt(item) : -1;
  if (at !== -1) return { local: item.slice(0, at), domain: item.slice(at + 1).toLowerCase() };
  const address = kind === "email" ? parseAddress(item) : { local: "", domain: parseDomainName(withoutRoot(item)) };
  if (address instanceof Fault || address.domain === undefined || address.domain instanceof Fault) return undefined;
  return { local: address.local, domain: address.domain.ascii };
}

function canonicalAddress(local: string, ascii: string): string {
  const spelling = spellingAt(ascii);
  if (spelling === mailboxIsDomain) return ascii.replace(".", "@");
  // A server may tell case apart (RFC 5321, section 2.4), but none is known that gives two people such mailboxes.
  const name = local.toLowerCase();
  if (spelling === undefined) return `${quoteLocal(name)}@${ascii}`;
  const { domain = ascii, ignored, dotsAreHyphens, hasPhones } = spelling;
  const base = hasPhones ? name.replace(/^\+(?=\d{10})/, "") : name;
  const plus = base.indexOf("+");
  const mailbox = plus > 0 ? base.slice(0, plus) : base;
  const shortest = ignored ? mailbox.replace(ignored, "") : mailbox;
  return `${quoteLocal((dotsAreHyphens ? shortest.replaceAll(".", "-") : shortest) || mailbox)}@${domain}`;
}

const quoteLocal = (local: string): string => (dotString.test(local) ? local : `"${local.replace(/["\\]/g, "\\$&")}"`);
