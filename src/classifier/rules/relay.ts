import { relays } from "../providers.js";
import { findSuffixIn } from "../suffix-walk.js";

const relayOf: ReadonlyMap<string, string> = new Map(
  Object.entries(relays).flatMap(([relay, domains]) => domains.map((domain) => [domain, relay] as const)),
);

/**
 * The forwarding relay that a domain belongs to, by suffix: people get `user.anonaddy.com` of their own.
 *
 * @param ascii a host name, lower case, A-labels
 */
export function findRelay(ascii: string): string | undefined {
  const listed = findSuffixIn(ascii, (suffix) => relayOf.has(suffix));
  return listed === undefined ? undefined : relayOf.get(listed);
}
