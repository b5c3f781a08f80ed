/** The stage that asks DNS, ready for a run: its servers, its cache and its end. */
import type { Classifier } from "../../classifier/classifier.js";
import { DnsClient } from "../../dns/dns-client.js";
import { MailCheck } from "../../dns/mail-check.js";
import { type FindingCache, MailDomains } from "../../dns/mail-domains.js";
import { DistinctItems } from "../../run/distinct-items.js";
import { VerdictCache } from "../../store/verdict-cache.js";
import { readCacheSecret } from "../config/cache-secret.js";
import { cachePath } from "../config/paths.js";
import type { Settings } from "../config/settings.js";

/** Options of the stage that are not settings. */
interface MailCheckOptions {
  /** Whether findings are kept for later runs, and taken from earlier ones. */
  readonly cache: boolean;
  /** Whether earlier findings are ignored. New ones are still kept. */
  readonly refresh: boolean;
  /** Whether the exchanges of the domains are wanted. */
  readonly wantsExchanges: boolean;
}

/** The open stage. */
export interface OpenMailCheck {
  readonly check: MailCheck;
  /** Closes the cache. */
  close(): Promise<void>;
}

/**
 * Opens the stage. Nothing is sent yet.
 *
 * @param classifier knows the disposable domains, and the user's own lists if there are any
 * @param signal ends all queries
 * @throws FileError, StoreError when the cache or its secret cannot be used
 */
export async function openMailCheck(
  { dnsServer, dnsConcurrency, dnsRate }: Settings,
  classifier: Classifier,
  { cache: hasCache, refresh, wantsExchanges }: MailCheckOptions,
  signal?: AbortSignal,
): Promise<OpenMailCheck> {
  const client = new DnsClient({
    ...(dnsServer.value && { servers: dnsServer.value }),
    ...(dnsRate.value && { rate: dnsRate.value }),
    concurrency: dnsConcurrency.value,
  });
  signal?.addEventListener("abort", () => client.cancel(), { once: true });
  const file = hasCache
    ? await VerdictCache.open(cachePath(process.env), Date.now, signal ? { signal } : {})
    : undefined;
  const findings = file?.findings(await readCacheSecret(process.env), dnsServer.value ?? []);
  const cache = findings && {
    load: async (domains: readonly string[]) => (refresh ? [] : findings.load(domains)),
    store: findings.store.bind(findings),
  };
  const findDisposable = (host: string) => {
    const { verdict } = classifier.domainFacts(host);
    return verdict?.status === "disposable" ? verdict.reason?.split(": ")[1] : undefined;
  };
  const domains = new MailDomains(client, findDisposable, new DistinctItems(), {
    cache: cache as FindingCache | undefined,
    wantsExchanges,
  });
  return { check: new MailCheck(domains, classifier), close: async () => file?.close() };
}
