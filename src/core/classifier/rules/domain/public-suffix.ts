/** The rule for public suffixes, and what the list of them says of a domain. */
import { hashSuffixes } from "../../tables/name-table.js";
import { suffixFlag, suffixTable } from "../../tables/suffix-table.js";
import { checkDomain, type DomainRule } from "../rule.js";

export type SuffixFinding = "registrable" | "public-suffix" | "unknown-tld";

/** Knows the ICANN section only: private entries (`github.io`) are `registrable`, as their owners registered them. */
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
    if ((own & hasMore) === 0) break;
    parent = own;
  }
  return isKnown ? "registrable" : "unknown-tld";
}

export function registrableIn(ascii: string): string {
  let found = ascii;
  for (let name = ascii; name.includes("."); name = name.slice(name.indexOf(".") + 1)) {
    if (findSuffix(name) === "registrable") found = name;
  }
  return found;
}

/** Authorities have mailboxes at `gov.in`, `mil.lv`, `sa.gov.au`; schools at `catholic.edu.au`, but not above it. */
const authorities = /^(?:gov|gob|gouv|govt|gv|go|gub|mil|nic|nat)\.|\.(?:ac|edu|gov|sch)\.[a-z]{2}$/;

/** Returns true for authorities, schools and wildcards: `*.sch.uk` matches `kent.sch.uk`, which has mailboxes. */
function hasMailboxes(ascii: string, parent: number): boolean {
  const isByWildcard = (parent & suffixFlag.icannBelow) !== 0 && ascii.split(".").length > 2;
  return isByWildcard || authorities.test(ascii);
}

export function isPrivateZone(ascii: string): boolean {
  const isBelowZone = (flagsOf(ascii.slice(ascii.indexOf(".") + 1)) & suffixFlag.privateBelow) !== 0;
  return isBelowZone || (flagsOf(ascii) & suffixFlag.private) !== 0;
}

const flagsOf = (name: string): number => Math.max(0, suffixTable().flagsOf(name));

export const publicSuffix = {
  code: "public-suffix",
  status: "fake",
  words: "public suffix",
  plainly: "an ending, without a name before it",
  source: "Public Suffix List, https://publicsuffix.org/",
  forPerson: `The domain of this address is an ending under which names are registered. ${checkDomain}`,
  example: "`public-suffix: co.uk`",
  find: (ascii) => (findSuffix(ascii) === "public-suffix" ? { subject: ascii } : undefined),
} as const satisfies DomainRule;
