/** Syntax of e-mail addresses in an envelope (RFC 5321, RFC 6531). Knows nothing about providers or rules. */
import { atSign, dot, hyphen } from "../../ascii.js";
import { utf8Length } from "../utf8.js";
import { isAddressLiteral } from "./address-literal.js";
import type { DomainName } from "./domain-name.js";
import { describeCharacter, hopelessLength, maximumLabelOctets, parseDomainName } from "./domain-name.js";
import { Fault } from "./fault.js";

export interface Address {
  /** In NFC, with its case, without the quotes and backslashes of a quoted string. */
  readonly local: string;
  readonly domain?: DomainName;
}

/** Limits of RFC 5321 §4.5.3.1.1 and §4.5.3.1.3. A path has up to 256 octets; two of them are the angle brackets. */
const maximumLocalOctets = 64;
const maximumAddressOctets = 254;

export const isAtomText = new Uint8Array(128);
for (const character of "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-/=?^_`{|}~") {
  isAtomText[character.charCodeAt(0)] = 1;
}

// RFC 6531 allows any UTF-8, but no real mailbox has these (U+FFFD is what invalid UTF-8 decodes to). Joiners between
// characters beyond ASCII stay: Persian, Hindi and Sinhala need them (RFC 5892, A.1 and A.2).
const isUnusable = (character: string): boolean => /(?![\u200c\u200d])[\p{C}\p{Z}\ufffd]/u.test(character);

const isJoiner = (charCode: number): boolean => charCode === 0x200c || charCode === 0x200d;

const isUsable = (address: string, at: number): boolean =>
  isJoiner(address.charCodeAt(at))
    ? address.charCodeAt(at - 1) > 127 && address.charCodeAt(at + 1) > 127
    : !isUnusable(characterAt(address, at));

/** Fast path for 9 in 10: a dot-atom at a host name without `--`. Returns the index of its `@`, or -1 if unsure. */
export function findPlainAt(text: string): number {
  const { length } = text;
  let partStart = 0;
  let at = -1;
  for (let i = 0; i < length; i++) {
    const charCode = text.charCodeAt(i);
    if (charCode > 127) return -1;
    if (at === -1) {
      if (isAtomText[charCode] === 1) continue;
      if (i === partStart || (charCode !== dot && charCode !== atSign)) return -1;
      if (charCode === atSign) at = i;
      partStart = i + 1;
    } else if (isLetterOrDigit[charCode] === 0) {
      // Two hyphens in a row may be an A-label.
      if (i === partStart || text.charCodeAt(i - 1) === hyphen) return -1;
      if (charCode === dot) {
        if (i - partStart > maximumLabelOctets) return -1;
        partStart = i + 1;
      } else if (charCode !== hyphen) return -1;
    }
  }
  const lastLabel = length - partStart;
  const isCut = lastLabel === 0 || text.charCodeAt(length - 1) === hyphen;
  const isTooLong = at > maximumLocalOctets || length > maximumAddressOctets || lastLabel > maximumLabelOctets;
  return isCut || isTooLong ? -1 : at;
}

const isLetterOrDigit = Uint8Array.from({ length: 128 }, (_, charCode) =>
  Number(/[A-Za-z0-9]/.test(String.fromCharCode(charCode))),
);

/** Rejects comments, folding white space and obsolete forms (RFC 5322): they belong in headers, not in an envelope. */
export function parseAddress(text: string): Address | Fault {
  if (text === "") return new Fault("the address is empty", 1);
  if (text.length > hopelessLength) return tooLong(text, "the address", maximumAddressOctets);
  const isPlain = isAscii(text);
  const address = isPlain ? text : text.normalize("NFC");
  const local = address.charCodeAt(0) === 0x22 ? scanQuotedString(address) : scanDotAtom(address);
  if (local instanceof Fault) return local;

  const domainStart = local.end + 1;
  const localOctets = isPlain ? local.end : utf8Length(address.slice(0, local.end));
  if (localOctets > maximumLocalOctets) return tooLong(address, "the local part", maximumLocalOctets);
  const domainText = address.slice(domainStart);
  if (domainText.startsWith("[")) {
    if (!isAddressLiteral(domainText)) return new Fault("not a valid address literal", domainStart + 1);
    return { local: local.value };
  }
  const domain = parseDomainName(domainText, domainStart);
  if (domain instanceof Fault) return domain;
  // An international domain has more octets in one of its forms; the address as written may have still more.
  const octets = Math.max(
    localOctets + 1 + domain.ascii.length,
    isPlain ? address.length : utf8Length(address),
    isPlain ? 0 : utf8Length(text),
  );
  if (octets > maximumAddressOctets) return tooLong(address, "the address", maximumAddressOctets);
  return { local: local.value, domain };
}

type LocalPart = { readonly value: string; readonly end: number };

function scanDotAtom(address: string): LocalPart | Fault {
  let atomStart = 0;
  for (let i = 0; i < address.length; i++) {
    const charCode = address.charCodeAt(i);
    if (charCode < 128 ? isAtomText[charCode] === 1 : isUsable(address, i)) {
      if (charCode >= 0xd800 && charCode <= 0xdbff) i++;
      continue;
    }
    const isEmpty = i === atomStart;
    if (charCode === 0x40 && !isEmpty) return { value: address.slice(0, i), end: i };
    if (charCode !== 0x2e || isEmpty) return localFault(address, i, charCode);
    atomStart = i + 1;
  }
  return new Fault("no @", address.length);
}

function localFault(address: string, i: number, charCode: number): Fault {
  if (charCode === 0x40) return new Fault(i > 0 ? "the local part ends with a dot" : "nothing before the @", i || 1);
  if (charCode === 0x2e) return new Fault(i > 0 ? "two dots in a row" : "the local part starts with a dot", i + 1);
  return new Fault(`${describeCharacter(address, i)} in the local part`, i + 1);
}

function scanQuotedString(address: string): LocalPart | Fault {
  let value = "";
  for (let i = 1; i < address.length; i++) {
    let charCode = address.charCodeAt(i);
    if (charCode === 0x22) {
      if (address.charCodeAt(i + 1) === 0x40) return { value, end: i + 1 };
      return new Fault(i + 1 === address.length ? "no @" : "text between the closing quote and the @", i + 2);
    }
    const isPair = charCode === 0x5c;
    if (isPair) charCode = address.charCodeAt(++i);
    const allowed = charCode < 128 ? charCode >= 0x20 && charCode !== 0x7f : !isPair && isUsable(address, i);
    if (i >= address.length) break;
    if (!allowed) return new Fault(`${describeCharacter(address, i)} in the quoted local part`, i + 1);
    const character = characterAt(address, i);
    value += character;
    i += character.length - 1;
  }
  return new Fault("the quoted local part is never closed", 1);
}

const characterAt = (text: string, index: number): string => String.fromCodePoint(text.codePointAt(index) ?? 0);

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return true;
}

function tooLong(text: string, what: string, limit: number): Fault {
  let position = 0;
  for (let sum = 0; position < text.length; ) {
    const character = characterAt(text, position);
    sum += utf8Length(character);
    if (sum > limit) break;
    position += character.length;
  }
  return new Fault(`${what} is longer than ${limit} octets`, position + 1);
}
