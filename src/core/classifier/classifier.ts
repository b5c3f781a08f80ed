/** The classifier: syntax, the user's own lists and the rules give one item its verdict. Does no I/O. */
import { disposableDomainIn } from "./rules/domain/disposable-domain.js";
import { disposableName } from "./rules/domain/disposable-name.js";
import { findSimilar, similarDomain } from "./rules/domain/typo-domain.js";
import { classifyMailbox, findMailboxTests, type MailboxTests, ordinaryMailboxes } from "./rules/mailbox/mailbox.js";
import { allowList, denyList } from "./rules/own-lists.js";
import type { DomainRule } from "./rules/rule.js";
import { domainRules } from "./rules/rules.js";
import { withoutStrayMarks } from "./rules/stray-marks.js";
import { syntax } from "./rules/syntax.js";
import { type Address, findPlainAt, parseAddress } from "./syntax/address.js";
import { parseDomainName, withoutRoot } from "./syntax/domain-name.js";
import { Fault } from "./syntax/fault.js";
import { type DataSource, type DisposableTable, ownBit, type SuffixSource } from "./tables/disposable-table.js";
import { mix } from "./tables/mix.js";
import { hashOf } from "./tables/name-table.js";
import { everything, NameList, noOwnLists } from "./tables/own-lists.js";
import { suffixTable } from "./tables/suffix-table.js";
import { type Classification, type Kind, verdictOf } from "./verdict.js";

/** Never throws. Takes time linear in the length of an item. Its only state is a cache of domains. */
export interface Classifier {
  classify(kind: Kind, item: string): Classification;
  /** Its suggestion may be missing or only a domain. Faster than `classify` for broken and mistyped addresses. */
  judge(kind: Kind, item: string): Classification;
  domainFacts(ascii: string): DomainFacts;
  listsWith(domain: string): { readonly lists: readonly DataSource[]; readonly isOwn: boolean };
  judgeExchange(host: string): Classification | undefined;
  readonly judgesExchanges: boolean;
  readonly tables: DomainTables;
  readonly suffixes: SuffixSource | undefined;
}

/** Slots (see name-table.ts) with which the kernel judges most domains by itself; `ownLists` overrides the others. */
interface DomainTables {
  readonly suffixes: Int32Array;
  readonly disposables: Int32Array;
  readonly ownLists: readonly Int32Array[];
  readonly isAboutAll: boolean;
}

interface DomainFacts {
  readonly verdict: Classification | undefined;
  readonly mailbox: MailboxTests;
  readonly otherwise: Classification;
  /** Whether the user's own lists name mailboxes at the domain; then `verdict` may not hold for an address. */
  readonly hasListedMailboxes: boolean;
}

export type ClassifierTable = Pick<DisposableTable, "listsOf" | "names" | "sources" | "suffixes">;

