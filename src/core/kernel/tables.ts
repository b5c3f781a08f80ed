/** Tables for assembly/, made from the classifier's: lists are defined once. Tested by test/kernel/judge.test.ts. */
import { bar } from "../ascii.js";
import { mailboxIsDomain, spelledNames, spellingAt } from "../classifier/canonical.js";
import type { Classifier } from "../classifier/classifier.js";
import { outcomeCode } from "../classifier/outcomes.js";
import { listedDomain } from "../classifier/rules/domain/disposable-domain.js";
import { typoLabels, typoTargets } from "../classifier/rules/domain/typo-domain.js";
import { mailboxNames } from "../classifier/rules/mailbox/impossible-mailbox.js";
import { labelCode, namedLabels } from "../classifier/rules/mailbox/mailbox.js";
import { placeholderStarts } from "../classifier/rules/mailbox/placeholder.js";
import type { DomainRule, KernelRule, MailboxName } from "../classifier/rules/rule.js";
import { domainRules } from "../classifier/rules/rules.js";
import { isAtomText } from "../classifier/syntax/address.js";
import { parseDomainName } from "../classifier/syntax/domain-name.js";
import { Fault } from "../classifier/syntax/fault.js";
import type { Kind } from "../classifier/verdict.js";
import * as layout from "./layout.js";

/** Made once: a run over many files writes the tables for each. */
let letters: Uint8Array | undefined;

function letterBits(): Uint8Array {
  const bits = new Uint8Array((0x800 - 0x80) / 8);
  for (let point = 0x80; point < 0x800; point++) {
    const letter = String.fromCodePoint(point);
    const isStable = letter.toLowerCase() === letter && letter.normalize("NFC") === letter;
    if (isStable && /[\p{Ll}\p{Lo}]/u.test(letter)) bits[(point - 0x80) >> 3]! |= 1 << (point & 7);
  }
  return bits;
}

export function writeTables(memory: ArrayBufferLike): void {
  const bytes = new Uint8Array(memory);
  bytes.set(namedLabels, layout.labels);
  for (let code = 0; code < 128; code++) {
    const half = code & 15;
    const bit = 1 << (code >> 4);
    // In a plain list, a bar may separate other fields: leave it to the classifier.
    if (isAtomText[code] === 1 && code !== bar) bytes[layout.atomClass + half]! |= bit;
    if (/[a-z0-9-]/i.test(String.fromCharCode(code))) bytes[layout.labelClass + half]! |= bit;
  }
  if (mailboxNames.length >= layout.mostGrammars) throw new Error("too many grammars for the kernel");
  for (const [index, name] of mailboxNames.entries()) writeGrammar(memory, index + 1, name);
  for (const start of placeholderStarts) bytes[layout.placeholders + (start >> 3)]! |= 1 << (start & 7);
}

/**
 * Writes letters and names. Without them, the kernel asks about each domain, and leaves items with letters beyond ASCII:
 * for small inputs, faster than writing over 1 MB. Without a classifier, there are no names.
 */
export function writeFurtherTables(memory: ArrayBufferLike, classifier: Classifier | undefined): void {
  letters ??= letterBits();
  new Uint8Array(memory).set(letters, layout.letters);
  if (classifier === undefined) return;
  const { suffixes, disposables, ownLists, isAboutAll } = classifier.tables;
  const isTooLarge =
    suffixes.length > 2 * layout.mostSuffixSlots || disposables.length > 2 * layout.mostDisposableSlots;
  if (isTooLarge) return;
  const words = new Int32Array(memory);
  const settings = words.subarray(layout.settings / 4, layout.settings / 4 + layout.settingsWords);
  words.set(suffixes, layout.suffixNames / 4);
  words.set(disposables, layout.disposableNames / 4);
  settings[layout.suffixSlotsWord] = suffixes.length / 2;
  settings[layout.disposableSlotsWord] = disposables.length / 2;
  settings[layout.hasOwnNamesWord] = ownLists.length;
  if (isAboutAll) new Uint8Array(memory, layout.ownNames, layout.ownNameBits / 8).fill(0xff);
  for (const slots of ownLists) writeOwnNames(memory, slots);
  writeTypos(memory);
  const labels = new Uint8Array(memory, layout.labels, namedLabels.length);
  const ask = (name: string, bit: number) => {
    const [label = ""] = name.split(".");
    labels[labelCode(label, 0, label.length)]! |= bit;
  };
  const ofRules = domainRules.flatMap(({ names = [] }: DomainRule) => names);
  for (const name of [...ofRules, ...spelledNames]) ask(name, layout.askedLabel);
  for (const name of ofRules) if (!name.includes(".")) ask(name, layout.askedTopLevel);
}

