/** Facts about an item beside its verdict. None of them says that it is bad: many people read mail at `info@`. */
import roleWords from "role-based-email-addresses";
import { ignoresDots, partsOf } from "../canonical.js";
import { relay } from "../rules/mailbox/relay.js";
import type { Kind } from "../verdict.js";
import type { Flag } from "./flag-names.js";
import { isFreeProvider } from "./free-providers.js";
import { isGibberish } from "./gibberish.js";
import { isParkingHost, mailServiceOf } from "./mail-services.js";
import { smsGateways } from "./sms-gateways.js";

let roles: Set<string> | undefined;

export function roleNames(): ReadonlySet<string> {
  if (roles === undefined) {
    roles = new Set(roleWords);
    // A given name among the words, and what people type to get past a form.
    for (const word of ["alla", "aaa", "abc", "asdf", "noemail", "none", "null"]) roles.delete(word);
  }
  return roles;
}

const noReply = /^(?:no|do[._-]?not)[._-]?reply|[._-]no[._-]?reply$/;

/** A local part in lower case, without its tag. */
export function mailboxOf(local: string): string {
  const plus = local.indexOf("+");
  return (plus === -1 ? local : local.slice(0, plus)).toLowerCase();
}

/** People write their names with a dot or two; of four parts, as in `maria.de.la.cruz`, most are words. */
export function isDottedVariant(mailbox: string): boolean {
  const parts = mailbox.split(".");
  return parts.length > 3 && 2 * parts.filter(({ length }) => length < 3).length > parts.length;
}

export function flagsOf(kind: Kind, item: string, mx?: string): readonly Flag[] {
  const parts = partsOf(kind, item);
  if (parts === undefined) return [];
  const mailbox = mailboxOf(parts.local);
  const { domain } = parts;
  const flags: Flag[] = [];
  if (roleNames().has(mailbox)) flags.push("role");
  if (isFreeProvider(domain)) flags.push("free-provider");
  if (mailbox.includes("reply") && noReply.test(mailbox)) flags.push("no-reply");
  if (relay.at(domain) !== undefined) flags.push("relay");
  if (smsGateways.has(domain)) flags.push("sms-gateway");
  if (isDottedVariant(mailbox) && ignoresDots(domain)) flags.push("dotted-variant");
  if (isGibberish(mailbox)) flags.push("gibberish");
  if (mx !== undefined && isParkingHost(mx)) flags.push("parked");
  const service = mx === undefined ? undefined : mailServiceOf(mx);
  if (service !== undefined) flags.push(`mx:${service}`);
  return flags;
}
