/** All rules and reasons, in the order in which they are tried; the first match wins. */
import { disposableDomain } from "./disposable-domain.js";
import { disposableName } from "./disposable-name.js";
import { dnsReasons } from "./dns.js";
import { impossibleMailbox } from "./impossible-mailbox.js";
import { noReply } from "./no-reply.js";
import { allowList, denyList } from "./own-lists.js";
import { placeholder } from "./placeholder.js";
import { publicSuffix } from "./public-suffix.js";
import { relay } from "./relay.js";
import type { ReasonRecord } from "./rule.js";
import { specialUse } from "./special-use.js";
import { subAddress } from "./sub-address.js";
import { syntax } from "./syntax.js";
import { similarDomain, typoDomain } from "./typo-domain.js";
import { unknownTld } from "./unknown-tld.js";

/**
 * The table of disposable domains is looked up after these rules. A mistyped domain is called that, even if its ending does
 * not exist either: `gmail.con` can be repaired, and is counted among those.
 */
export const domainRules = [specialUse, typoDomain, syntax, unknownTld, publicSuffix] as const;

/** Tried if the domain has passed. The last one applies to every domain. */
export const mailboxRules = [noReply, placeholder, impossibleMailbox, relay, subAddress] as const;

export const ruleReasons = [
  ...new Set([
    syntax,
    allowList,
    denyList,
    ...domainRules,
    disposableDomain,
    disposableName,
    ...mailboxRules,
    similarDomain,
  ]),
];

export const reasons = [...ruleReasons, ...dnsReasons];

export type ReasonCode = (typeof reasons)[number]["code"];

const byCode: ReadonlyMap<string, ReasonRecord> = new Map(reasons.map((reason) => [reason.code, reason]));

/** Returns undefined for a code that only a service knows. */
export const reasonOf = (code: string): ReasonRecord | undefined => byCode.get(code);
