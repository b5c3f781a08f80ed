/** The rule for special-use names: domains that RFCs reserve and that receive no mail. */
import { lastDotBefore } from "../../tables/suffix-walk.js";
import { checkDomain, type DomainRule } from "../rule.js";

/** RFC 2606, RFC 6761 (`.localhost`), RFC 6762 (`.local`), RFC 7686 (`.onion`), RFC 3172 (`.arpa`). */
const reserved: ReadonlySet<string> = new Set(
  "test example invalid localhost local onion arpa example.com example.net example.org".split(" "),
);

const letterE = 0x65;

function findReserved(ascii: string): string | undefined {
  const lastDot = lastDotBefore(ascii, ascii.length);
  // Reserved top-level domains have four letters or more.
  if (ascii.length - lastDot > 4) {
    const topLevel = ascii.slice(lastDot + 1);
    if (reserved.has(topLevel)) return topLevel;
  }
  if (ascii.charCodeAt(lastDot - 1) !== letterE) return undefined;
  const twoLabels = ascii.slice(lastDotBefore(ascii, lastDot) + 1);
  return reserved.has(twoLabels) ? twoLabels : undefined;
}

export const specialUse = {
  code: "special-use",
  status: "fake",
  words: "reserved domain",
  plainly: "reserved by the standards, receives no mail",
  source: "RFC 6761 and the registry of special-use domain names",
  forPerson: `The domain of this address is reserved, and receives no mail. ${checkDomain}`,
  example: "`special-use: example.com` (RFC 2606, 6761, 7686)",
  names: [...reserved],
  find(ascii) {
    const subject = findReserved(ascii);
    return subject === undefined ? undefined : { subject };
  },
} as const satisfies DomainRule;
