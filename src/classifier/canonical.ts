/**
 * Canonical items: maps addresses that reach the same mailbox to one spelling. Does not decide whether an item is valid
 * beyond its syntax.
 */
import {
  ispProviders,
  mailcomDomains,
  majorProviders,
  privacyProviders,
  providerFamily,
} from "./providers.js";
import { parseAddress } from "./syntax/address.js";
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
 * Returns the canonical item: one spelling for all items that reach the same mailbox. The local part is lower-cased and
 * loses its sub-address and dots only where the provider is known to ignore them. The domain is always lower-cased, in
 * A-labels.
 *
 * @returns undefined when the item breaks the syntax rules or has an address literal
 */
export function canonicalItem(kind: Kind, item: string): string | undefined {
  if (kind === "domain") {
    const name = parseDomainName(withoutRoot(item));
    return name instanceof Fault ? undefined : name.ascii;
  }
  const address = parseAddress(item);
  if (address instanceof Fault || address.domain === undefined) return undefined;
  const { ascii } = address.domain;
  const [, user] = fastmailSubdomain.exec(ascii) ?? [];
  if (user !== undefined) return `${user}@fastmail.com`;
  const family = providerFamily(ascii) ?? "";
  let { local } = address;
  if (ignoresCase.has(ascii) || family !== "") local = local.toLowerCase();
  const plus = local.indexOf("+");
  if (plus > 0 && (taggedDomains.has(ascii) || taggedFamilies.has(family))) local = local.slice(0, plus);
  if (gmail.has(ascii)) return `${quoteLocal(local.replaceAll(".", ""))}@gmail.com`;
  return `${quoteLocal(local)}@${ascii}`;
}

/** Writes a local part as a quoted string if it is not a dot-string (RFC 5321 §4.1.2). */
function quoteLocal(local: string): string {
  return dotString.test(local) ? local : `"${local.replace(/["\\]/g, "\\$&")}"`;
}
