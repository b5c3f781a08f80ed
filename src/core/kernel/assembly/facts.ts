// Finds the facts about most domains. Asks JavaScript where another rule could apply, so that rules are written once;
// tables.ts fills the tables. The walk over a name is that of `hashSuffixes` in classifier/tables/name-table.ts.
import { dot, hyphen } from "../../ascii";
import * as layout from "../layout";
import { mix, smallLetter } from "./hash";

const dotCom: u32 = 0x6d6f632e;

export const notPlain: u32 = 0xffffffff;
export let listedAt: usize = 0;
/** Flags of the name one label shorter, whether longer ones have rules, and whether a suffix was found. */
let suffix: u32 = 0;
let mayHaveMore = true;
let hasSuffix = false;
let isAskedUnlessListed = false;

/** Returns bits as in layout.ts; `notPlain` if the classifier has to be asked. Expects A-labels, in either case. */
export function plainFacts(start: usize, end: usize): u32 {
  const disposables: u32 = load<u32>(layout.settings + 4 * layout.disposableSlotsWord);
  const suffixes: u32 = load<u32>(layout.settings + 4 * layout.suffixSlotsWord);
  if (disposables === 0 || suffixes === 0 || hasTwoHyphens(start, end) || !isAscii(start, end)) return notPlain;
  const hasOwnNames: bool = load<u32>(layout.settings + 4 * layout.hasOwnNamesWord) !== 0;
  let a: u32 = 0x2c1b3c6d;
  let b: u32 = 0x297a2d39;
  let labelEnd: usize = end;
  let letters: u32 = 0;
  let labelLetters: u32 = 0;
  suffix = 0;
  mayHaveMore = true;
  hasSuffix = false;
  listedAt = 0;
  isAskedUnlessListed = false;
  for (let p: usize = end; ; p--) {
    const isWhole = p === start;
    const byte: u32 = isWhole ? dot : smallLetter(load<u8>(p - 1));
    if (byte === dot) {
      const low = mix(a ^ (b >> 15));
      const high = mix(b + a * 0x85ebca6b);
      const isOwn = hasOwnNames && isOwnName(high) && isOwnName(low >> layout.ownFlagBits);
      if (isOwn || isAsked(p, labelEnd, end, letters)) return notPlain;
      noteOtherRules(p, labelEnd, end, isWhole, labelLetters);
      labelLetters = 0;
      labelEnd = p - 1;
      if (
        mayHaveMore &&
        !passesSuffix(flagsOf(layout.suffixNames, suffixes, layout.suffixFlagBits, low, high), isWhole)
      )
        return notPlain;
      if (isDisposable(flagsOf(layout.disposableNames, disposables, 1, low, high), isWhole)) listedAt = p;
      if (isWhole) break;
    } else labelLetters |= (<u32>1) << (byte & 31);
    letters |= (<u32>1) << (byte & 31);
    a = (a ^ byte) * 0x01000193;
    b = (rotl(b, 5) ^ byte) * 0x9e3779b1;
  }
  return factsFound();
}

function factsFound(): u32 {
  if (!hasSuffix) return notPlain;
  if (listedAt !== 0) return layout.disposableDomainCode;
  return isAskedUnlessListed ? notPlain : layout.passes;
}

/** Only the names below a zone are disposable, not the zone itself. */
function isDisposable(listed: u32, isWhole: bool): bool {
  return (listed & isName) !== 0 && ((listed & 1) === 0 || !isWhole);
}

/** A step of `findSuffix` (classifier/rules/domain/public-suffix.ts), with the flags of a name. False for what it refuses. */
function passesSuffix(own: u32, isWhole: bool): bool {
  const isSuffix = (own & layout.icannFlag) !== 0 || (suffix & layout.icannBelowFlag) !== 0;
  if ((own & layout.exceptionFlag) !== 0 || (isSuffix && isWhole)) return false;
  hasSuffix = hasSuffix || isSuffix;
  mayHaveMore = (own & layout.hasMoreFlag) !== 0;
  suffix = own;
  return true;
}

/** Whether a rule that comes before listed domains may be about the label from `p` to `labelEnd`, or the name from `p` on. */
function isAsked(p: usize, labelEnd: usize, end: usize, letters: u32): bool {
  if ((labelBits(p, labelEnd) & (labelEnd === end ? layout.askedTopLevel : layout.askedLabel)) !== 0) return true;
  // The name or one that it is below may be a typo.
  return labelEnd !== end && isNear(0, end - p, letters);
}

