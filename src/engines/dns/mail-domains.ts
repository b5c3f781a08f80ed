/** Finds out which domains can receive mail: from the run's table, with 11 to 17 bytes for each, the cache, or DNS. */
import { registrableIn } from "../../core/classifier/rules/domain/public-suffix.js";
import { hashItem } from "../../core/classifier/tables/item-hash.js";
import type { DistinctItems } from "../../core/run/distinct-items.js";
import type { DnsClient, Failure } from "./dns-client.js";
import { type Finding, judgeExchanges, mailTo, sendsNoMail } from "./finding.js";
import { createMailHosts, type MailHosts, type Unreached } from "./mail-hosts.js";
import { mostInFlight, type UndecidedCause, undecidedCauses } from "./vocabulary.js";

/** Stores keyed hashes of domains, encrypted exchanges and the listed suffixes of disposable hosts; no other names. */
export interface FindingCache {
  load(domains: readonly string[]): Promise<readonly (Finding | undefined)[]>;
  store(findings: ReadonlyMap<string, Finding>): Promise<void>;
}

/** One byte for each hash; 0 for unknown hashes. */
export type StateTable = Pick<DistinctItems, "seed" | "get" | "set">;

export interface MailStatistics {
  readonly asked: number;
  readonly cached: number;
  readonly undecided: number;
  readonly causes: Readonly<Partial<Record<UndecidedCause, number>>>;
}

const plainKinds = ["mail", "no-such-domain", "null-mx", "no-mail-server", "sends-no-mail"] as const;
const disposableState = plainKinds.length + 1;

/** `findDisposable` returns the listed disposable domain that is a suffix of a host; `states` is empty. */
export function createMailDomains(
  client: Pick<DnsClient, "ask">,
  findDisposable: (host: string) => string | undefined,
  hosts: MailHosts,
  states: StateTable,
  { cache, wantsExchanges = false }: { cache?: FindingCache | undefined; wantsExchanges?: boolean } = {},
) {
  const names = new Map<string, string>();
  const pending = new Map<string, Promise<void>>();
  let asked = 0;
  let cached = 0;
  const causes: Partial<Record<UndecidedCause, number>> = {};

  function askOpen(open: readonly string[]): Promise<void> {
    const asking = (async () => {
      const known = (await cache?.load(open)) ?? [];
      const found = new Map<string, Finding>();
      const again: { readonly domain: string; readonly first: Finding }[] = [];
      await inTurn(mostInFlight, open, async (domain, i) => {
        const old = known[i];
        if (old !== undefined) {
          cached++;
          remember(domain, old);
          return;
        }
        const finding = await findMail(domain, client, findDisposable, hosts);
        if (finding.kind === "undecided" && finding.mayPass) again.push({ domain, first: finding });
        else take(domain, finding, found);
      });
      // Slowly: these were lost because of too many queries, or because no server answered for a while.
      await inTurn(mostAgain, again, async ({ domain, first }) => {
        const finding = await findMail(domain, client, findDisposable, hosts);
        const isAsked = finding.kind !== "undecided" || finding.cause !== "not asked";
        take(domain, isAsked ? finding : first, found);
      });
      if (found.size > 0) await cache?.store(found);
    })().finally(() => {
      for (const domain of open) pending.delete(domain);
    });
    for (const domain of open) pending.set(domain, asking);
    return asking;
  }

  function take(domain: string, finding: Finding, found: Map<string, Finding>): void {
    asked++;
    if (finding.kind === "undecided") {
      causes[finding.cause] = (causes[finding.cause] ?? 0) + 1;
    } else found.set(domain, finding);
    remember(domain, finding);
  }

  function remember(domain: string, finding: Finding): void {
    const hash = hashItem(states.seed, domain);
    if (finding.kind === "undecided") {
      states.set(hash, disposableState + 1 + undecidedCauses.indexOf(finding.cause));
    } else if (finding.kind === "disposable-mx") {
      names.set(domain, finding.suffix);
      states.set(hash, disposableState);
    } else {
      if (finding.kind === "mail" && finding.exchange !== undefined && wantsExchanges) {
        names.set(domain, finding.exchange);
      }
      states.set(hash, 1 + plainKinds.indexOf(finding.kind));
    }
  }

  function stateOf(domain: string): number {
    return states.get(hashItem(states.seed, domain));
  }

  return {
    /** Takes host names in lower case, as A-labels. {@link find} returns the findings. */
    async ask(domains: Iterable<string>): Promise<void> {
      const waits: Promise<void>[] = [];
      const open: string[] = [];
      for (const domain of new Set(domains)) {
        const wait = pending.get(domain);
        if (wait) waits.push(wait);
        else if (stateOf(domain) === 0) open.push(domain);
      }
      if (open.length > 0) waits.push(askOpen(open));
      await Promise.all(waits);
    },
    find(domain: string): Finding | undefined {
      const state = stateOf(domain);
      if (state === 0) return undefined;
      if (state === disposableState) return { kind: "disposable-mx", suffix: names.get(domain)! };
      if (state > disposableState) return { kind: "undecided", cause: undecidedCauses[state - disposableState - 1]! };
      const kind = plainKinds[state - 1]!;
      const exchange = kind === "mail" ? names.get(domain) : undefined;
      return exchange === undefined ? { kind } : { kind: "mail", exchange };
    },
    get statistics(): MailStatistics {
      const undecided = Object.values(causes).reduce((sum, count) => sum + count, 0);
      return { asked, cached, undecided, causes: { ...causes } };
    },
  };
}