function writeTypos(memory: ArrayBufferLike): void {
  const starts = new Uint8Array(memory, layout.typoStarts, 2 * layout.mostTypoLength);
  let count = 0;
  for (const [nth, names] of [typoTargets, typoLabels].entries()) {
    const sorted = names.toSorted((one, other) => one.target.length - other.target.length);
    for (let length = 0; length < layout.mostTypoLength; length++) {
      starts[nth * layout.mostTypoLength + length] =
        count + sorted.filter(({ target }) => target.length < length).length;
    }
    for (const { letters } of sorted) new Int32Array(memory)[layout.typos / 4 + count++] = letters;
  }
  if (count > layout.mostTypos) throw new Error("too many providers for the kernel");
}

function writeOwnNames(memory: ArrayBufferLike, slots: Int32Array): void {
  const bits = new Uint8Array(memory, layout.ownNames, layout.ownNameBits / 8);
  const mask = layout.ownNameBits - 1;
  for (let word = 0; word < slots.length; word += 2) {
    const low = slots[word]!;
    const high = slots[word + 1]!;
    if (low === 0 && high === 0) continue;
    const first = high & mask;
    const second = (low >>> layout.ownFlagBits) & mask;
    bits[first >> 3]! |= 1 << (first & 7);
    bits[second >> 3]! |= 1 << (second & 7);
  }
}

const dotsCode = { free: layout.freeDots, apart: layout.apartDots, ignored: layout.ignoredDots };

function writeGrammar(memory: ArrayBufferLike, index: number, { positions, shortest, longest, dots }: MailboxName) {
  const start = layout.grammars + index * layout.grammarBytes;
  new Uint8Array(memory, start, 256).set(positions);
  const words = new DataView(memory, start);
  words.setUint32(layout.shortestAt, shortest, true);
  words.setUint32(layout.longestAt, Math.min(longest, 0xffff_ffff), true);
  words.setUint32(layout.dotsAt, dotsCode[dots], true);
}

/** Whether the syntax of a plain name is known to be right: it encodes no other letters, and has none. */
const isSpelled = (name: string): boolean => !/[^\0-\x7f]|(?:^|\.)xn--/.test(name);

/** What a provider ignores in a mailbox, where that is all that its spelling does. */
export function spellingCode(ascii: string): number {
  const spelling = spellingAt(ascii);
  if (spelling === undefined) return layout.ownSpelling;
  const { domain = ascii, ignored, dotsAreHyphens, hasPhones } = spelling;
  if (spelling === mailboxIsDomain || domain !== ascii || dotsAreHyphens || hasPhones) return layout.otherSpelling;
  if (ignored === undefined) return layout.freeTags;
  return ignored.source === "\\." ? layout.freeTagsAndDots : layout.otherSpelling;
}

/** Facts as in layout.ts for a lower-case name, below the length of the listed one. Without a classifier, all pass. */
export function factsOf(classifier: Classifier | undefined, kind: Kind, name: string): number {
  const ofSpelled = kind === "domain" ? layout.ownSpelling : spellingCode(name);
  const spelling = isSpelled(name) ? ofSpelled : layout.otherSpelling;
  const passes = name.includes("xn--") ? layout.untold : layout.passes;
  return (spelling << layout.spellingShift) | (classifier === undefined ? passes : ruleFacts(classifier, kind, name));
}

/** `untold` if a rule is lacking. */
function ruleFacts(classifier: Classifier, kind: Kind, name: string): number {
  const domain = isSpelled(name) ? { ascii: name } : parseDomainName(name);
  if (domain instanceof Fault) return layout.untold;
  const { verdict, mailbox, otherwise, hasListedMailboxes } = classifier.domainFacts(domain.ascii);
  const listed = (listedDomain(verdict?.reason)?.length ?? 0) << 16;
  // The kernel reads the listed name at the end of `name`.
  if (domain.ascii !== name && listed > 0) return layout.untold;
  if (hasListedMailboxes) return layout.untold | listed;
  if (verdict !== undefined) return outcomeCode(verdict) | listed;
  if (otherwise.reason !== undefined) return kind === "domain" ? outcomeCode(otherwise) : layout.untold;
  if (kind === "domain") return layout.passes;
  let facts = layout.passes;
  for (const [nth, { rule, test }] of mailbox.entries()) {
    if (test.kernel === undefined) return layout.untold;
    if (test.kernel.isForAll) return nth === 0 ? outcomeCode({ reason: rule.code }) : layout.untold;
    facts |= bitsOf(test.kernel);
  }
  return facts;
}

const bitsOf = ({ name, hasNoPlus, hasPlaceholders, isRelay, isSubAddress }: KernelRule): number =>
  ((name === undefined ? 0 : 1 + mailboxNames.indexOf(name)) << layout.grammarShift) |
  (hasNoPlus ? layout.hasNoPlus : 0) |
  (hasPlaceholders ? layout.hasPlaceholders : 0) |
  (isRelay ? layout.isRelay : 0) |
  (isSubAddress ? layout.isSubAddress : 0);
