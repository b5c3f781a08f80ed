/** Findings of DNS about domains as destinations of mail, and the rules that decide them. Does no I/O. */
import type { MxRecord } from "node:dns";
import { isIP } from "node:net";
import { disposableExchanges } from "../classifier/disposable-exchanges.js";
import { findSuffixIn } from "../classifier/suffix-walk.js";
import type { Classification } from "../classifier/verdict.js";
import type { UndecidedCause } from "./vocabulary.js";

export type Finding =
  /** `exchange` is the MX host to try first; absent without MX records, or if it is not a valid host name. */
  | { readonly kind: "mail"; readonly exchange?: string }
  | { readonly kind: "no-such-domain" | "null-mx" | "no-mail-server" }
  /** Mail goes to a service for disposable addresses; `suffix` is the listed name of the exchange. */
  | { readonly kind: "disposable-mx"; readonly suffix: string }
  | { readonly kind: "undecided"; readonly cause: UndecidedCause };

export function verdictOf(domain: string, finding: Finding): Classification | undefined {
  switch (finding.kind) {
    case "mail":
    case "undecided":
      return undefined;
    case "disposable-mx":
      return { status: "disposable", reason: `disposable-mx: ${finding.suffix}` };
    default:
      return { status: "fake", reason: `${finding.kind}: ${domain}` };
  }
}

/**
 * Decides from the MX records of a domain. A single empty exchange means that the domain receives no mail (RFC 7505).
 * An exchange must be a host name (RFC 5321 5.1); records with an address, `localhost` or a name under `.invalid` mark
 * domains without mail.
 *
 * @param records at least one
 * @param findDisposable returns the listed disposable domain that is a suffix of a host
 */
export function judgeExchanges(
  records: readonly MxRecord[],
  findDisposable: (host: string) => string | undefined,
): Finding {
  const hosts = records
    .toSorted((a, b) => a.priority - b.priority)
    .map(({ exchange }) => exchange.toLowerCase().replace(/\.$/, ""));
  if (hosts.length === 1 && hosts[0] === "") return { kind: "null-mx" };
  const somewhere = hosts.filter((host) => !isNowhere(host));
  if (somewhere.length === 0) return { kind: "no-mail-server" };
  for (const host of somewhere) {
    const suffix = findListed(host) ?? findDisposable(host);
    if (suffix !== undefined) return { kind: "disposable-mx", suffix };
  }
  const best = somewhere[0]!;
  // A name from DNS may contain any bytes; pass on only host names.
  return { kind: "mail", ...(isHostName(best) && { exchange: best }) };
}

const isNowhere = (host: string): boolean =>
  host === "" || isIP(host) !== 0 || /(?:^|\.)(?:localhost|invalid)$/.test(host);

const isHostName = (name: string): boolean =>
  name.length <= 253 && /^[a-z0-9_][a-z0-9_-]*(?:\.[a-z0-9_][a-z0-9_-]*)*$/.test(name);

function findListed(host: string): string | undefined {
  return findSuffixIn(host, (suffix) => disposableExchanges.has(suffix));
}
