/** The user's own allow and deny lists: parses their lines and looks up items. The files are read elsewhere. */
import { atSign, carriageReturn, dot, hyphen, lineFeed, underscore } from "../../ascii.js";
import { type Address, parseAddress } from "../syntax/address.js";
import { type DomainName, isLetterOrDigit, parseDomainName, withoutRoot } from "../syntax/domain-name.js";
import { Fault } from "../syntax/fault.js";
import { utf8 } from "../utf8.js";
import { hashedWhole, hashName, hashSuffixes, NameTable } from "./name-table.js";
import { suffixTable } from "./suffix-table.js";
import { findSuffixIn } from "./suffix-walk.js";

/** Plain data in shared memory, from which worker threads build the same classifier. */
export type OwnLists = { readonly allow: ListTable; readonly deny: ListTable };

/** Slots of two {@link NameTable}s; `others` has addresses, `noreply@*`, `*` and `mx:example.net`. */
export interface ListTable {
  readonly domains: Int32Array;
  readonly others: Int32Array;
  readonly entries: number;
  readonly isAboutAll: boolean;
  readonly hasExchanges: boolean;
}

export type ListName = "allow" | "deny";

/**
 * A domain with all below it (also `*.b.net`, `.b.net`, `@b.net`, `*@b.net`; `.com` for a public suffix), an address, `noreply@*`, or `*`, for the
 * rest; to deny also `mx:b.net`. Returns the usual spelling; undefined for an empty line or a comment.
 */
