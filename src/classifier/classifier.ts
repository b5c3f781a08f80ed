import { readFileSync } from "node:fs";
import { DisposableTable } from "./disposable-table.js";
import { NameList, noOwnLists, type OwnLists } from "./own-lists.js";
import { findMailboxRules, judgeMailbox, type MailboxRules, ordinaryMailboxes } from "./rules/mailbox.js";
import { findSuffix } from "./rules/public-suffix.js";
import { findSpecialUse } from "./rules/special-use.js";
import { findTypo } from "./rules/typo-domain.js";
import { type Address, parseAddress } from "./syntax/address.js";
import { parseDomainName, withoutRoot } from "./syntax/domain-name.js";
import { Fault } from "./syntax/fault.js";
import type { Classification, Kind } from "./verdict.js";

/** Never throws; takes time linear in an item's length; keeps no state but domains that it has seen. */
export interface Classifier {
  /** The verdict on one item. */
  classify(kind: Kind, item: string): Classification;
  /**
   * What the rules know of a domain, for whoever looks at many addresses of the same one.
   *
   * @param ascii a host name, lower case, A-labels
   */
  domainFacts(ascii: string): DomainFacts;
}

/** What the rules know of a domain. */
interface DomainFacts {
  /** The verdict on the domain, and so on every address at it; undefined where it passes. */
  readonly verdict: Classification | undefined;
  /** What its mailboxes have to pass then. */
  readonly mailbox: MailboxRules;
  /** Some of its mailboxes are in the user's own lists: nothing but the address tells. */
  readonly hasListedMailboxes: boolean;
}

/** A rule speaks, or leaves the item to the next one. */
type DomainRule = (ascii: string) => Classification | undefined;

/** The table of disposable domains that comes with the program. */
export const builtInTable = new URL("disposable.bin", import.meta.url);

/** What a classifier is made of; plain data, so that other threads can make the same. */
export interface ClassifierSource {
  /** The compiled table of disposable domains: a path, or the one that comes with the program. */
  readonly table?: string;
  readonly ownLists?: OwnLists;
}

/**
 * Makes a classifier.
 *
 * @throws Error when the table cannot be read or is none
 */
export function loadClassifier({ table, ownLists }: ClassifierSource = {}): Classifier {
  const file = readFileSync(table ?? builtInTable);
  return createClassifier(new DisposableTable(file), ownLists);
}

