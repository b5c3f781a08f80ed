/** The stage after the rules: asks DNS about domains that passed, except known providers, two thirds of addresses. */
import { partsOf } from "../../core/classifier/canonical.js";
import type { Classifier } from "../../core/classifier/classifier.js";
import { isKnownProvider } from "../../core/classifier/known-providers.js";
import { mayReceiveMail } from "../../core/classifier/rules/domain/unknown-tld.js";
import type { Classification, ClassifierStatus, Kind, Reason } from "../../core/classifier/verdict.js";
import { verdictOf } from "./finding.js";
import type { MailDomains } from "./mail-domains.js";

export interface MailVerdict<Status extends string> {
  readonly status: Status | ClassifierStatus;
  readonly reason?: Reason;
  readonly mx?: string;
}

/** Items that the user's own lists allow are not looked up. */
export function createMailCheck(domains: MailDomains, classifier: Classifier) {
  async function ask(kind: Kind, items: Iterable<string>): Promise<void> {
    await domains.ask(Array.from(items, (item) => domainOf(kind, item)).filter((domain) => domain !== undefined));
  }

  /** `status` may be `fake` for an unknown ending, which DNS may know. */
  function verdictOn<Status extends string>(kind: Kind, item: string, status: Status): MailVerdict<Status> {
    const domain = domainOf(kind, item);
    const finding = domain === undefined ? undefined : domains.find(domain);
    if (domain === undefined || finding === undefined) return { status };
    if (status === "fake" && finding.kind !== "mail") return { status };
    if (finding.kind === "undecided") return { status, reason: `undecided: ${finding.cause}` };
    const mx = finding.kind === "mail" ? finding.exchange : undefined;
    const passed = status === "fake" ? ("ok" as const) : status;
    const denied = mx === undefined ? undefined : classifier.judgeExchange(mx);
    return denied ?? verdictOf(domain, finding) ?? { status: passed, ...(mx !== undefined && { mx }) };
  }

  function refine<Found extends Parameters<typeof mayReceiveMail>[0]>(
    kind: Kind,
    item: string,
    verdict: Found,
  ): Found | MailVerdict<Found["status"]> {
    if (!mayReceiveMail(verdict)) return verdict;
    const byDns = verdictOn<Found["status"]>(kind, item, verdict.status);
    return byDns.status === verdict.status ? { ...verdict, ...byDns } : byDns;
  }

  /** Returns the domain in lower case, as A-labels; undefined if DNS need not be asked. */
  function domainOf(kind: Kind, item: string): string | undefined {
    const domain = partsOf(kind, item)?.domain;
    if (domain === undefined || isKnownProvider(domain)) return undefined;
    const { status, reason = "", suggestion } = classifier.classify(kind, item);
    // An ending with a suggestion is a typing error, whatever a server answers.
    const isTypo = status === "fake" && suggestion !== undefined;
    return isTypo || reason.startsWith("allow-list") ? undefined : domain;
  }

  return {
    ask,
    verdictOn,
    refine,
    async check(kind: Kind, item: string, verdict: Classification): Promise<Classification & { mx?: string }> {
      if (mayReceiveMail(verdict)) await ask(kind, [item]);
      return refine(kind, item, verdict);
    },
    get statistics() {
      return domains.statistics;
    },
  };
}

export type MailCheck = ReturnType<typeof createMailCheck>;