export function parseListLine(line: string, list: ListName): string | Fault | undefined {
  const written = line.replace(/(^|\s)#.*$/, "").trim();
  const text = written.replace(/^(?:\*[.@]|[.@])(?=.)/, "");
  if (text === "" || text === everything) return text || undefined;
  if (/^mx:/i.test(text)) {
    if (list === "allow") return new Fault("only a deny list takes mx:", 1);
    const host = parseDomainName(withoutRoot(text.slice("mx:".length).replace(/^(?:\*?\.)(?=.)/, "")));
    return host instanceof Fault ? host : exchangeKey(host.ascii);
  }
  if (!text.includes("@")) {
    const name: DomainName | Fault = parseDomainName(withoutRoot(text));
    if (name instanceof Fault) return name;
    // Most often a line that was cut: the list would be about all domains that end in it.
    const isSuffix = text === written && !name.ascii.includes(".") && suffixTable().flagsOf(name.ascii) > 0;
    return isSuffix ? new Fault(`a public suffix; write .${name.ascii} for all below it`, 1) : name.ascii;
  }
  const isAnywhere = text.endsWith("@*");
  const address: Address | Fault = parseAddress(isAnywhere ? `${text.slice(0, -1)}example.net` : text);
  if (address instanceof Fault) return address;
  // No mailbox has such a name: it is meant as a pattern, and would match nothing.
  const star = address.local.indexOf("*");
  if (star !== -1) return new Fault("* can only stand for a whole local part or a whole domain", star + 1);
  if (address.domain === undefined) return new Fault("an address literal instead of a domain", 1);
  return mailboxKey(address.local, isAnywhere ? everything : address.domain.ascii);
}

export const everything = "*";
const mailboxKey = (local: string, domain: string): string => `${local.toLowerCase()}@${domain}`;
const exchangeKey = (host: string): string => `mx:${host}`;

const usualLine = 16;
const usualAddress = 32;

const isListed = 1;
const hasMailboxes = 2;
const domainFlagBits = 2;

/** Reports lines that are not entries by the index of their text, from 0, and line number, from 1. */
export function compileList(
  list: ListName,
  texts: readonly (string | Uint8Array)[],
  onFault: (text: number, line: number, fault: Fault) => void = () => {},
): ListTable {
  const lists = texts.map((text) => (typeof text === "string" ? utf8(text) : text));
  const characters = lists.reduce((sum, { length }) => sum + length, 0);
  // Memory that is not written takes no room.
  const tables = { domains: new SlotTable(characters / usualLine), others: new SlotTable(characters / usualAddress) };
  let entries = 0;
  let isAboutAll = false;
  let hasExchanges = false;
  for (const [index, text] of lists.entries()) {
    let line = 0;
    for (let start = 0; start < text.length; ) {
      line++;
      const end = addPlainLine(tables, text, start);
      if (end > start) {
        entries++;
        start = nextLine(text, end);
        continue;
      }
      const lineEnd = lineEndFrom(text, start);
      const entry = parseListLine(decoder.decode(text.subarray(start, lineEnd)), list);
      start = nextLine(text, lineEnd);
      if (entry instanceof Fault) onFault(index, line, entry);
      if (entry === undefined || entry instanceof Fault) continue;
      entries++;
      isAboutAll ||= entry.endsWith(everything);
      hasExchanges ||= entry.startsWith("mx:");
      addEntry(tables, entry);
    }
  }
  const { domains, others } = tables;
  return { domains: domains.slots, others: others.slots, entries, isAboutAll, hasExchanges };
}

type ListTables = { readonly domains: SlotTable; readonly others: SlotTable };

function addEntry({ domains, others }: ListTables, entry: string): void {
  const at = entry.lastIndexOf("@");
  const isEverywhere = entry.endsWith(everything);
  if (at === -1 && !entry.startsWith("mx:") && !isEverywhere) addText(domains, entry, isListed);
  else addText(others, entry, 0);
  if (at !== -1 && !isEverywhere) addText(domains, entry.slice(at + 1), hasMailboxes);
}

/** Fast path for lines that need not become text. Returns the end of the line; `start` if it was not added. */
function addPlainLine({ domains, others }: ListTables, text: Uint8Array, start: number): number {
  const domainEnd = plainEnd(text, start);
  if (domainEnd > start) {
    domains.add(text, start, domainEnd, isListed);
    return domainEnd;
  }
  const at = plainAt(text, start);
  const end = at === -1 ? start : plainEnd(text, at + 1);
  if (end <= at + 1) return start;
  others.add(text, start, end, 0);
  domains.add(text, at + 1, end, hasMailboxes);
  return end;
}

export class NameList {
  readonly isEmpty: boolean;
  readonly hasExchanges: boolean;
  readonly #isAboutAll: boolean;
  readonly #domains: NameTable;
  readonly #others: NameTable;

  constructor({ domains, others, entries, isAboutAll, hasExchanges }: ListTable) {
    this.isEmpty = entries === 0;
    this.hasExchanges = hasExchanges;
    this.#isAboutAll = isAboutAll;
    this.#domains = new NameTable(domains, domainFlagBits);
    this.#others = new NameTable(others, domainFlagBits);
  }

  find(ascii: string, local?: string): string | undefined {
    if (this.isEmpty) return undefined;
    if (local !== undefined && this.#has(mailboxKey(local, ascii))) return `${local}@${ascii}`;
    const domain = this.#findDomain(ascii);
    if (domain !== undefined || !this.#isAboutAll) return domain;
    if (local !== undefined && this.#has(mailboxKey(local, everything))) return `${local}@${everything}`;
    return this.#has(everything) ? everything : undefined;
  }

  findExchange(host: string): string | undefined {
    const listed = findSuffixIn(host, (suffix) => this.hasExchanges && this.#has(exchangeKey(suffix)));
    return listed === undefined ? undefined : exchangeKey(listed);
  }

  hasMailboxesAt(ascii: string): boolean {
    if (this.isEmpty) return false;
    const flags = this.#domains.flagsOf(ascii);
    return this.#isAboutAll || (flags !== -1 && (flags & hasMailboxes) !== 0);
  }

  #findDomain(ascii: string): string | undefined {
    const { count, starts, lows, highs } = hashSuffixes(ascii);
    for (let label = count - 1; label >= 0; label--) {
      const flags = this.#domains.find(lows[label]!, highs[label]!);
      if (flags !== -1 && (flags & isListed) !== 0) return ascii.slice(starts[label]!);
    }
    return undefined;
  }

  #has(entry: string): boolean {
    const bytes = utf8(entry);
    hashName(bytes, 0, bytes.length);
    return this.#others.find(hashedWhole.low, hashedWhole.high) !== -1;
  }
}

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
    } else if (!isLetterOrDigit(charCode)) return start;
    before = charCode;
  }
}

function plainAt(text: Uint8Array, start: number): number {
  let before = dot;
  for (let at = start; at < text.length && at - start <= longestLabel; at++) {
    const charCode = text[at]!;
    if (charCode === atSign) return before === dot ? -1 : at;
    const isMark = charCode === hyphen || charCode === underscore;
    if (charCode === dot ? before === dot : !isMark && !isLetterOrDigit(charCode)) return -1;
    before = charCode;
  }
  return -1;
}

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
  const bytes = utf8(name);
  table.add(bytes, 0, bytes.length, flags);
}

export const noOwnLists: OwnLists = { allow: compileList("allow", []), deny: compileList("deny", []) };
