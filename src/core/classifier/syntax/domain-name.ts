/** Syntax of domain names, including internationalised ones. Knows nothing about public suffixes or rules. */
import { domainToASCII, domainToUnicode } from "node:url";
import { Fault } from "./fault.js";

export type DomainName = { readonly ascii: string };

/** Limits of RFC 1035 §2.3.4. Its 255 octets of a domain on the wire are 253 characters of text. */
export const maximumLabelOctets = 63;
const maximumDomainOctets = 253;

export const dotLookalikes = /[\u3002\uff0e\uff61]/g;

/**
 * In UTF-16 units. Longer items are rejected at once: UTS 46 takes quadratic time. A valid address has up to 381 units
 * (254 octets, decomposed); the rest is for invisible characters, which UTS 46 drops.
 */
export const hopelessLength = 1024;

/** Follows RFC 5321 §4.1.2 and RFC 1123 §2.1 after UTS 46. Adds `offset`, in UTF-16 units, to positions in faults. */
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
const mostMapped = 10_000;

function mapped(lower: string, offset: number): DomainName | Fault {
  // Check the shape before the mapping, which rejects misplaced dots and hyphens without a position.
  const spelled = lower.replace(dotLookalikes, ".");
  const spelledFault = checkShape(spelled, offset);
  if (spelledFault) return spelledFault;
  const ascii = domainToASCII(spelled.normalize("NFC"));
  const unicode = domainToUnicode(ascii);
  // Before version 24, Node.js returned an empty string for labels that encode nothing; now it returns them unchanged.
  if (ascii === "" || claimsALabel.test(unicode)) {
    return new Fault("not a valid internationalised domain name", offset + 1);
  }
  // An A-label can encode characters that are not allowed.
  return checkShape(unicode, offset) ?? checkLabels(ascii, offset);
}

export const withoutRoot = (text: string): string => text.replace(/[.\u3002\uff0e\uff61]$/, "");

function checkShape(name: string, offset: number): Fault | undefined {
  const checked = checkLabels(name.replace(/[^\0-\x7f]/g, "x"), offset, false);
  return checked instanceof Fault ? checked : undefined;
}

function tooLong(offset: number): Fault {
  return new Fault(`the domain is longer than ${maximumDomainOctets} octets`, offset + maximumDomainOctets + 1);
}

const needsMapping = (lower: string): boolean => /[^\0-\x7f]/.test(lower) || claimsALabel.test(lower);

const claimsALabel = /(?:^|\.)xn--/;

function checkLabels(ascii: string, offset: number, checksLengths = true): DomainName | Fault {
  let labelStart = 0;
  for (let i = 0; i <= ascii.length; i++) {
    const charCode = i < ascii.length ? ascii.charCodeAt(i) : 0x2e;
    if (charCode === 0x2e) {
      const position = offset + i + 1;
      if (i === labelStart) return emptyLabel(ascii, i, position);
      if (ascii.charCodeAt(i - 1) === 0x2d) return new Fault("a label ends with a hyphen", position - 1);
      if (checksLengths && i - labelStart > maximumLabelOctets) {
        return new Fault(`a label is longer than ${maximumLabelOctets} octets`, offset + labelStart + 1);
      }
      labelStart = i + 1;
    } else if (charCode === 0x2d) {
      if (i === labelStart) return new Fault("a label starts with a hyphen", offset + i + 1);
    } else if (!isLetterOrDigit(charCode)) {
      return new Fault(`${describeCharacter(ascii, i)} in the domain`, offset + i + 1);
    }
  }
  if (checksLengths && ascii.length > maximumDomainOctets) return tooLong(offset);
  return { ascii };
}

function emptyLabel(ascii: string, index: number, position: number): Fault {
  if (index === 0) return new Fault("the domain starts with a dot", position);
  if (index === ascii.length) return new Fault("the domain ends with a dot", position - 1);
  return new Fault("two dots in a row", position);
}

export function isLetterOrDigit(charCode: number): boolean {
  return (charCode >= 0x61 && charCode <= 0x7a) || (charCode >= 0x30 && charCode <= 0x39);
}

export function describeCharacter(text: string, index: number): string {
  const point = text.codePointAt(index) ?? 0;
  if (point === 0x20) return "a space";
  if (point === 0xfffd) return "bytes that are not UTF-8";
  if (point > 0x20 && point < 0x7f) return `"${String.fromCodePoint(point)}"`;
  return `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
}
