/** The rule for top-level domains that do not exist. */
import { checkDomain, type DomainRule } from "../rule.js";
import { findSuffix } from "./public-suffix.js";
import { findMeant } from "./typo-domain.js";

export const unknownTld = {
  code: "unknown-tld",
  status: "fake",
  words: "no such top-level domain",
  plainly: "nothing ends like this",
  source: "top-level domains in the Public Suffix List, https://publicsuffix.org/",
  forPerson: `No domain ends like this one. ${checkDomain}`,
  example: "`unknown-tld: con`",
  find(ascii) {
    if (findSuffix(ascii) !== "unknown-tld") return undefined;
    return { subject: ascii.slice(ascii.lastIndexOf(".") + 1), suggestion: findMeant(ascii) };
  },
} as const satisfies DomainRule;

export const mayReceiveMail = ({ status, reason }: { status: string; reason?: string | undefined }): boolean =>
  status === "ok" || status === "alias" || reason?.split(":")[0] === unknownTld.code;
