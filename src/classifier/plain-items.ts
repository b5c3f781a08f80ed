/**
 * The fast path of the classifier: classifies plain items from their bytes, without making strings. Does no I/O.
 *
 * An item is plain if it is ASCII and either a domain of letters, digits, hyphens and a dot, or an address with a dot-atom as
 * local part at such a domain. Domains with an A-label (`xn--`) are not plain. Nine of ten items in real lists are
 * plain.
 *
 * How it works. One pass over the bytes checks the syntax, lower-cases the letters and computes the hash of the item.
 * The hash of the domain is the key in a cache of domains. On a miss, `Classifier.domainFacts` is asked and its answer
 * is cached as a small code: a status, or a mark that the domain passes. Addresses at a domain that passes then go
 * through `classifyMailbox`, the function that the classifier itself uses. There is no second copy of any rule except
 * for the syntax.
 *
 * Why it must agree with the classifier. `classify` either returns 0, which means "ask the classifier", or the status
 * that the classifier gives and the hash that `hashItem` gives. One run uses both paths, even for the same item: the
 * value `ann@example.net` is classified here; in `Ann <ann@example.net>`, the address is extracted first and then goes
 * to the classifier. Different statuses would contradict each other in one output. Different hashes would charge one
 * item twice.
 *
 * When you change a rule:
 * - Syntax: an item that the classifier newly rejects or rewrites must return 0 here, or get the same status. Returning
 *   0 is always correct, only slower. Use the limits and tables of `syntax/`; do not copy them.
 * - Domains: nothing to do while the verdict depends on the lower-case domain alone. Anything else that decides a
 *   verdict must become part of `domainFacts` and be handled in `#remember`.
 * - Mailboxes: the rule belongs in `classifyMailbox`. It may use the bytes of the local part and the `MailboxRules` of
 *   the domain, nothing else.
 * - Hash: lower-case exactly as `itemKey` does and use the steps of `item-hash.ts`.
 * - Statuses: their codes must stay below `ordinary`.
 * - Tests: `test/classifier/plain-items.test.ts` compares both paths on random items; add items for the rule to it.
 */
import type { Classifier } from "./classifier.js";
import { join, stepHigh, stepLow } from "./item-hash.js";
import { classifyMailbox, type MailboxRules, ordinaryMailboxes } from "./rules/mailbox.js";
import { isAtomText, maximumAddressOctets, maximumLocalOctets } from "./syntax/address.js";
import { maximumDomainOctets, maximumLabelOctets } from "./syntax/domain-name.js";
import { type ClassifierStatus, classifierStatuses, type Kind } from "./verdict.js";

/** Returns the code of a status: its position in {@link classifierStatuses}, counted from 1. */
const statusCode = (status: ClassifierStatus): number => 1 + classifierStatuses.indexOf(status);
const ok = statusCode("ok");

/** Slots of the cache of domains: enough for most lists, in 6 MB. A power of two. */
const rememberedDomains = 262_144;

const [at, dot, hyphen, upperX] = [0x40, 0x2e, 0x2d, 0x58];

/** Lower case of each byte that a label may hold: letters, digits and the hyphen. 0 for all other bytes. */
const inDomain = new Uint8Array(256);
/** Lower case of each byte that an atom may hold. 0 for all other bytes. */
const inLocal = new Uint8Array(256);
for (let code = 0; code < 128; code++) {
  const isUpper = code >= 0x41 && code <= 0x5a;
  const lower = isUpper ? code + 32 : code;
  if (isAtomText[code] === 1) inLocal[code] = lower;
  if (/[a-z0-9-]/.test(String.fromCharCode(lower))) inDomain[code] = lower;
}

/**
 * Codes of cached domains besides the status codes. `ordinary`: passes, its mailboxes have no rules of their own.
 * `hasRules`: passes, its mailboxes have rules. `untold`: the user's own lists name mailboxes there, so only the
 * classifier can decide.
 */
const [ordinary, hasRules, untold] = [253, 254, 255];

/** Classifies plain items in place, in a buffer of bytes, and leaves all other items to the classifier. */
export class PlainItems {
  /** Low word of the hash of the last item that `classify` decided, as `hashItem` gives it. */
  low = 0;
  /** High word of that hash. */
  high = 0;
  readonly #classifier: Classifier;
  readonly #seedLow: number;
  readonly #seedHigh: number;
  /**
   * Cache of domains, one per slot; a new domain replaces the one in its slot. Four words a slot: low and high word of
   * the domain's hash, the code (0 in an empty slot), and one unused.
   */
  readonly #domains = new Int32Array(4 * rememberedDomains);
  /** Mailbox rules of the domain in each slot whose code is `hasRules`. */
  readonly #rules: (MailboxRules | undefined)[] = new Array(rememberedDomains).fill(undefined);
  /** Slot of the domain that `#domain` found last. */
  #slot = 0;

