/** All rules and reasons, in the order in which they are tried; the first match wins. */
import { disposableDomain } from "./domain/disposable-domain.js";
import { disposableName } from "./domain/disposable-name.js";
import { dnsReasons } from "./domain/dns.js";
import { publicSuffix } from "./domain/public-suffix.js";
import { specialUse } from "./domain/special-use.js";
import { similarDomain, typoDomain } from "./domain/typo-domain.js";
import { unknownTld } from "./domain/unknown-tld.js";
import { impossibleMailbox } from "./mailbox/impossible-mailbox.js";
import { noReply } from "./mailbox/no-reply.js";
import { placeholder } from "./mailbox/placeholder.js";
import { relay } from "./mailbox/relay.js";
import { subAddress } from "./mailbox/sub-address.js";
import { allowList, denyList } from "./own-lists.js";
import type { ReasonRecord } from "./rule.js";
import { syntax } from "./syntax.js";

/** The disposable domains come after these. A typo comes before an unknown ending: `gmail.con` can be repaired. */
export const domainRules = [specialUse, typoDomain, syntax, unknownTld, publicSuffix] as const;

/** Tried if the domain has passed. The last one applies to every domain. */
export const mailboxRules = [noReply, placeholder, impossibleMailbox, relay, subAddress] as const;

const disposable = [disposableDomain, disposableName] as const;

export const ruleReasons = [
  ...new Set([syntax, allowList, denyList, ...domainRules, ...disposable, ...mailboxRules, similarDomain]),
];

export const reasons = [...ruleReasons, ...dnsReasons];

export type ReasonCode = (typeof reasons)[number]["code"];

const byCode: ReadonlyMap<string, ReasonRecord> = new Map(reasons.map((reason) => [reason.code, reason]));

/** Returns undefined for a code that only a service knows. */
export const reasonOf = (code: string): ReasonRecord | undefined => byCode.get(code);
