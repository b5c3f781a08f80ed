/** Flags of nine of ten addresses, found in their bytes: texts of all mailboxes and domains would take most of a run. */
import type { Flag } from "../../classifier/flags/flag-names.js";
import { flagsOf, roleNames } from "../../classifier/flags/flags.js";
import { runs, words } from "../../classifier/flags/gibberish.js";
import { domainLengthMask, domainWords } from "../../kernel/layout.js";
import type { TableShape } from "../../table/records.js";
import type { Kind } from "../../validator/validator.js";

const slots = 65_536;
/** In the place of flags: the domain has bytes beyond ASCII. */
const unknown: readonly Flag[] = [];

const mailboxBytes = new Uint8Array(256);
for (const byte of Buffer.from("abcdefghijklmnopqrstuvwxyz0123456789.-_+")) mailboxBytes[byte] = 1;
const endBytes = new Uint8Array(256);
for (const byte of Buffer.from(',;\t| "\r\n')) endBytes[byte] = 1;
const [dot, plus, underscore, hyphen, letterP, letterL] = [0x2e, 0x2b, 0x5f, 0x2d, 0x70, 0x6c];

const hashed = (hash: number, byte: number): number => Math.imul(hash ^ byte, 0x01000193);

let roleBits: Uint8Array | undefined;

/** A byte for each hash of a name, read from its end: it says that a mailbox may be one, and is wrong once in 65 times. */
function bitsOfRoles(): Uint8Array {
  const bits = new Uint8Array(slots);
  for (const name of roleNames()) bits[Buffer.from(name).reduceRight(hashed, 0) & (slots - 1)] = 1;
  return bits;
}

/** Undefined for a table in which a mailbox cannot be told from the delimiter or the quote before it. */
export function plainFlagsOf(kind: Kind, { dialect: { delimiter, quote } }: TableShape): PlainFlags | undefined {
  const isMailbox = Buffer.from(`${delimiter ?? ""}${quote}`).some((byte) => mailboxBytes[byte] === 1);
  return isMailbox ? undefined : new PlainFlags(kind);
}

export class PlainFlags {
  // Made for the first domain: most runs ask for no flags.
  #low = new Int32Array(0);
  #high = new Int32Array(0);
  readonly #flags: (readonly Flag[])[] = [];

  constructor(private readonly kind: Kind) {}

  /**
   * `domains` are words of the kernel (see its layout) about the rows of `bytes`. Returns undefined for an item that has to be looked
   * at; the same flags are the same array.
   */
  of(bytes: Buffer, domains: Int32Array, row: number): readonly Flag[] | undefined {
    const word = row * domainWords;
    const start = domains[word + 2]!;
    const length = domains[word + 3]! & domainLengthMask;
    if (length === 0 || (this.kind === "email" && !isWithoutFlags(bytes, start - 1))) return undefined;
    const low = domains[word]!;
    const high = domains[word + 1]!;
    const slot = low & (slots - 1);
    if (this.#low[slot] !== low || this.#high[slot] !== high || this.#flags[slot] === undefined) {
      if (this.#low.length === 0) [this.#low, this.#high] = [new Int32Array(slots), new Int32Array(slots)];
      this.#low[slot] = low;
      this.#high[slot] = high;
      this.#flags[slot] = flagsOfDomain(bytes, start, start + length);
    }
    const flags = this.#flags[slot]!;
    return flags === unknown ? undefined : flags;
  }
}

const beyondAscii = /[^\0-\x7f]/;
const known = new Map<string, readonly Flag[]>();

function flagsOfDomain(bytes: Buffer, start: number, end: number): readonly Flag[] {
  const text = bytes.toString("latin1", start, end);
  if (beyondAscii.test(text)) return unknown;
  // Of a mailbox without flags of its own.
  const flags = flagsOf("email", `x@${text}`);
  const key = flags.join();
  if (!known.has(key)) known.set(key, flags);
  return known.get(key)!;
}

/** Returns whether the mailbox before an `@` certainly has no flag of its own. Capitals are looked at elsewhere. */
function isWithoutFlags(bytes: Uint8Array, at: number): boolean {
  roleBits ??= bitsOfRoles();
  let hash = 0;
  let dots = 0;
  let start = at;
  let end = at;
  for (; start > 0; start--) {
    const byte = bytes[start - 1]!;
    if (mailboxBytes[byte] === 0) {
      if (endBytes[byte] === 0) return false;
      break;
    }
    if (byte === plus) {
      // What came so far is a tag.
      end = start - 1;
      hash = 0;
      dots = 0;
      continue;
    }
    if (byte === dot) dots++;
    // As in "reply".
    if (byte === letterP && bytes[start] === letterL) return false;
    hash = hashed(hash, byte);
  }
  // With three dots, it may be a variant of another mailbox.
  return dots < 3 && roleBits[hash & (slots - 1)] === 0 && !mayBeGibberish(bytes, start, end);
}

/** For each two letters a bit: whether a text that begins with them may be a word or a run of keys, or repeats one letter. */
const starts = new Uint32Array(32);
for (const text of [...words, ...Array.from(runs, (_, at) => runs.slice(at, at + 2))]) addStart(text);
for (let letter = 0; letter < 32; letter++) addStart(String.fromCharCode(letter, letter));

function addStart(text: string): void {
  starts[text.charCodeAt(0) & 31]! |= 1 << (text.charCodeAt(1) & 31);
}

const middleBits = [..."asdfghjkl"].reduce((bits, letter) => bits | (1 << (letter.charCodeAt(0) & 31)), 0);
const isMiddle = (letter: number) => ((middleBits >>> (letter & 31)) & 1) === 1;
const head = new Uint8Array(6);

/** Looks at the first six bytes of a mailbox besides its separators: false only if it certainly is none. */
function mayBeGibberish(bytes: Uint8Array, start: number, end: number): boolean {
  head.fill(0);
  for (let at = start, count = 0; at < end && count < head.length; at++) {
    const byte = bytes[at]!;
    if (byte !== dot && byte !== underscore && byte !== hyphen) head[count++] = byte;
  }
  const first = head[0]!;
  const second = head[1]!;
  const isRepeated =
    (first === head[2] && second === head[3]) ||
    (first === head[3] && second === head[4]) ||
    (first === head[4] && second === head[5]);
  const isInMiddleRow = isMiddle(first) && isMiddle(second) && isMiddle(head[2]!) && isMiddle(head[3]!);
  return isInMiddleRow || isRepeated || ((starts[first & 31]! >>> (second & 31)) & 1) === 1;
}
