/** The rules for public suffixes and unknown top-level domains, from the public suffix list that `tldts` contains. */
import { parse } from "tldts";

/** Finding of the public suffix list on a host name. */
export type SuffixFinding = "registrable" | "public-suffix" | "unknown-tld";

const options = {
  extractHostname: false,
  validateHostname: false,
  detectIp: false,
  allowPrivateDomains: false,
} as const;

/**
 * Looks up a name in the ICANN section of the public suffix list. Entries of the private section (`github.io`,
 * `eu.org`) count as `registrable`: they are registrable domains whose owners hand out names below them.
 *
 * @param ascii a host name, lower case, A-labels
 */
export function findSuffix(ascii: string): SuffixFinding {
  const { isIcann, domain } = parse(ascii, options);
  if (isIcann !== true) return "unknown-tld";
  return domain === null ? "public-suffix" : "registrable";
}

/** Returns whether `ascii` itself is an entry of the private section: a zone in which anybody can get a name. */
export function isPrivateZone(ascii: string): boolean {
  const { isPrivate, publicSuffix } = parse(ascii, { ...options, allowPrivateDomains: true });
  return isPrivate === true && publicSuffix === ascii;
}
