/** Syntax of domain names, including internationalised ones. Knows nothing about public suffixes or rules. */
import { domainToASCII, domainToUnicode } from "node:url";
import { Fault } from "./fault.js";

/** A host name with the syntax of RFC 1123, lower case, in A-labels. */
export interface DomainName {
  readonly ascii: string;
}

/** Limits of RFC 1035 §2.3.4. Its 255 octets of a domain on the wire are 253 characters of text. */
export const maximumLabelOctets = 63;
const maximumDomainOctets = 253;

/** Ideographic, full-width and half-width full stops, which UTS 46 maps to a dot. */
export const dotLookalikes = /[\u3002\uff0e\uff61]/g;

/**
 * Most UTF-16 units of an item that is parsed. Longer items are rejected at once, because the mapping of UTS 46 takes
 * quadratic time. The longest valid address has 254 octets, at most 381 units before canonical composition (U+0390 is 2
 * octets and composed of 3 units); the rest is for invisible characters, which UTS 46 drops.
 */
export const hopelessLength = 1024;

/**
 * Parses a domain name: letters, digits and hyphens in labels of 1 to 63 octets (RFC 5321 §4.1.2, RFC 1123 §2.1).
 * Internationalised names are mapped with UTS 46 first, so their Unicode and ASCII spellings give the same result.
 *
 * @param text the name, without the root's trailing dot
 * @param offset index of `text` in a longer item, in UTF-16 units; added to the positions in faults
 */
export function parseDomainName(text: string, offset = 0): DomainName | Fault {
  if (text === "") return new Fault("the domain is empty", offset + 1);
  if (text.length > hopelessLength) return tooLong(offset);
  const lower = text.toLowerCase();
  if (!needsMapping(lower)) return checkLabels(lower, offset);
  const known = lastMapped.get(lower);
  if (known) return known;
  const name = mapped(lower, offset);
  if (lastMapped.size === mostMapped) lastMapped.clear();
  if (!(name instanceof Fault)) lastMapped.set(lower, name);
  return name;
}

/** The last internationalised names: the mapping takes 2 us, and a list has few of them, many times. */
const lastMapped = new Map<string, DomainName>();
const mostMapped = 1000;

function mapped(lower: string, offset: number): DomainName | Fault {
  // Check the shape before the mapping, which rejects misplaced dots and hyphens without a position.
  const spelled = lower.replace(dotLookalikes, ".");
  const spelledFault = checkShape(spelled, offset);
  if (spelledFault) return spelledFault;
  const ascii = domainToASCII(spelled.normalize("NFC"));
  const unicode = domainToUnicode(ascii);
  // Node.js before version 24 returns an empty string for labels that encode nothing; later versions return them unchanged.
  if (ascii === "" || claimsALabel.test(unicode)) {
    return new Fault("not a valid internationalised domain name", offset + 1);
  }
  // An A-label can encode characters that are not allowed.
  return checkShape(unicode, offset) ?? checkLabels(ascii, offset);
}

/** Removes the root's trailing dot (RFC 1034 §3.1) or a look-alike. */
export function withoutRoot(text: string): string {
  return text.replace(/[.\u3002\uff0e\uff61]$/, "");
}

/** Checks dots, hyphens and ASCII characters. Accepts all other characters, and labels of any length. */
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

function needsMapping(lower: string): boolean {
  return /[^\0-\x7f]/.test(lower) || claimsALabel.test(lower);
}

const claimsALabel = /(?:^|\.)xn--/;

function checkLabels(ascii: string, offset: number, what?: "shape only"): DomainName | Fault {
  const checkLengths = what === undefined;
  let labelStart = 0;
  for (let i = 0; i <= ascii.length; i++) {
    const charCode = i < ascii.length ? ascii.charCodeAt(i) : 0x2e;
    if (charCode === 0x2e) {
      const position = offset + i + 1;
      if (i === labelStart) return emptyLabel(ascii, i, position);
      if (ascii.charCodeAt(i - 1) === 0x2d) return new Fault("a label ends with a hyphen", position - 1);
      if (checkLengths && i - labelStart > maximumLabelOctets) {
        return new Fault(`a label is longer than ${maximumLabelOctets} octets`, offset + labelStart + 1);
      }
      labelStart = i + 1;
    } else if (charCode === 0x2d) {
      if (i === labelStart) return new Fault("a label starts with a hyphen", offset + i + 1);
    } else if (!isLetterOrDigit(charCode)) {
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

function isLetterOrDigit(charCode: number): boolean {
  return (charCode >= 0x61 && charCode <= 0x7a) || (charCode >= 0x30 && charCode <= 0x39);
}

export function describeCharacter(text: string, index: number): string {
  const point = text.codePointAt(index) ?? 0;
  if (point === 0x20) return "a space";
  if (point === 0xfffd) return "bytes that are not UTF-8";
  if (point > 0x20 && point < 0x7f) return `"${String.fromCodePoint(point)}"`;
  return `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
}
