/** The rules for public suffixes and unknown top-level domains, from the public suffix list. */
import { hashSuffixes } from "../../tables/name-table.js";
import { suffixFlag, suffixTable } from "../../tables/suffix-table.js";
import type { DomainRule } from "../rule.js";

export type SuffixFinding = "registrable" | "public-suffix" | "unknown-tld";

/**
 * Looks up a name in the ICANN section of the list. Entries of the private section (`github.io`, `eu.org`) are `registrable`:
 * their owners registered them and give away names below them.
 *
 * @param ascii a host name, lower case, A-labels
 */
export function findSuffix(ascii: string): SuffixFinding {
  const { icann, icannBelow, exception, hasMore } = suffixFlag;
  const table = suffixTable();
  const { count, lows, highs } = hashSuffixes(ascii);
  let parent = 0;
  let isKnown = false;
  for (let label = 0; label < count; label++) {
    const own = Math.max(0, table.find(lows[label]!, highs[label]!));
    if ((own & exception) !== 0) return "registrable";
    const isSuffix = (own & icann) !== 0 || (parent & icannBelow) !== 0;
    isKnown ||= isSuffix;
    if (label === count - 1 && isSuffix) return hasMailboxes(ascii, parent) ? "registrable" : "public-suffix";
    // Most names stop here, at their top-level domain.
    if ((own & hasMore) === 0) break;
    parent = own;
  }
  return isKnown ? "registrable" : "unknown-tld";
}

/** Returns the domain that was registered: `example.co.uk` for `mail.example.co.uk`; the name itself if there is none. */
export function registrableIn(ascii: string): string {
  let found = ascii;
  for (let name = ascii; name.includes("."); name = name.slice(name.indexOf(".") + 1)) {
    if (findSuffix(name) === "registrable") found = name;
  }
  return found;
}

/**
 * Suffixes at which authorities have mailboxes: `gov.in`, `nic.in`, `mil.lv` and `sa.gov.au`, and those at which schools have
 * them: `catholic.edu.au`, below the suffix of all schools, at which nobody has one.
 */
const authorities = /^(?:gov|gob|gouv|govt|gv|go|gub|mil|nic|nat)\.|\.(?:ac|edu|gov|sch)\.[a-z]{2}$/;

/**
 * Returns whether a public suffix may have mailboxes: names of authorities and schools, and names that only a wildcard makes a suffix.
 * `*.sch.uk` matches `kent.sch.uk`, which has mailboxes of schools, but also any invented name.
 *
 * @param parent flags of the name without its first label
 */
function hasMailboxes(ascii: string, parent: number): boolean {
  const isByWildcard = (parent & suffixFlag.icannBelow) !== 0 && ascii.split(".").length > 2;
  return isByWildcard || authorities.test(ascii);
}

/** Returns whether `ascii` itself is in the private section: a zone in which anybody can get a name. */
export function isPrivateZone(ascii: string): boolean {
  const isBelowZone = (flagsOf(ascii.slice(ascii.indexOf(".") + 1)) & suffixFlag.privateBelow) !== 0;
  return isBelowZone || (flagsOf(ascii) & suffixFlag.private) !== 0;
}

function flagsOf(name: string): number {
  const { count, lows, highs } = hashSuffixes(name);
  return Math.max(0, suffixTable().find(lows[count - 1]!, highs[count - 1]!));
}

export const publicSuffix = {
  code: "public-suffix",
  status: "fake",
  words: "public suffix",
  plainly: "an ending, without a name before it",
  source: "Public Suffix List, https://publicsuffix.org/",
  forPerson:
    "The domain of this address is an ending under which names are registered. Please check what comes after the @.",
  example: "`public-suffix: co.uk`",
  find: (ascii) => (findSuffix(ascii) === "public-suffix" ? { subject: ascii } : undefined),
} as const satisfies DomainRule;
