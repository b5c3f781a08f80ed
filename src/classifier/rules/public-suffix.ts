import { parse } from "tldts";

/** What the public suffix list says of a host name. */
export type SuffixFinding = "registrable" | "public-suffix" | "unknown-tld";

const options = {
  extractHostname: false,
  validateHostname: false,
  detectIp: false,
  allowPrivateDomains: false,
} as const;

/**
 * Looks a name up in the ICANN section of the public suffix list. The private section (`github.io`, `eu.org`)
 * holds registrable names whose owners hand out names below them: those are `registrable`.
 *
 * @param ascii a host name, lower case, A-labels
 */
export function findSuffix(ascii: string): SuffixFinding {
  const { isIcann, domain } = parse(ascii, options);
  if (isIcann !== true) return "unknown-tld";
  return domain === null ? "public-suffix" : "registrable";
}

/** Whether `ascii` is itself an entry of the private section, a zone in which anybody can get a name. */
export function isPrivateZone(ascii: string): boolean {
  const { isPrivate, publicSuffix } = parse(ascii, { ...options, allowPrivateDomains: true });
  return isPrivate === true && publicSuffix === ascii;
}
