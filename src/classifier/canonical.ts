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

/** Everybody who runs mailboxes for the public ignores case; a company's server may not (RFC 5321 §2.4). */
const ignoresCase: ReadonlySet<string> = new Set([
  ...majorProviders,
  ...mailcomDomains,
  ...ispProviders,
  ...privacyProviders,
]);

const gmail: ReadonlySet<string> = new Set(["gmail.com", "googlemail.com"]);

/**
 * Who certainly or very probably delivers `ann+news` to `ann`, by their own pages: Google, Microsoft's consumer mail,
 * Fastmail, Proton, mailbox.org.
 */
const taggedDomains: ReadonlySet<string> = new Set([
  ...gmail,
  ..."msn.com fastmail.com fastmail.fm fastmail.to sent.com messagingengine.com".split(" "),
  ..."proton.me protonmail.com protonmail.ch pm.me mailbox.org".split(" "),
]);
const taggedFamilies: ReadonlySet<string> = new Set(["outlook", "hotmail", "live"]);

/** `anything@ann.fastmail.com` is delivered to `ann@fastmail.com`. */
const fastmailSubdomain = /^([^.]+)\.fastmail\.com$/;

/** What may stand in a local part without quotes (RFC 5321 §4.1.2, RFC 6531 §3.3). */
const dotString =
  /^[a-z0-9!#$%&'*+/=?^_`{|}~\x80-\u{10ffff}-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~\x80-\u{10ffff}-]+)*$/iu;

/**
 * The item that stands for all that reach the same mailbox: lower case, tags and dots removed where it is known that
 * the provider does so, and only the domain in lower case where nothing is known. A domain's is its A-labels.
 *
 * @returns undefined when the item's syntax is broken
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

/** RFC 5321 §4.1.2: what is no dot-string is a quoted string. */
function quoteLocal(local: string): string {
  return dotString.test(local) ? local : `"${local.replace(/["\\]/g, "\\$&")}"`;
}
