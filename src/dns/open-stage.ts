/** Puts the stage together: servers, table of domains and rules. */
import type { Classifier } from "../classifier/classifier.js";
import { askControls } from "./controls.js";
import { DnsClient, type DnsClientOptions } from "./dns-client.js";
import { MailCheck } from "./mail-check.js";
import { type FindingCache, MailDomains, type StateTable } from "./mail-domains.js";
import { mostInFlight } from "./vocabulary.js";

/** Optional parts of the stage. */
interface StageParts {
  readonly cache?: FindingCache | undefined;
  /** Whether the exchanges of domains are remembered; true by default. */
  readonly wantsExchanges?: boolean;
}

/**
 * Opens the stage. Nothing is sent yet.
 *
 * @param classifier knows the disposable domains, and the user's own lists if there are any
 * @param newTable makes an empty table of domains
 * @returns `newCheck`, which starts a check with a table of its own, whose waiting queries are not sent once its
 *   signal is aborted; `askControls`, which tests the servers; `cancel`, which ends all queries
 */
export function openMailStage(
  classifier: Classifier,
  { concurrency = mostInFlight, ...options }: Partial<DnsClientOptions>,
  newTable: () => StateTable,
  { cache, wantsExchanges = true }: StageParts = {},
) {
  const client = new DnsClient({ ...options, concurrency });
  const findDisposable = (host: string) => {
    // Not names of the user's deny list, which would get into the cache.
    const { reason = "" } = classifier.domainFacts(host).verdict ?? {};
    return /^disposable-domain: (.*)/.exec(reason)?.[1];
  };
  return {
    newCheck(signal?: AbortSignal): MailCheck {
      const asking: Pick<DnsClient, "ask"> = { ask: (query) => client.ask(query, signal) };
      const domains = new MailDomains(asking, findDisposable, newTable(), { cache, wantsExchanges });
      return new MailCheck(domains, classifier);
    },
    askControls: () => askControls(client),
    cancel: () => client.cancel(),
  };
}
