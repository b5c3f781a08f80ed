/** Assembles the stage: servers, table of domains and rules. */
import type { Classifier } from "../../core/classifier/classifier.js";
import { listedDomain } from "../../core/classifier/rules/domain/disposable-domain.js";
import { askControls } from "./controls.js";
import { DnsClient, type DnsClientOptions } from "./dns-client.js";
import { createMailCheck, type MailCheck } from "./mail-check.js";
import { createMailDomains, type FindingCache, type StateTable } from "./mail-domains.js";
import { createMailHosts } from "./mail-hosts.js";
import { mostInFlight } from "./vocabulary.js";

/** Sends nothing yet. Once the signal of `newCheck` is aborted, waiting queries are not sent. */
export function openMailStage(
  classifier: Classifier,
  { concurrency = mostInFlight, ...options }: Partial<DnsClientOptions>,
  newTable: () => StateTable,
  { cache, wantsExchanges = true }: { cache?: FindingCache | undefined; wantsExchanges?: boolean } = {},
) {
  const table = { cache, wantsExchanges: wantsExchanges || classifier.judgesExchanges };
  const client = new DnsClient({ ...options, concurrency });
  const findDisposable = (host: string) => {
    // Leave out names of the user's deny list: they would be stored in the cache.
    return listedDomain(classifier.domainFacts(host).verdict?.reason);
  };
  return {
    newCheck(signal?: AbortSignal): MailCheck {
      const asking: Pick<DnsClient, "ask"> = { ask: (query) => client.ask(query, signal) };
      const hosts = createMailHosts(asking, client.isInside);
      const domains = createMailDomains(asking, findDisposable, hosts, newTable(), table);
      return createMailCheck(domains, classifier);
    },
    askControls: () => askControls(client),
    cancel: () => client.cancel(),
  };
}
