/**
 * idv as a library: classifies e-mail addresses and domains offline, checks their domains in DNS, and asks a service, each on
 * request. Knows nothing of settings and of the user's own quota, and reads no files but its tables.
 * @packageDocumentation
 */
import type { Classifier } from "./core/classifier/classifier.js";
import { loadClassifier } from "./core/classifier/tables/load-classifier.js";
import type { Classification, Kind } from "./core/classifier/verdict.js";
import { type Why, whyOf } from "./core/classifier/why.js";
import { classifyIn, compileLists, refuseKind, refuseOthers } from "./core/classify-in.js";
import type { EmailForm, ListedItems } from "./core/library.js";
import type { MailCheck } from "./engines/dns/mail-check.js";
import { isServerAddress, mostInFlight } from "./engines/dns/vocabulary.js";

export {
  AuthorisationError,
  type Client,
  type ClientOptions,
  createClient,
  ServiceError,
  type ValidatedItem,
} from "./client.js";
export * from "./core/library.js";

export interface ClassifierOptions extends ListedItems {
  /** Path of a table of disposable domains, such as `idv data update` installs; by default the one that comes with idv. */
  readonly table?: string;
  /** Whether and how `check` and `checkAll` query DNS; false by default. */
  readonly dns?: boolean | DnsOptions;
}

export interface DnsOptions {
  /** IP addresses of the DNS servers, with a port if it is not 53; by default the servers of the system. */
  readonly servers?: readonly string[];
  /** Most queries in flight, 1 to 64; 64 by default. */
  readonly concurrency?: number;
}

export interface CheckedItem extends Classification {
  /** Host that receives the mail of the domain, if a DNS query found it. */
  readonly mx?: string;
}

export interface ItemClassifier {
  /** Returns the verdict of the rules, without DNS. Synchronous; never throws, whatever the string. */
  classify(kind: Kind, item: string): Classification;
  /** Returns where a verdict comes from: the rule and its source, the lists that have the domain, and who takes corrections. */
  why(verdict: Classification): Why;
  /**
   * Returns the verdict of the rules and, if `dns` is set, of DNS. Never rejects: the rules decide alone if the servers do not
   * answer, or if they answer control questions wrongly, as behind a captive portal.
   */
  check(kind: Kind, item: string): Promise<CheckedItem>;
  /** Yields the verdicts in order, each with its item. Queries the domains of up to 256 items ahead at the same time. */
  checkAll(
    kind: Kind,
    items: Iterable<string> | AsyncIterable<string>,
  ): AsyncGenerator<CheckedItem & { readonly item: string }>;
}

const itemsAhead = 256;
/** Time for which calls of `check` share DNS answers. */
const sharedMilliseconds = 60_000;

/**
 * Creates a classifier.
 * @throws TypeError when there is no such option, an entry of `allow` or `deny` is neither a domain nor an address, `servers` is empty or has an
 * entry that is not an IP address, or `concurrency` is not a whole number from 1 to 64
 * @throws Error when the table cannot be read or is not a table of disposable domains
 */
export function createClassifier(options: ClassifierOptions = {}): ItemClassifier {
  refuseOthers(options, "allow", "deny", "table", "dns");
  const { table, dns = false, ...lists } = options;
  const classifier = loadClassifier({ ...(table !== undefined && { table }), ownLists: compileLists(lists) });
  const stage = dns === false ? undefined : openStage(classifier, dns === true ? {} : checked(dns));

  let current: { readonly mail: Promise<MailCheck | undefined>; readonly until: number } | undefined;
  const shareCheck = (opening: MailStage) => {
    const now = performance.now();
    if (current === undefined || now > current.until) {
      const mail = startCheck(opening);
      current = { mail, until: now + sharedMilliseconds };
    }
    return current.mail;
  };

  const classify = (kind: Kind, item: string) => {
    refuseKind(kind);
    return classifier.classify(kind, item);
  };

  async function check(kind: Kind, item: string, mail = stage && shareCheck(stage)) {
    const verdict = classify(kind, item);
    return (await mail)?.check(kind, item, verdict) ?? verdict;
  }

  async function* checkAll(kind: Kind, items: Iterable<string> | AsyncIterable<string>) {
    // Share one check, so that each domain is queried once.
    const mail = stage && startCheck(stage);
    const checking: Promise<CheckedItem & { readonly item: string }>[] = [];
    for await (const item of items) {
      checking.push(check(kind, item, mail).then((verdict) => ({ ...verdict, item })));
      if (checking.length >= itemsAhead) yield await checking.shift()!;
    }
    while (checking.length > 0) yield await checking.shift()!;
  }

  const why = (verdict: Classification) => whyOf(classifier, verdict);
  return { classify, why, check: (kind, item) => check(kind, item), checkAll };
}

type MailStage = ReturnType<typeof openStage>;

function checked(options: DnsOptions): DnsOptions {
  const { servers = [], concurrency = mostInFlight } = options;
  if (options.servers?.length === 0) throw new TypeError("servers is empty");
  for (const server of servers) if (!isServerAddress(server)) throw new TypeError(`${server}: not an IP address`);
  if (Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= mostInFlight) return options;
  throw new TypeError(`concurrency is not a whole number from 1 to ${mostInFlight}`);
}

/** Returns undefined if the servers give wrong answers, which would turn real addresses into fake ones. */
async function startCheck(opening: MailStage): Promise<MailCheck | undefined> {
  const { askControls, newCheck } = await opening;
  return (await askControls()).kind === "wrong" ? undefined : newCheck();
}

async function openStage(classifier: Classifier, options: DnsOptions) {
  const [{ openMailStage }, { DistinctItems }] = await Promise.all([
    import("./engines/dns/open-stage.js"),
    import("./core/run/distinct-items.js"),
  ]);
  return openMailStage(classifier, options, () => new DistinctItems());
}

let shared: Classifier | undefined;

/**
 * Classifies an address offline. Synchronous. The first call loads the tables in a few milliseconds.
 * @throws TypeError when `address` is no string, or there is no such form
 */
export function classifyEmail(address: string, form?: EmailForm): Classification {
  shared ??= loadClassifier();
  return classifyIn(shared, address, form);
}

/** Classifies a domain offline, with or without the root's dot, like {@link classifyEmail}; never as `alias`. */
export function classifyDomain(domain: string): Classification {
  shared ??= loadClassifier();
  return shared.classify("domain", domain);
}
