/** Opens the DNS stage for a command, with its settings and the cache of findings. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Classifier } from "../../core/classifier/classifier.js";
import type { Kind } from "../../core/classifier/verdict.js";
import { DistinctItems, PlainTable } from "../../core/run/distinct-items.js";
import { ServiceError } from "../../core/validator/errors.js";
import type { Verdict } from "../../core/validator/validator.js";
import type { FindingCache, StateTable } from "../../engines/dns/mail-domains.js";
import { openMailStage } from "../../engines/dns/open-stage.js";
import { VerdictCache } from "../../state/cache/verdict-cache.js";
import { readCacheSecret } from "../config/cache-secret.js";
import { cachePath } from "../config/paths.js";
import type { Settings } from "../config/settings.js";
import { say } from "../terminal/terminal.js";
import { cacheGuard } from "./cache-guard.js";
import { once } from "./engine.js";

interface MailCheckOptions {
  /** With `refresh`, findings are stored for later runs, but not read. */
  readonly cache: "use" | "refresh" | "off";
  readonly wantsExchanges: boolean;
  readonly note: (text: string) => void;
}

/** Time limit on DNS for one request to the service; clients wait 30 s. */
const requestMilliseconds = 10_000;

/** For `idv serve`: new domains for each request, so that memory does not grow. @throws as {@link openMailCheck} */
export async function openServiceMailCheck(settings: Settings, classifier: Classifier) {
  const stop = new AbortController();
  const options = { cache: "use", wantsExchanges: true, note: say } as const;
  const stage = await openDomains(
    settings,
    classifier,
    options,
    stop.signal,
    () => new DistinctItems(new PlainTable()),
  );
  await stage.checkServers();
  return {
    start: () => {
      const late = new AbortController();
      const check = stage.newCheck(late.signal);
      return {
        ask: async (kind: Kind, items: readonly string[]) => {
          const end = new AbortController();
          const isLate = sleep(requestMilliseconds, true, { signal: end.signal }).catch(() => false);
          // Drop the waiting domains: otherwise the queue would grow without limit.
          if (await Promise.race([check.ask(kind, items).then(() => false), isLate])) late.abort();
          end.abort();
        },
        refine: (kind: Kind, item: string, verdict: Verdict) => check.refine(kind, item, verdict),
      };
    },
    close: async () => {
      stop.abort();
      await stage.close();
    },
  };
}

export type OpenMailCheck = Awaited<ReturnType<typeof openMailCheck>>;

/** Sends only the control questions. `signal` ends all queries. @throws FileError, StoreError, ServiceError */
export async function openMailCheck(...stage: Parameters<typeof openDomains>) {
  const { newCheck, checkServers, close } = await openDomains(...stage);
  await checkServers();
  return { check: newCheck(), close };
}

/** Each check has its own table of domains; all checks share the cache. */
async function openDomains(
  { dnsServer, dnsConcurrency, dnsRate }: Settings,
  classifier: Classifier,
  { cache: use, wantsExchanges, note }: MailCheckOptions,
  signal?: AbortSignal,
  newTable: () => StateTable = () => new DistinctItems(),
) {
  const guarded = cacheGuard(note);
  const file =
    use === "off"
      ? undefined
      : await guarded(undefined, () => VerdictCache.open(cachePath(process.env), Date.now, signal ? { signal } : {}));
  const findings = file?.findings(await readCacheSecret(process.env), dnsServer.value ?? []);
  const cache = findings && {
    load: async (domains: readonly string[]) => (use === "refresh" ? [] : guarded([], () => findings.load(domains))),
    store: (found: Parameters<typeof findings.store>[0]) => guarded(undefined, () => findings.store(found)),
  };
  const client = {
    ...(dnsServer.value && { servers: dnsServer.value }),
    ...(dnsRate.value && { rate: dnsRate.value }),
    concurrency: dnsConcurrency.value,
  };
  const parts = { cache: cache as FindingCache | undefined, wantsExchanges };
  const { newCheck, askControls, cancel } = openMailStage(classifier, client, newTable, parts);
  signal?.addEventListener("abort", cancel, { once: true });
  const close = once(async () => file?.close());
  const checkServers = async () => {
    const result = await askControls();
    if (result.kind !== "wrong") return;
    await close();
    const server = `the DNS server ${dnsServer.value?.join(", ") ?? "of this system"}`;
    const advice = "name another with --set dnsServer=IP, or use --dns=off";
    throw new ServiceError(`${server} ${result.text}: its answers would give wrong statuses; ${advice}`);
  };
  return { newCheck, checkServers, close };
}
