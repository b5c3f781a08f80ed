/** Facts about an item beside its verdict. None of them says that it is bad: many people read mail at `info@`. */
import roleWords from "role-based-email-addresses";
import { ignoresDots } from "../canonical.js";
import { relay } from "../rules/mailbox/relay.js";
import { parseAddress } from "../syntax/address.js";
import { parseDomainName, withoutRoot } from "../syntax/domain-name.js";
import { Fault } from "../syntax/fault.js";
import type { Kind } from "../verdict.js";
import type { Flag } from "./flag-names.js";
import { isFreeProvider } from "./free-providers.js";
import { isGibberish } from "./gibberish.js";
import { isParkingHost, mailServiceOf } from "./mail-services.js";
import { smsGateways } from "./sms-gateways.js";

let roles: Set<string> | undefined;

function isRole(mailbox: string): boolean {
  if (roles === undefined) {
    roles = new Set(roleWords);
    // A given name among the words, and what people type to get past a form.
    for (const word of ["alla", "aaa", "abc", "asdf", "noemail", "none", "null"]) roles.delete(word);
  }
  return roles.has(mailbox);
}

const noReply = /^(?:no|do[._-]?not)[._-]?reply|[._-]no[._-]?reply$/;

/** People write their names with a dot or two; of four parts, as in `maria.de.la.cruz`, most are words. */
function isDottedVariant(mailbox: string, domain: string): boolean {
  if (!ignoresDots(domain)) return false;
  const parts = mailbox.split(".");
  return parts.length > 3 && 2 * parts.filter(({ length }) => length < 3).length > parts.length;
}

/**
 * @param mx the host that receives the mail, if it is known
 * @returns flags in a fixed order; none for an item with invalid syntax
 */
export function flagsOf(kind: Kind, item: string, mx?: string): readonly Flag[] {
  const parsed = kind === "email" ? parseAddress(item) : parseDomainName(withoutRoot(item));
  if (parsed instanceof Fault) return [];
  const local = "local" in parsed ? parsed.local.toLowerCase() : "";
  const domain = "local" in parsed ? parsed.domain?.ascii : parsed.ascii;
  if (domain === undefined) return [];
  // A tag, as in `sales+berlin@`, does not change whose mailbox it is.
  const [mailbox = ""] = local.split("+");
  const service = mx === undefined ? undefined : mailServiceOf(mx);
  const flags: readonly (readonly [boolean, Flag])[] = [
    [isRole(mailbox), "role"],
    [isFreeProvider(domain), "free-provider"],
    [noReply.test(mailbox), "no-reply"],
    [relay.at(domain) !== undefined, "relay"],
    [smsGateways.has(domain), "sms-gateway"],
    [isDottedVariant(mailbox, domain), "dotted-variant"],
    [isGibberish(mailbox), "gibberish"],
    [mx !== undefined && isParkingHost(mx), "parked"],
    [service !== undefined, `mx:${service}`],
  ];
  return flags.flatMap(([isSet, flag]) => (isSet ? [flag] : []));
}