export function createClassifier(disposable: ClassifierTable, ownLists = noOwnLists): Classifier {
  const allow = new NameList(ownLists.allow);
  const deny = new NameList(ownLists.deny);
  const hasLists = !allow.isEmpty || !deny.isEmpty;
  const isAboutAll = ownLists.allow.isAboutAll || ownLists.deny.isAboutAll;

  const rules: readonly DomainRule[] = [...domainRules, disposableDomainIn(disposable.names), disposableName];

  /** Own lists override all rules but the syntax checks, and the allow list overrides the deny list. */
  function findInOwnLists(ascii: string, local?: string): Classification | undefined {
    if (!hasLists || syntax.find(ascii) !== undefined) return undefined;
    const allowed = allow.find(ascii, local);
    const isAllowed = allowed !== undefined && allowed !== everything;
    const denied = isAllowed ? undefined : deny.find(ascii, local);
    // `*` is what no other entry is about.
    const isDenied = denied !== undefined && (allowed === undefined || denied !== everything);
    return isDenied || allowed === undefined ? deniedBy(denied) : verdictOf(allowList, { subject: allowed });
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

  /** A direct-mapped cache. `seen` has the hash of the last domain that missed it at each index. */
  let rememberedNames: string[] = [];
  let rememberedFacts: DomainFacts[] = [];
  const seen = new Int32Array(rememberedDomains);

  function domainFacts(ascii: string): DomainFacts {
    const verdict = applyDomainRules(ascii);
    const hasListedMailboxes = hasLists && (allow.hasMailboxesAt(ascii) || deny.hasMailboxesAt(ascii));
    const mailbox = verdict === undefined || hasListedMailboxes ? findMailboxTests(ascii) : ordinaryMailboxes;
    const similar = verdict === undefined ? findSimilar(ascii) : undefined;
    const otherwise = similar === undefined ? ok : verdictOf(similarDomain, { subject: ascii, suggestion: similar });
    const isOrdinary =
      verdict === undefined && mailbox === ordinaryMailboxes && otherwise === ok && !hasListedMailboxes;
    return isOrdinary ? ordinaryDomain : { verdict, mailbox, otherwise, hasListedMailboxes };
  }

  function recall(name: string): DomainFacts {
    let hash = 0;
    let capitals = 0;
    for (let i = 0; i < name.length; i++) {
      const charCode = name.charCodeAt(i);
      // `smallBit` makes capitals small; all other characters of host names have it. Only letters have `letterBit`.
      hash = Math.imul(hash ^ (charCode | smallBit), 0x01000193);
      capitals |= charCode & ~(charCode << 1) & letterBit;
    }
    const mixed = mix(hash);
    const slot = mixed & (rememberedDomains - 1);
    const ascii = capitals === 0 ? name : name.toLowerCase();
    if (rememberedNames[slot] === ascii) return rememberedFacts[slot]!;
    const facts = domainFacts(ascii);
    // Store a domain at its second miss: most domains of a list occur once, and storing them costs more than it saves.
    if (seen[slot] === mixed) {
      if (rememberedNames.length === 0) {
        rememberedNames = Array(rememberedDomains).fill("");
        rememberedFacts = Array(rememberedDomains).fill(ordinaryDomain);
      }
      rememberedNames[slot] = ascii;
      rememberedFacts[slot] = facts;
    }
    seen[slot] = mixed;
    return facts;
  }

  function classifyDomain(item: string, suggests: boolean): Classification {
    const name = parseDomainName(withoutRoot(item));
    if (name instanceof Fault) {
      const mended = suggests ? withoutStrayMarks(item) : undefined;
      const isGood = mended !== undefined && classifyDomain(mended, false).status === "ok";
      return isGood ? { ...syntaxFault(name), suggestion: mended } : syntaxFault(name);
    }
    const { verdict, otherwise } = recall(name.ascii);
    return verdict ?? otherwise;
  }

  function classifyEmail(item: string, suggests: boolean): Classification {
    const at = findPlainAt(item);
    if (at !== -1) return classifyAddress(item, item.slice(0, at), item.slice(at + 1), suggests);
    const address: Address | Fault = parseAddress(item);
    if (address instanceof Fault) {
      const verdict = syntaxFault(address);
      return suggests ? suggesting(verdict, withoutStrayMarks(item)) : verdict;
    }
    const { local, domain } = address;
    if (domain === undefined) return verdictOf(syntax, { subject: "an address literal instead of a domain" });
    return classifyAddress(item, local, domain.ascii, suggests);
  }

  function classifyAddress(item: string, local: string, domain: string, suggests: boolean): Classification {
    const { verdict: onDomain, mailbox, otherwise, hasListedMailboxes } = recall(domain);
    const onList = hasListedMailboxes ? applyDomainRules(domain.toLowerCase(), local) : onDomain;
    const verdict = onList ?? classifyMailbox(mailbox, local) ?? otherwise;
    if (verdict.suggestion === undefined || !suggests) return verdict;
    return suggesting(verdict, `${item.slice(0, item.lastIndexOf("@"))}@${verdict.suggestion}`);
  }

  function suggesting(verdict: Classification, suggestion: string | undefined): Classification {
    // Not with spread syntax, which takes longer than both verdicts together.
    const { status, reason } = verdict as Required<Classification>;
    const isGood = suggestion !== undefined && /^(?:ok|alias)$/.test(classifyEmail(suggestion, false).status);
    return isGood ? { status, reason, suggestion } : { status, reason };
  }

  return {
    classify: (kind, item) => (kind === "email" ? classifyEmail(item, true) : classifyDomain(item, true)),
    judge: (kind, item) => (kind === "email" ? classifyEmail(item, false) : classifyDomain(item, false)),
    domainFacts,
    listsWith(domain) {
      const bits = disposable.listsOf(hashOf(domain));
      const lists = disposable.sources.filter((_, i) => (bits & (1 << i)) !== 0);
      return { lists, isOwn: (bits & ownBit) !== 0 };
    },
    judgeExchange: (host) => deniedBy(deny.findExchange(host)),
    judgesExchanges: deny.hasExchanges,
    suffixes: disposable.suffixes,
    get tables() {
      const { slots } = disposable.names;
      const own = hasLists ? [ownLists.allow.domains, ownLists.deny.domains] : [];
      return { suffixes: suffixTable().slots, disposables: slots, ownLists: own, isAboutAll };
    },
  };
}

/** Entries of the cache of domains: a power of two. Each takes about 100 bytes. */
const rememberedDomains = 16_384;
const letterBit = 0x40;
const smallBit = 0x20;

/** The facts about most domains: they pass, and nothing is known of their mailboxes. One object saves memory. */
const ok: Classification = { status: "ok" };
const ordinaryDomain = { verdict: undefined, mailbox: ordinaryMailboxes, otherwise: ok, hasListedMailboxes: false };

const deniedBy = (entry: string | undefined): Classification | undefined =>
  entry === undefined ? undefined : verdictOf(denyList, { subject: entry });

const syntaxFault = ({ reason }: Fault): Classification => ({ status: syntax.status, reason });
