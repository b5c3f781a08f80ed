import { ok, statusCode } from "../run/row-status.js";
import type { Kind } from "../validator/validator.js";
import type { Classifier } from "./classifier.js";
import { join, stepHigh, stepLow } from "./item-hash.js";
import { judgeMailbox, type MailboxRules, ordinaryMailboxes } from "./rules/mailbox.js";
import { isAtomText, maximumAddressOctets, maximumLocalOctets } from "./syntax/address.js";
import { maximumDomainOctets, maximumLabelOctets } from "./syntax/domain-name.js";

/** How many domains are remembered: as many as most lists have, in 6 MB. A power of two. */
const rememberedDomains = 262_144;

const [at, dot, hyphen, upperX] = [0x40, 0x2e, 0x2d, 0x58];

/** Letters to their lower case, digits and hyphens to themselves, all else to 0. */
const inDomain = new Uint8Array(256);
/** The characters of an atom to their lower case, all else to 0. */
const inLocal = new Uint8Array(256);
for (let code = 0; code < 128; code++) {
  const isUpper = code >= 0x41 && code <= 0x5a;
  const lower = isUpper ? code + 32 : code;
  if (isAtomText[code] === 1) inLocal[code] = lower;
  if (/[a-z0-9-]/.test(String.fromCharCode(lower))) inDomain[code] = lower;
}

/**
 * What is remembered of a domain besides a status: it passed and nothing is known of its mailboxes; it passed and there
 * are rules for them; only the classifier can tell.
 */
const [ordinary, hasRules, untold] = [253, 254, 255];

/**
 * Looks at items where they stand, in bytes, and makes no strings of them: for the nine of ten that are plain, which is
 * ASCII, an address a dot-atom at letters, digits and hyphens, a domain nothing but the latter. What it says
 * is what the classifier says; what it leaves goes there.
 */
export class PlainItems {
  /** The hash of the last item that was plain, as `hashItem` gives it. */
  low = 0;
  high = 0;
  readonly #classifier: Classifier;
  readonly #seedLow: number;
  readonly #seedHigh: number;
  /** The domains that were seen last, four words each: the two of the hash, and the code of the status. */
  readonly #domains = new Int32Array(4 * rememberedDomains);
  readonly #rules: (MailboxRules | undefined)[] = new Array(rememberedDomains).fill(undefined);
  /** Where the last domain is in them. */
  #slot = 0;

  /** @param seed that of the run's hashes */
  constructor(classifier: Classifier, seed: Int32Array) {
    this.#classifier = classifier;
    this.#seedLow = seed[0]!;
    this.#seedHigh = seed[1]!;
  }

  /** The code of the status of the item from `start` to `end`; 0 when it is not plain. */
  judge(kind: Kind, bytes: Buffer, start: number, end: number): number {
    return kind === "email" ? this.#judgeAddress(bytes, start, end) : this.#judgeDomain(bytes, start, end);
  }

  #judgeAddress(bytes: Buffer, start: number, end: number): number {
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
    const verdict = judgeMailbox(rules, bytes, start, i, true);
    return verdict === undefined ? ok : statusCode(verdict.status);
  }

  #judgeDomain(bytes: Buffer, start: number, end: number): number {
    const code = this.#domain(bytes, start, end);
    this.low = join(this.#seedLow, this.low);
    this.high = join(this.#seedHigh, this.high);
    if (code === untold) return 0;
    return code < ordinary ? code : ok;
  }

  /** The code of a plain domain's status or what else is remembered of it, with its words in `low` and `high`; 0 when it is not plain. */
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
    this.low = low;
    this.high = high;
    this.#slot = (low ^ (low >>> 15)) & (rememberedDomains - 1);
    const word = 4 * this.#slot;
    const domains = this.#domains;
    const remembered = domains[word + 2]!;
    if (domains[word] === low && domains[word + 1] === high && remembered !== 0) return remembered;
    return this.#remember(bytes.toString("latin1", start, end).toLowerCase());
  }

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

/** Whether letters, digits and hyphens make a label, and not one that has to be read as internationalised. */
function isLabel(bytes: Buffer, start: number, end: number): boolean {
  const length = end - start;
  if (length === 0 || length > maximumLabelOctets || bytes[start] === hyphen || bytes[end - 1] === hyphen) {
    return false;
  }
  // xn--
  return (
    length < 4 ||
    (bytes[start]! & ~32) !== upperX ||
    bytes[start + 2] !== hyphen ||
    bytes[start + 3] !== hyphen
  );
}
