/**
 * The classifier: applies the syntax checks, the user's own lists and the rules to one item and returns a verdict.
 * It does no I/O except for reading its tables, and knows no console.
 */
import { readFileSync } from "node:fs";
import { DisposableTable } from "./disposable-table.js";
import { mix } from "./mix.js";
import { NameList, noOwnLists, type OwnLists } from "./own-lists.js";
import { disposableDomainIn } from "./rules/disposable-domain.js";
import { classifyMailbox, findMailboxTests, type MailboxTests, ordinaryMailboxes } from "./rules/mailbox.js";
import { allowList, denyList } from "./rules/own-lists.js";
import type { DomainRule } from "./rules/rule.js";
import { domainRules } from "./rules/rules.js";
import { withoutStrayMarks } from "./rules/stray-marks.js";
import { syntax } from "./rules/syntax.js";
import { suffixTable } from "./suffix-table.js";
import { type Address, findPlainAt, parseAddress } from "./syntax/address.js";
import { parseDomainName, withoutRoot } from "./syntax/domain-name.js";
import { Fault } from "./syntax/fault.js";
import { type Classification, type Kind, verdictOf } from "./verdict.js";

/** Classifies items. Never throws. Takes time linear in the length of the item. Keeps only a cache of domains. */
export interface Classifier {
  /** Returns the verdict on one item. */
  classify(kind: Kind, item: string): Classification;
  /**
   * Returns the status and the reason of the verdict. Its suggestion may be missing, or be a domain only. Faster than
   * `classify` for broken and mistyped addresses.
   */
  judge(kind: Kind, item: string): Classification;
  /**
   * Returns the facts about a domain that hold for all its addresses. Not cached: the caller keeps them.
   *
   * @param ascii a host name, lower case, A-labels
   */
  domainFacts(ascii: string): DomainFacts;
  /** What another implementation needs to find the facts about most domains itself. */
  readonly tables: DomainTables;
}

/** The slots of the classifier's tables of names; see name-table.ts. */
interface DomainTables {
  readonly suffixes: Int32Array;
  readonly disposables: Int32Array;
  /** The domains of the user's own lists, which come before these tables; see {@link ListTable.domains}. */
  readonly ownLists: readonly Int32Array[];
}

/** Result of the domain rules, and the mailbox rules to apply next. */
interface DomainFacts {
  /** Verdict on the domain and on every address at it; undefined when the domain passes. */
  readonly verdict: Classification | undefined;
  /** Rules for the mailboxes of a domain that passes. */
  readonly mailbox: MailboxTests;
  /** Whether the user's own lists name mailboxes at the domain. Then `verdict` may not hold for an address. */
  readonly hasListedMailboxes: boolean;
}

/** Path of the table of disposable domains that comes with idv. It is right from `src`, from `dist` and from the bundles. */
export const builtInTable = new URL("../../dist/classifier/disposable.bin", import.meta.url);

/** Inputs of a classifier. Plain data, so that worker threads can build the same classifier. */
export interface ClassifierSource {
  /** Path of the compiled table of disposable domains; by default the one that comes with idv. */
  readonly table?: string;
  readonly ownLists?: OwnLists;
}

/**
 * Loads the table and creates a classifier.
 *
 * @throws Error when the file cannot be read or is not a table of disposable domains
 */
export function loadClassifier({ table, ownLists }: ClassifierSource = {}): Classifier {
  const file = readFileSync(table ?? builtInTable);
  return createClassifier(new DisposableTable(file), ownLists);
}

