/** All rules and reasons, in the order in which they are tried; the first match wins. */
import { disposableDomain } from "./disposable-domain.js";
import { dnsReasons } from "./dns.js";
import { impossibleMailbox } from "./impossible-mailbox.js";
import { noReply } from "./no-reply.js";
import { allowList, denyList } from "./own-lists.js";
import { placeholder } from "./placeholder.js";
import { publicSuffix } from "./public-suffix.js";
import { relay } from "./relay.js";
import type { ReasonFacts } from "./rule.js";
import { specialUse } from "./special-use.js";
import { subAddress } from "./sub-address.js";
import { syntax } from "./syntax.js";
import { typoDomain } from "./typo-domain.js";
import { unknownTld } from "./unknown-tld.js";

/** The rules for domains; the lists of disposable domains come after them. */
export const domainRules = [specialUse, syntax, unknownTld, publicSuffix, typoDomain] as const;

/** The rules for mailboxes at domains that pass. The last one is about all domains. */
export const mailboxRules = [noReply, impossibleMailbox, placeholder, relay, subAddress] as const;

/** The reasons of offline verdicts. Most faults of the syntax are found before all rules. */
export const offlineReasons = [
  ...new Set([syntax, allowList, denyList, ...domainRules, disposableDomain, ...mailboxRules]),
];

export const reasons = [...offlineReasons, ...dnsReasons];

/** Stable code of a reason. */
export type ReasonCode = (typeof reasons)[number]["code"];

const byCode: ReadonlyMap<string, ReasonFacts> = new Map(reasons.map((reason) => [reason.code, reason]));

/** Returns a reason by its code; undefined for that of a service. */
export const reasonOf = (code: string): ReasonFacts | undefined => byCode.get(code);
