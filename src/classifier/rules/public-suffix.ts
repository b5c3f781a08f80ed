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
  return domain === null && !hasMailboxes(ascii) ? "public-suffix" : "registrable";
}

/** First labels of suffixes at which authorities have mailboxes: `gov.in`, `nic.in`, `mil.lv`, and `sa.gov.au`. */
const authorities = /^(?:gov|gob|gouv|govt|gv|go|gub|mil|nic|nat)\.|\.gov\.[a-z]{2}$/;

/**
 * Returns whether a public suffix has mailboxes of its own: those of authorities, and names that are suffixes by a
 * wildcard only. `*.sch.uk` stands for `kent.sch.uk`, where schools write from, and for any name that is invented.
 */
function hasMailboxes(ascii: string): boolean {
  if (authorities.test(ascii)) return true;
  const parent = ascii.slice(ascii.indexOf(".") + 1);
  return parent.includes(".") && parse(`idv-probe.${parent}`, options).domain === null;
}

/** Returns whether `ascii` itself is an entry of the private section: a zone in which anybody can get a name. */
export function isPrivateZone(ascii: string): boolean {
  const { isPrivate, publicSuffix } = parse(ascii, { ...options, allowPrivateDomains: true });
  return isPrivate === true && publicSuffix === ascii;
}