/** Creates a classifier from a loaded table. The public suffixes are read when they are first needed. */
export function createClassifier(disposable: DisposableTable, ownLists = noOwnLists): Classifier {
  const allow = new NameList(ownLists.allow);
  const deny = new NameList(ownLists.deny);
  const hasLists = !allow.isEmpty || !deny.isEmpty;

  const rules: readonly DomainRule[] = [...domainRules, disposableDomainIn(disposable)];

  /**
   * Returns the verdict of the user's own lists. They override every rule except the syntax checks: an allowed item
   * skips the domain rules and the mailbox rules. The allow list wins over the deny list.
   */
  function findInOwnLists(ascii: string, local?: string): Classification | undefined {
    if (!hasLists || syntax.find(ascii) !== undefined) return undefined;
    const isListed = (list: NameList) => local !== undefined && list.hasMailbox(local, ascii);
    const find = (list: NameList) => (isListed(list) ? `${local}@${ascii}` : list.findDomain(ascii));
    const allowed = find(allow);
    if (allowed !== undefined) return verdictOf(allowList, { subject: allowed });
    const denied = find(deny);
    return denied === undefined ? undefined : verdictOf(denyList, { subject: denied });
  }

  function applyDomainRules(ascii: string, local?: string): Classification | undefined {
    const listed = findInOwnLists(ascii, local);
    if (listed !== undefined) return listed;
    for (const rule of rules) {
      const found = rule.find(ascii);
      if (found !== undefined) return verdictOf(rule, found);
    }
    return undefined;
  }

  /** Domains that were asked for, and their facts, at the places that their hashes name. A later one may take the place. */
  const rememberedNames: string[] = Array(rememberedDomains).fill("");
  const rememberedFacts: DomainFacts[] = Array(rememberedDomains).fill(ordinaryDomain);
  /** Hash of the last domain that was not in the cache, by its place. */
  const seen = new Int32Array(rememberedDomains);

  function domainFacts(ascii: string): DomainFacts {
    const verdict = applyDomainRules(ascii);
    const hasListedMailboxes = hasLists && (allow.hasMailboxesAt(ascii) || deny.hasMailboxesAt(ascii));
    // Mailbox rules matter only if the domain passes, or the user's lists name mailboxes at it.
    const mailbox = verdict === undefined || hasListedMailboxes ? findMailboxTests(ascii) : ordinaryMailboxes;
    const isOrdinary = verdict === undefined && mailbox === ordinaryMailboxes && !hasListedMailboxes;
    return isOrdinary ? ordinaryDomain : { verdict, mailbox, hasListedMailboxes };
  }

  /**
   * Returns the facts about a domain from the cache, which it fills.
   *
   * @param name a host name of letters, digits, hyphens and dots, in either case
   */
  function recall(name: string): DomainFacts {
    let hash = 0;
    let capitals = 0;
    for (let i = 0; i < name.length; i++) {
      const code = name.charCodeAt(i);
      // This bit makes capitals small and changes no other character of a host name.
      hash = Math.imul(hash ^ (code | smallBit), 0x01000193);
      capitals |= code & ~(code << 1) & letterBit;
    }
    const mixed = mix(hash);
    const place = mixed & (rememberedDomains - 1);
    const ascii = capitals === 0 ? name : name.toLowerCase();
    if (rememberedNames[place] === ascii) return rememberedFacts[place]!;
    const facts = domainFacts(ascii);
    // Most domains of a list occur once. To keep those would cost more than it saves.
    if (seen[place] === mixed) {
      rememberedNames[place] = ascii;
      rememberedFacts[place] = facts;
    }
    seen[place] = mixed;
    return facts;
  }

  function classifyDomain(item: string): Classification {
    const name = parseDomainName(withoutRoot(item));
    return name instanceof Fault ? syntaxFault(name) : (recall(name.ascii).verdict ?? ok);
  }

  /** @param suggests whether to look for what was meant */
  function classifyEmail(item: string, suggests: boolean): Classification {
    const at = findPlainAt(item);
    if (at !== -1) return classifyAddress(item, item.slice(0, at), item.slice(at + 1), suggests);
    const address: Address | Fault = parseAddress(item);
    if (address instanceof Fault) {
      const verdict = syntaxFault(address);
      return suggests ? { ...verdict, ...suggestIfGood(withoutStrayMarks(item)) } : verdict;
    }
    const { local, domain } = address;
    if (domain === undefined) return verdictOf(syntax, { subject: "an address literal instead of a domain" });
    return classifyAddress(item, local, domain.ascii, suggests);
  }

  /**
   * Classifies an address whose syntax is valid.
   *
   * @param domain its domain as A-labels, in either case
   */
  function classifyAddress(item: string, local: string, domain: string, suggests: boolean): Classification {
    const { verdict: onDomain, mailbox, hasListedMailboxes } = recall(domain);
    const verdict = hasListedMailboxes ? applyDomainRules(domain.toLowerCase(), local) : onDomain;
    if (verdict === undefined) return classifyMailbox(mailbox, local) ?? ok;
    if (verdict.suggestion === undefined || !suggests) return verdict;
    const { suggestion: domainMeant, ...withoutSuggestion } = verdict;
    // Suggest the same mailbox, as written, at the intended domain, unless that address is fake or disposable too.
    const suggestion = `${item.slice(0, item.lastIndexOf("@"))}@${domainMeant}`;
    return { ...withoutSuggestion, ...suggestIfGood(suggestion) };
  }

  /** Returns an address as a suggestion, unless it is fake or disposable itself. */
  function suggestIfGood(address: string | undefined): Pick<Classification, "suggestion"> {
    if (address === undefined) return {};
    const { status } = classifyEmail(address, false);
    return status === "ok" || status === "alias" ? { suggestion: address } : {};
  }

  return {
    classify: (kind, item) => (kind === "email" ? classifyEmail(item, true) : classifyDomain(item)),
    judge: (kind, item) => (kind === "email" ? classifyEmail(item, false) : classifyDomain(item)),
    domainFacts,
    get tables() {
      const { slots } = disposable.names;
      const own = hasLists ? [ownLists.allow.domains, ownLists.deny.domains] : [];
      return { suffixes: suffixTable().slots, disposables: slots, ownLists: own };
    },
  };
}

/** Number of places in the cache of domains, a power of two. An entry takes about 100 bytes. */
const rememberedDomains = 16_384;
/** The bits of ASCII that all letters have, and that tells small letters from capitals. */
const [letterBit, smallBit] = [0x40, 0x20];

/** Facts about a domain that passes and has no mailbox rules. Most domains share this object, which saves memory. */
const ordinaryDomain: DomainFacts = {
  verdict: undefined,
  mailbox: ordinaryMailboxes,
  hasListedMailboxes: false,
};

const ok: Classification = { status: "ok" };
const syntaxFault = ({ reason }: Fault): Classification => ({ status: syntax.status, reason });
