/** The user's own allow and deny lists: parses their lines and looks up items. The files are read elsewhere. */
import { hashedWhole, hashName, hashSuffixes, NameTable } from "./name-table.js";
import { type Address, parseAddress } from "./syntax/address.js";
import { type DomainName, parseDomainName, withoutRoot } from "./syntax/domain-name.js";
import { Fault } from "./syntax/fault.js";

/** Plain data in shared memory, from which worker threads build the same classifier. */
export interface OwnLists {
  readonly allow: ListTable;
  readonly deny: ListTable;
}

/** A list as slots of two {@link NameTable}s. `domains` are listed or have listed mailboxes, with a flag for each. */
export interface ListTable {
  readonly domains: Int32Array;
  readonly mailboxes: Int32Array;
  readonly entries: number;
}

/** A domain with all domains below it, or one mailbox. Lower case; the domain in A-labels. */
export type ListEntry = { readonly domain: string } | { readonly domain: string; readonly mailbox: string };

/**
 * Parses a line of a list: a domain or an address, optionally followed by white space and a comment that starts with `#`.
 * `*.b.net`, `.b.net`, `@b.net` and `*@b.net` are the domain: it includes all mailboxes and all domains below it.
 *
 * @returns undefined for an empty line or a comment; a fault for a line that is neither a domain nor an address
 */
export function parseListLine(line: string): ListEntry | Fault | undefined {
  const text = line
    .replace(/(^|\s)#.*$/, "")
    .trim()
    .replace(/^(?:\*[.@]|[.@])(?=.)/, "");
  if (text === "") return undefined;
  if (!text.includes("@")) {
    const name: DomainName | Fault = parseDomainName(withoutRoot(text));
    return name instanceof Fault ? name : { domain: name.ascii };
  }
  const address: Address | Fault = parseAddress(text);
  if (address instanceof Fault) return address;
  // No mailbox has such a name: it is meant as a pattern, and would match nothing.
  const star = address.local.indexOf("*");
  if (star !== -1) return new Fault("only *@DOMAIN can stand for several mailboxes", star + 1);
  if (address.domain === undefined) return new Fault("an address literal instead of a domain", 1);
  return { domain: address.domain.ascii, mailbox: mailboxKey(address.local) };
}

const mailboxKey = (local: string): string => local.toLowerCase();

/** Estimated length of a line, in bytes. */
const usualLine = 16;

const isListed = 1;
const hasMailboxes = 2;
const domainFlagBits = 2;

/**
 * Compiles the lines of texts in UTF-8. Ignores lines that are neither a domain nor an address, after a call of `onFault`.
 *
 * @param onFault gets the index of the text, from 0, and the number of the line, from 1
 */
export function compileList(
  texts: readonly (string | Uint8Array)[],
  onFault: (text: number, line: number, fault: Fault) => void = () => {},
): ListTable {
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  const [domains, mailboxes] = [new SlotTable(characters / usualLine), new SlotTable(0)];
  let entries = 0;
  for (const [index, given] of texts.entries()) {
    const text = typeof given === "string" ? Buffer.from(given) : given;
    let line = 0;
    for (let start = 0; start < text.length; ) {
      const end = plainEnd(text, start);
      line++;
      if (end > start) {
        // Fast path: most lines are a domain in its usual spelling.
        domains.add(text, start, end, isListed);
        entries++;
        start = nextLine(text, end);
        continue;
      }
      const lineEnd = lineEndFrom(text, start);
      const entry = parseListLine(decoder.decode(text.subarray(start, lineEnd)));
      start = nextLine(text, lineEnd);
      if (entry instanceof Fault) onFault(index, line, entry);
      if (entry === undefined || entry instanceof Fault) continue;
      entries++;
      const { domain } = entry;
      addText(domains, domain, "mailbox" in entry ? hasMailboxes : isListed);
      if ("mailbox" in entry) addText(mailboxes, `${entry.mailbox}@${domain}`, 0);
    }
  }
  return { domains: domains.slots, mailboxes: mailboxes.slots, entries };
}

export class NameList {
  readonly isEmpty: boolean;
  readonly #domains: NameTable;
  readonly #mailboxes: NameTable;

  constructor({ domains, mailboxes, entries }: ListTable) {
    this.isEmpty = entries === 0;
    this.#domains = new NameTable(domains, domainFlagBits);
    this.#mailboxes = new NameTable(mailboxes, domainFlagBits);
  }

  findDomain(ascii: string): string | undefined {
    if (this.isEmpty) return undefined;
    const { count, starts, lows, highs } = hashSuffixes(ascii);
    for (let label = count - 1; label >= 0; label--) {
      const flags = this.#domains.find(lows[label]!, highs[label]!);
      if (flags !== -1 && (flags & isListed) !== 0) return ascii.slice(starts[label]!);
    }
    return undefined;
  }

  hasMailboxesAt(ascii: string): boolean {
    const flags = this.#find(this.#domains, ascii);
    return flags !== -1 && (flags & hasMailboxes) !== 0;
  }

  hasMailbox(local: string, ascii: string): boolean {
    return this.#find(this.#mailboxes, `${mailboxKey(local)}@${ascii}`) !== -1;
  }

  #find(table: NameTable, name: string): number {
    if (this.isEmpty) return -1;
    const bytes = Buffer.from(name);
    hashName(bytes, 0, bytes.length);
    return table.find(hashedWhole.low, hashedWhole.high);
  }
}

