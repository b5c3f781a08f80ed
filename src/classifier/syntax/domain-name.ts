import { domainToASCII, domainToUnicode } from "node:url";
import { Fault } from "./fault.js";

/** A host name that follows RFC 1123 syntax, lower case, in its ASCII form (A-labels). */
export interface DomainName {
  readonly ascii: string;
}

export const maximumLabelOctets = 63;
/** RFC 1035 §2.3.4 allows 255 octets on the wire, which is 253 characters of text. */
export const maximumDomainOctets = 253;

/** Characters that UTS 46 maps to the full stop: ideographic, full-width and half-width. */
const dotLookalikes = /[\u3002\uff0e\uff61]/g;

/**
 * Mapping takes quadratic time, so what is longer than this, in UTF-16 units, is not looked at. The longest address
 * has 254 octets, at most 381 units before canonical composition (U+0390 is 2 octets and composed of 3 units); the
 * rest is leeway for the invisible characters that UTS 46 drops.
 */
export const hopelessLength = 1024;

/**
 * Reads a domain name: letters, digits and hyphens in labels of 1 to 63 octets (RFC 5321 §4.1.2, RFC 1123 §2.1),
 * internationalised names through UTS 46 first. Both spellings of such a name give the same result.
 *
 * @param text the name, without the root's trailing dot
 * @param offset what to add to the positions in faults, in characters: where `text` starts in a longer item
 */
export function parseDomainName(text: string, offset = 0): DomainName | Fault {
  if (text === "") return new Fault("the domain is empty", offset + 1);
  if (text.length > hopelessLength) return tooLong(offset);
  const lower = text.toLowerCase();
  if (!needsMapping(lower)) return checkLabels(lower, offset);

  // What the mapping would choke on for another reason is named first, with its own position.
  const spelled = lower.replace(dotLookalikes, ".");
  const spelledFault = checkShape(spelled, offset);
  if (spelledFault) return spelledFault;
  const ascii = domainToASCII(spelled.normalize("NFC"));
  if (ascii === "") return new Fault("not a valid internationalised domain name", offset + 1);
  // An A-label may hide what its Unicode form may not have.
  return checkShape(domainToUnicode(ascii), offset) ?? checkLabels(ascii, offset);
}

/** Drops the dot of the root (RFC 1034 §3.1), also when it is written as one of its look-alikes. */
export function withoutRoot(text: string): string {
  return text.replace(/[.\u3002\uff0e\uff61]$/, "");
}

/** Checks dots, hyphens and ASCII characters; all others pass, and so does any length. */
function checkShape(name: string, offset: number): Fault | undefined {
  const checked = checkLabels(name.replace(/[^\0-\x7f]/g, "x"), offset, "shape only");
  return checked instanceof Fault ? checked : undefined;
}

function tooLong(offset: number): Fault {
  return new Fault(
    `the domain is longer than ${maximumDomainOctets} octets`,
    offset + maximumDomainOctets + 1,
  );
}

/** Whether any label is not plain ASCII, or claims to be an A-label and so has to be checked as one. */
function needsMapping(lower: string): boolean {
  return /[^\0-\x7f]/.test(lower) || lower.startsWith("xn--") || lower.includes(".xn--");
}

function checkLabels(ascii: string, offset: number, what?: "shape only"): DomainName | Fault {
  const checkLengths = what === undefined;
  let labelStart = 0;
  for (let i = 0; i <= ascii.length; i++) {
    const code = i < ascii.length ? ascii.charCodeAt(i) : 0x2e;
    if (code === 0x2e) {
      const position = offset + i + 1;
      if (i === labelStart) return emptyLabel(ascii, i, position);
      if (ascii.charCodeAt(i - 1) === 0x2d) return new Fault("a label ends with a hyphen", position - 1);
      if (checkLengths && i - labelStart > maximumLabelOctets) {
        return new Fault(`a label is longer than ${maximumLabelOctets} octets`, offset + labelStart + 1);
      }
      labelStart = i + 1;
    } else if (code === 0x2d) {
      if (i === labelStart) return new Fault("a label starts with a hyphen", offset + i + 1);
    } else if (!isLetterOrDigit(code)) {
      return new Fault(`${describeCharacter(ascii, i)} in the domain`, offset + i + 1);
    }
  }
  if (checkLengths && ascii.length > maximumDomainOctets) {
    return tooLong(offset);
  }
  return { ascii };
}

function emptyLabel(ascii: string, index: number, position: number): Fault {
  if (index === 0) return new Fault("the domain starts with a dot", position);
  if (index === ascii.length) return new Fault("the domain ends with a dot", position - 1);
  return new Fault("two dots in a row", position);
}

/** ASCII digits and lower-case letters; the callers have lower-cased. */
function isLetterOrDigit(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39);
}

/** Names the character at `index` for a reason: itself where it can be seen, its code point otherwise. */
export function describeCharacter(text: string, index: number): string {
  const point = text.codePointAt(index) ?? 0;
  if (point === 0x20) return "a space";
  if (point === 0xfffd) return "bytes that are not UTF-8";
  if (point > 0x20 && point < 0x7f) return `"${String.fromCodePoint(point)}"`;
  return `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
}