/** Makes the classifier over a table of disposable domains. It does no I/O. */
export function createClassifier(disposable: DisposableTable, ownLists = noOwnLists): Classifier {
  const allow = new NameList(ownLists.allow);
  const deny = new NameList(ownLists.deny);
  const hasLists = ownLists.allow.length + ownLists.deny.length > 0;

  /** The tests of a domain, in order: the first that speaks decides. */
  const domainRules: readonly DomainRule[] = [
    (ascii) => fakeIf("special-use", findSpecialUse(ascii)),
    (ascii) => syntaxPolicy(ascii),
    (ascii) => {
      const suffix = findSuffix(ascii);
      if (suffix === "registrable") return undefined;
      if (suffix === "public-suffix") return fake(`public-suffix: ${ascii}`);
      const unknown = fake(`unknown-tld: ${ascii.slice(ascii.lastIndexOf(".") + 1)}`);
      const meant = findTypo(ascii);
      return meant === undefined ? unknown : { ...unknown, suggestion: meant };
    },
    (ascii) => {
      const meant = findTypo(ascii);
      return meant === undefined
        ? undefined
        : { status: "fake", reason: `typo-domain: ${ascii}`, suggestion: meant };
    },
    (ascii) => {
      const listed = disposable.find(ascii);
      return listed === undefined
        ? undefined
        : { status: "disposable", reason: `disposable-domain: ${listed}` };
    },
  ];

  /** What the user's own lists say; what they allow needs no more than its syntax. */
  function judgeByLists(ascii: string, local?: string): Classification | undefined {
    if (!hasLists || syntaxPolicy(ascii) !== undefined) return undefined;
    const isListed = (list: NameList) => local !== undefined && list.hasMailbox(local, ascii);
    const find = (list: NameList) => (isListed(list) ? `${local}@${ascii}` : list.findDomain(ascii));
    const allowed = find(allow);
    if (allowed !== undefined) return { status: "ok", reason: `allow-list: ${allowed}` };
    const denied = find(deny);
    return denied === undefined ? undefined : { status: "disposable", reason: `deny-list: ${denied}` };
  }

  function judgeDomain(ascii: string, local?: string): Classification | undefined {
    const listed = judgeByLists(ascii, local);
    if (listed !== undefined) return listed;
    for (const rule of domainRules) {
      const verdict = rule(ascii);
      if (verdict !== undefined) return verdict;
    }
    return undefined;
  }

  const remembered = new Map<string, DomainFacts>();

  function domainFacts(ascii: string): DomainFacts {
    const verdict = judgeDomain(ascii);
    const mailbox = findMailboxRules(ascii);
    const hasListedMailboxes = allow.hasMailboxesAt(ascii) || deny.hasMailboxesAt(ascii);
    const isOrdinary = verdict === undefined && mailbox === ordinaryMailboxes && !hasListedMailboxes;
    return isOrdinary ? ordinaryDomain : { verdict, mailbox, hasListedMailboxes };
  }

  /** The same, remembered. */
  function recall(ascii: string): DomainFacts {
    const known = remembered.get(ascii);
    if (known !== undefined) return known;
    const facts = domainFacts(ascii);
    if (remembered.size === rememberedDomains) remembered.clear();
    remembered.set(ascii, facts);
    return facts;
  }

  function classifyDomain(item: string): Classification {
    const name = parseDomainName(withoutRoot(item));
    return name instanceof Fault ? syntaxFault(name) : (recall(name.ascii).verdict ?? ok);
  }

  function classifyEmail(item: string): Classification {
    const address: Address | Fault = parseAddress(item);
    if (address instanceof Fault) return syntaxFault(address);
    const { local, domain } = address;
    if (domain === undefined) return fake("syntax: an address literal instead of a domain");
    const { ascii } = domain;
    const { verdict: onDomain, mailbox, hasListedMailboxes } = recall(ascii);
    const verdict = hasListedMailboxes ? judgeDomain(ascii, local) : onDomain;
    if (verdict === undefined) {
      if (mailbox === ordinaryMailboxes && !local.includes("+")) return ok;
      const length = mailboxBytes.write(local);
      return judgeMailbox(mailbox, mailboxBytes, 0, length, length === local.length) ?? ok;
    }
    if (verdict.suggestion === undefined) return verdict;
    const { suggestion: domainMeant, ...withoutSuggestion } = verdict;
    // The same mailbox, as it is written, at the domain that was meant, unless that provider cannot have it.
    const suggestion = `${item.slice(0, item.lastIndexOf("@"))}@${domainMeant}`;
    const { status } = classifyEmail(suggestion);
    return status === "ok" || status === "alias" ? { ...withoutSuggestion, suggestion } : withoutSuggestion;
  }

  return {
    classify: (kind, item) => (kind === "email" ? classifyEmail(item) : classifyDomain(item)),
    domainFacts,
  };
}

/** Of these every one takes some 100 bytes. */
const rememberedDomains = 20_000;

/** Where a local part stands while it is looked at; syntax allows 64 octets. */
const mailboxBytes = Buffer.alloc(256);

/** What is known of most domains; one object, so that many take no memory. */
const ordinaryDomain: DomainFacts = {
  verdict: undefined,
  mailbox: ordinaryMailboxes,
  hasListedMailboxes: false,
};

const ok: Classification = { status: "ok" };
const fake = (reason: string): Classification => ({ status: "fake", reason });
const syntaxFault = (fault: Fault): Classification => fake(fault.reason);
const fakeIf = (code: string, subject: string | undefined) =>
  subject === undefined ? undefined : fake(`${code}: ${subject}`);
const nine = 0x39;

/** RFC 5321 allows these in a domain; nobody receives mail there. */
function syntaxPolicy(ascii: string): Classification | undefined {
  const lastDot = ascii.lastIndexOf(".");
  if (lastDot === -1) return fake("syntax: a domain without a dot");
  const endsWithDigit = ascii.charCodeAt(ascii.length - 1) <= nine;
  const isNumeric = endsWithDigit && /^\d+$/.test(ascii.slice(lastDot + 1));
  return isNumeric ? fake("syntax: a numeric top-level domain") : undefined;
}