/** Slots of a {@link NameTable}, doubled when two thirds are in use. */
class SlotTable {
  slots: Int32Array;
  #size = 0;

  constructor(expected: number) {
    this.slots = newSlots(2 ** Math.ceil(Math.log2(2 * expected + 16)));
  }

  add(bytes: Uint8Array, start: number, end: number, flags: number): void {
    hashName(bytes, start, end);
    const { low, high } = hashedWhole;
    if (3 * (this.#size + 1) > this.slots.length) this.#grow();
    if (this.#put((low & ~3) | flags, high)) this.#size++;
  }

  #put(low: number, high: number): boolean {
    const { slots } = this;
    const mask = (slots.length >> 1) - 1;
    for (let slot = high & mask; ; slot = (slot + 1) & mask) {
      const ownLow = slots[2 * slot]!;
      const ownHigh = slots[2 * slot + 1]!;
      const isFree = ownLow === 0 && ownHigh === 0;
      if (!isFree && (ownHigh !== high || ((ownLow ^ low) & ~3) !== 0)) continue;
      slots[2 * slot] = ownLow | low;
      slots[2 * slot + 1] = high;
      return isFree;
    }
  }

  #grow(): void {
    const { slots } = this;
    this.slots = newSlots(slots.length);
    for (let word = 0; word < slots.length; word += 2) {
      if (slots[word] !== 0 || slots[word + 1] !== 0) this.#put(slots[word]!, slots[word + 1]!);
    }
  }
}

/** Browsers hide shared memory from most pages, which need it only for threads. */
const Memory = globalThis.SharedArrayBuffer ?? ArrayBuffer;
const newSlots = (count: number) => new Int32Array(new Memory(8 * count));

/**
 * Returns the end of a line that is a domain of small letters, digits, dots and single hyphens; `start` for any other line,
 * which may be a domain too.
 */
function plainEnd(text: Uint8Array, start: number): number {
  let before = dot;
  let hasDot = false;
  for (let at = start; ; at++) {
    const charCode = at < text.length ? text[at]! : lineFeed;
    if (charCode === lineFeed || charCode === carriageReturn) {
      const isDomain = hasDot && before !== dot && before !== hyphen && at - start <= longestLabel;
      return isDomain ? at : start;
    }
    if (charCode === dot || charCode === hyphen) {
      if (before === dot || before === hyphen) return start;
      if (charCode === dot) hasDot = true;
    } else if (charCode < 0x30 || charCode > 0x7a || (charCode > 0x39 && charCode < 0x61)) return start;
    before = charCode;
  }
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const dot = 0x2e;
const hyphen = 0x2d;
/** Most octets of a label (RFC 1035 §2.3.4). A longer line is left to {@link parseListLine}. */
const longestLabel = 63;

function lineEndFrom(text: Uint8Array, start: number): number {
  let at = start;
  while (at < text.length && text[at] !== lineFeed && text[at] !== carriageReturn) at++;
  return at;
}

const nextLine = (text: Uint8Array, end: number): number =>
  end + (text[end] === carriageReturn && text[end + 1] === lineFeed ? 2 : 1);

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function addText(table: SlotTable, name: string, flags: number): void {
  const bytes = Buffer.from(name);
  table.add(bytes, 0, bytes.length, flags);
}

export const noOwnLists: OwnLists = { allow: compileList([]), deny: compileList([]) };