/** The other rules are tried where no domain is listed: about mailboxes, labels of providers and words in disposable names. */
function noteOtherRules(p: usize, labelEnd: usize, end: usize, isWhole: bool, letters: u32): void {
  if (isAskedUnlessListed) return;
  // Under .com, labels are compared with their names.
  const isNational = isWhole && labelEnd < end && !(end - labelEnd === 4 && load<u32>(labelEnd) === dotCom);
  isAskedUnlessListed =
    (labelEnd !== end && (labelBits(p, labelEnd) & layout.askedUnlessListed) !== 0) ||
    (isNational && isNear(layout.mostTypoLength, labelEnd - p, letters)) ||
    (hasMailLetters(letters) && hasMailWord(p, labelEnd));
}

function hasMailLetters(letters: u32): bool {
  return (
    (letters & mailLetters) === mailLetters ||
    (letters & inboxLetters) === inboxLetters ||
    (letters & wegwLetters) === wegwLetters ||
    (letters & jetaLetters) === jetaLetters
  );
}

function hasMailWord(start: usize, end: usize): bool {
  for (let p: usize = start; p + 4 <= end; p++) {
    const word: u32 = load<u32>(p) | 0x20202020;
    if (word === 0x6c69616d || word === 0x786f626e || word === 0x77676577 || word === 0x6174656a) return true;
  }
  return false;
}

const mailLetters: u32 = (1 << 13) | (1 << 1) | (1 << 9) | (1 << 12);
const inboxLetters: u32 = (1 << 14) | (1 << 2) | (1 << 15) | (1 << 24);
const wegwLetters: u32 = (1 << 23) | (1 << 5) | (1 << 7);
const jetaLetters: u32 = (1 << 10) | (1 << 5) | (1 << 20) | (1 << 1);

function isOwnName(word: u32): bool {
  const bit: u32 = word & (layout.ownNameBits - 1);
  return ((load<u8>(layout.ownNames + (bit >> 3)) >> <u8>(bit & 7)) & 1) !== 0;
}

const isName: u32 = 0x80000000;

function flagsOf(table: usize, slots: u32, flagBits: u32, lowWord: u32, high: u32): u32 {
  const flags: u32 = ((<u32>1) << flagBits) - 1;
  const wanted: u64 = ((<u64>high) << 32) | <u64>(lowWord & ~flags);
  let slot: u32 = high & (slots - 1);
  while (true) {
    const entry: u64 = load<u64>(table + 8 * slot);
    if (entry === 0) return 0;
    if ((entry & ~(<u64>flags)) === wanted) return isName | (<u32>entry & flags);
    slot = (slot + 1) & (slots - 1);
  }
}

/** As in A-labels, which are left to the classifier: its rule for typos looks at the letters that they encode. */
function hasTwoHyphens(start: usize, end: usize): bool {
  for (let p: usize = start + 1; p < end; p++) {
    if (load<u8>(p) === hyphen && load<u8>(p - 1) === hyphen) return true;
  }
  return false;
}

/** Letters beyond ASCII are in the tables as A-labels only. */
function isAscii(start: usize, end: usize): bool {
  while (start < end && load<u8>(start) < 0x80) start++;
  return start === end;
}

/** Compares with providers' names and, by an offset, labels; see `findTypo` and `findSimilar` in typo-domain.ts. */
function isNear(offset: usize, length: usize, letters: u32): bool {
  if (length > <usize>layout.mostTypoLength - 3) return false;
  const starts: usize = <usize>layout.typoStarts + offset + length;
  const last: u32 = load<u8>(starts + 2);
  for (let i: u32 = load<u8>(starts - 1); i < last; i++) {
    if (popcnt(letters ^ load<u32>(layout.typos + 4 * i)) <= 2) return true;
  }
  return false;
}

function labelBits(start: usize, end: usize): u32 {
  const length: u32 = <u32>(end - start);
  const letters: u32 =
    ((<u32>load<u8>(start) & 31) << 10) |
    ((<u32>load<u8>((start + end) >> 1) & 31) << 5) |
    (<u32>load<u8>(end - 1) & 31);
  return load<u8>(layout.labels + ((letters ^ (length * 0x2545)) & 32767));
}
