/**
 * idv as a library: classifies e-mail addresses and domains offline and, if asked to, asks DNS about their domains. Knows
 * nothing of settings, quotas and files other than the table of disposable domains.
 *
 * @packageDocumentation
 */
import { canonicalItem } from "./classifier/canonical.js";
import { type Classifier, loadClassifier } from "./classifier/classifier.js";
import { compileList, parseListLine } from "./classifier/own-lists.js";
import { Fault } from "./classifier/syntax/fault.js";
import type { Classification, Kind } from "./classifier/verdict.js";
import type { MailCheck } from "./dns/mail-check.js";
import { isServerAddress, mostInFlight } from "./dns/vocabulary.js";

export type { Classification, ClassifierStatus, Kind, Reason, ReasonCode } from "./classifier/verdict.js";

/** Options of {@link createClassifier}. */
export interface ClassifierOptions {
  /** Domains and addresses that are `ok` if their syntax is; a domain includes those below it. */
  readonly allow?: readonly string[];
  /** Domains and addresses that are `disposable`. */
  readonly deny?: readonly string[];
  /** Path of a table of disposable domains, as `idv data update` installs it; by default the one that comes with idv. */
  readonly table?: string;
  /** Whether and how `check` and `checkAll` ask DNS; by default they do not. */
  readonly dns?: boolean | DnsOptions;
}

/** How DNS is asked. */
export interface DnsOptions {
  /** IP addresses of the servers, with a port if it is not 53; by default the system's. */
  readonly servers?: readonly string[];
  /** Most queries in flight, 1 to 64; 64 by default. */
  readonly concurrency?: number;
}

/** A verdict after the DNS lookup. */
export interface CheckedItem extends Classification {
  /** The host that receives the domain's mail, if DNS was asked and knows. */
  readonly mx?: string;
}

/** A classifier with lists of the caller's own. */
export interface ItemClassifier {
  /** Returns the verdict of the rules on an item. Synchronous; does no I/O; never throws, whatever the string. */
  classify(kind: Kind, item: string): Classification;
  /**
   * Returns the verdict on an item after DNS, if `dns` is set. Never rejects: without an answer, the rules decide, and so they
   * do if the servers give a wrong one about gmail.com or a name that cannot exist.
   */
  check(kind: Kind, item: string): Promise<CheckedItem>;
  /**
   * Yields the verdicts on many items, in their order, each with its item. Reads up to 256 items ahead, whose domains are
   * asked about at the same time.
   */
  checkAll(
    kind: Kind,
    items: Iterable<string> | AsyncIterable<string>,
  ): AsyncGenerator<CheckedItem & { readonly item: string }>;
}

/** Items that `checkAll` reads ahead. */
const itemsAhead = 256;
/** Time for which `check` remembers what DNS said, in milliseconds. */
const sharedMilliseconds = 60_000;

/**
 * Creates a classifier.
 *
 * @throws TypeError when an entry of `allow` or `deny` is neither a domain nor an address, a server is no IP address, or
 *   the concurrency is not a whole number from 1 to 64
 * @throws Error when the table cannot be read or is not a table of disposable domains
 */
export function createClassifier(options: ClassifierOptions = {}): ItemClassifier {
  const { allow = [], deny = [], table, dns = false } = options;
  for (const entry of [...allow, ...deny]) {
    const parsed = parseListLine(entry);
    if (parsed instanceof Fault) throw new TypeError(`neither a domain nor an address: ${parsed.what}`);
  }
  const classifier = loadClassifier({
    ...(table !== undefined && { table }),
    ownLists: { allow: compileList(allow), deny: compileList(deny) },
  });
  const stage = dns === false ? undefined : openStage(classifier, dns === true ? {} : checked(dns));

  let current: { readonly mail: Promise<MailCheck | undefined>; readonly until: number } | undefined;
  /** Returns a check that is shared for a while, so that calls at the same time ask about a domain once. */
  const shareCheck = (opening: MailStage) => {
    const now = performance.now();
    if (current === undefined || now > current.until) {
      const mail = startCheck(opening);
      current = { mail, until: now + sharedMilliseconds };
    }
    return current.mail;
  };

  async function check(kind: Kind, item: string, mail = stage && shareCheck(stage)) {
    const verdict = classifier.classify(kind, item);
    return (await mail)?.check(kind, item, verdict) ?? verdict;
  }

  async function* checkAll(kind: Kind, items: Iterable<string> | AsyncIterable<string>) {
    // Together, so that each domain is asked about once.
    const mail = stage && startCheck(stage);
    const checking: Promise<CheckedItem & { readonly item: string }>[] = [];
    for await (const item of items) {
      checking.push(check(kind, item, mail).then((verdict) => ({ ...verdict, item })));
      if (checking.length >= itemsAhead) yield await checking.shift()!;
    }
    while (checking.length > 0) yield await checking.shift()!;
  }

  return { classify: classifier.classify, check: (kind, item) => check(kind, item), checkAll };
}

type MailStage = ReturnType<typeof openStage>;

/** @throws TypeError */
function checked(options: DnsOptions): DnsOptions {
  const { servers = [], concurrency = mostInFlight } = options;
  if (options.servers?.length === 0) throw new TypeError("no DNS servers");
  for (const server of servers) if (!isServerAddress(server)) throw new TypeError(`${server}: no IP address`);
  if (Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= mostInFlight) return options;
  throw new TypeError(`concurrency is not a whole number from 1 to ${mostInFlight}`);
}

/** Returns a new check; undefined if the servers give wrong answers, which would make real addresses fake. */
async function startCheck(opening: MailStage): Promise<MailCheck | undefined> {
  const { askControls, newCheck } = await opening;
  return (await askControls()).kind === "wrong" ? undefined : newCheck();
}

/** Opens the stage that asks DNS. Loaded only where it is wanted. */
async function openStage(classifier: Classifier, options: DnsOptions) {
  const [{ openMailStage }, { DistinctItems }] = await Promise.all([
    import("./dns/open-stage.js"),
    import("./run/distinct-items.js"),
  ]);
  return openMailStage(classifier, options, () => new DistinctItems());
}

/**
 * Returns the form that all spellings of an item have in common: `Ann.Lee+news@googlemail.com` and `annlee@gmail.com` reach
 * one mailbox. Undefined if the item is not valid.
 */
export function canonical(kind: Kind, item: string): string | undefined {
  return canonicalItem(kind, item);
}

let shared: Classifier | undefined;

/**
 * Classifies an e-mail address offline. Synchronous. The first call loads the table of disposable domains, which takes
 * a few milliseconds. Never throws, whatever the string.
 *
 * @param address an address as in an envelope: without a name, angle brackets or surrounding white space
 */
export function classifyEmail(address: string): Classification {
  shared ??= loadClassifier();
  return shared.classify("email", address);
}

/**
 * Classifies a domain offline, like {@link classifyEmail}. Never returns the status `alias`.
 *
 * @param domain a host name, with or without the root's trailing dot
 */
export function classifyDomain(domain: string): Classification {
  shared ??= loadClassifier();
  return shared.classify("domain", domain);
}