export type MailDomains = ReturnType<typeof createMailDomains>;

const mostAgain = 4;

/** Makes no promise for each domain: thousands would cost memory and time. */
async function inTurn<Item>(most: number, items: readonly Item[], work: (item: Item, index: number) => Promise<void>) {
  let next = 0;
  const each = async () => {
    while (next < items.length) {
      const index = next++;
      await work(items[index]!, index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, each));
}

/** Without MX records, mail goes to the domain's address (RFC 5321 5.1). Without `hosts`, believes the MX records. */
export async function findMail(
  domain: string,
  client: Pick<DnsClient, "ask">,
  findDisposable: (host: string) => string | undefined = () => undefined,
  hosts?: MailHosts,
): Promise<Finding> {
  const exchanges = await client.ask((resolver) => resolver.resolveMx(domain));
  if ("failure" in exchanges) return undecidedBy(exchanges);
  if ("isMissing" in exchanges) return { kind: "no-such-domain" };
  if (exchanges.records.length > 0) {
    const found = judgeExchanges(exchanges.records, findDisposable);
    if ("kind" in found) return found;
    const usable = (await hosts?.find(found)) ?? { host: found[0]! };
    return isState(usable) ? findingOf(usable) : mailTo(usable.host);
  }
  const own = await (hosts ?? createMailHosts(client, false)).addressesOf(domain);
  if (own === "unusable" && (await isLame(domain, client))) return { kind: "undecided", cause: "lame delegation" };
  if (own !== "usable") return findingOf(own);
  const texts = await client.ask((resolver) => resolver.resolveTxt(domain));
  if ("failure" in texts) return undecidedBy(texts);
  return "records" in texts && sendsNoMail(texts.records) ? { kind: "sends-no-mail" } : { kind: "mail" };
}

/** Whether the servers of a domain only refer to others (RFC 9499): it may have records all the same. */
async function isLame(domain: string, client: Pick<DnsClient, "ask">): Promise<boolean> {
  const answer = await client.ask(async (resolver) => [await resolver.resolveSoa(registrableIn(domain))]);
  return "records" in answer && answer.records.length === 0;
}

const isState = (found: Awaited<ReturnType<MailHosts["find"]>>): found is Unreached =>
  found === "unusable" || "failure" in found;

const findingOf = (state: Unreached): Finding =>
  state === "unusable" ? { kind: "no-mail-server" } : undecidedBy(state);

const undecidedBy = ({ failure: cause, mayPass = false }: Failure): Finding => ({ kind: "undecided", cause, mayPass });