  /** @param seed the seed of the run's hashes, two words */
  constructor(classifier: Classifier, seed: Int32Array) {
    this.#classifier = classifier;
    this.#seedLow = seed[0]!;
    this.#seedHigh = seed[1]!;
  }

  /**
   * Classifies the item in `bytes` from `start` up to `end` (exclusive) and sets its hash in `low` and `high`.
   *
   * @returns the status code; 0 when the classifier has to decide, and then `low` and `high` mean nothing
   */
  classify(kind: Kind, bytes: Buffer, start: number, end: number): number {
    return kind === "email"
      ? this.#classifyAddress(bytes, start, end)
      : this.#classifyDomain(bytes, start, end);
  }

  #classifyAddress(bytes: Buffer, start: number, end: number): number {
    let low = this.#seedLow;
    let high = this.#seedHigh;
    let atomStart = start;
    let i = start;
    for (; i < end; i++) {
      const byte = bytes[i]!;
      let lower = inLocal[byte]!;
      if (lower === 0) {
        if ((byte !== dot && byte !== at) || i === atomStart) return 0;
        atomStart = i + 1;
        lower = byte;
      }
      low = stepLow(low, lower);
      high = stepHigh(high, lower);
      if (lower === at) break;
    }
    if (i >= end || i - start > maximumLocalOctets || end - start > maximumAddressOctets) return 0;
    const code = this.#domain(bytes, i + 1, end);
    if (code === 0) return 0;
    this.low = join(low, this.low);
    this.high = join(high, this.high);
    if (code === untold) return 0;
    if (code < ordinary) return code;
    const rules = code === ordinary ? ordinaryMailboxes : this.#rules[this.#slot]!;
    const verdict = classifyMailbox(rules, bytes, start, i, true);
    return verdict === undefined ? ok : statusCode(verdict.status);
  }

  #classifyDomain(bytes: Buffer, start: number, end: number): number {
    const code = this.#domain(bytes, start, end);
    this.low = join(this.#seedLow, this.low);
    this.high = join(this.#seedHigh, this.high);
    if (code === untold) return 0;
    return code < ordinary ? code : ok;
  }

  /**
   * Returns the cached code of a plain domain and sets `#slot` and, in `low` and `high`, the words of the domain alone.
   * Returns 0 when the domain is not plain.
   */
  #domain(bytes: Buffer, start: number, end: number): number {
    let low = this.#seedLow;
    let high = this.#seedHigh;
    let labelStart = start;
    for (let i = start; i < end; i++) {
      const byte = bytes[i]!;
      let lower = inDomain[byte]!;
      if (lower === 0) {
        if (byte !== dot || !isLabel(bytes, labelStart, i)) return 0;
        lower = dot;
        labelStart = i + 1;
      }
      low = stepLow(low, lower);
      high = stepHigh(high, lower);
    }
    if (!isLabel(bytes, labelStart, end) || end - start > maximumDomainOctets) return 0;
    // A single label may be a word such as `unknown` in place of a domain.
    if (labelStart === start) return 0;
    this.low = low;
    this.high = high;
    this.#slot = (low ^ (low >>> 15)) & (rememberedDomains - 1);
    const word = 4 * this.#slot;
    const domains = this.#domains;
    const remembered = domains[word + 2]!;
    if (domains[word] === low && domains[word + 1] === high && remembered !== 0) return remembered;
    return this.#remember(bytes.toString("latin1", start, end).toLowerCase());
  }

  /** Asks the classifier for the facts about a domain, puts them in the slot and returns their code. */
  #remember(ascii: string): number {
    const { verdict, mailbox, hasListedMailboxes } = this.#classifier.domainFacts(ascii);
    const passed = mailbox === ordinaryMailboxes ? ordinary : hasRules;
    const told = verdict === undefined ? passed : statusCode(verdict.status);
    const code = hasListedMailboxes ? untold : told;
    this.#domains.set([this.low, this.high, code], 4 * this.#slot);
    this.#rules[this.#slot] = code === hasRules ? mailbox : undefined;
    return code;
  }
}

/**
 * Returns whether letters, digits and hyphens, which the caller has checked, form a valid label that is not an A-label.
 */
function isLabel(bytes: Buffer, start: number, end: number): boolean {
  const length = end - start;
  if (length === 0 || length > maximumLabelOctets || bytes[start] === hyphen || bytes[end - 1] === hyphen) {
    return false;
  }
  // `xn--`. The second letter is not compared: labels such as `xa--b` are rare and may be left to the classifier.
  return (
    length < 4 ||
    (bytes[start]! & ~32) !== upperX ||
    bytes[start + 2] !== hyphen ||
    bytes[start + 3] !== hyphen
  );
}
