/** The rule for forwarding relays, whose addresses are aliases of real mailboxes. `providers.ts` lists the relays. */
import { relays } from "../providers.js";
import { findSuffixIn, lastDotBefore } from "../suffix-walk.js";

/** Relay by domain. */
const relayOf: ReadonlyMap<string, string> = new Map(
  Object.entries(relays).flatMap(([relay, domains]) => domains.map((domain) => [domain, relay] as const)),
);

/** Last two labels of every relay domain: one look-up rules out most names. */
const relayEnds: ReadonlySet<string> = new Set([...relayOf.keys()].map(lastTwoLabels));

/**
 * Finds the forwarding relay that a domain belongs to. Domains below a relay's domain count, because relays give
 * users domains such as `user.anonaddy.com`.
 *
 * @param ascii a host name, lower case, A-labels
 */
export function findRelay(ascii: string): string | undefined {
  if (!relayEnds.has(lastTwoLabels(ascii))) return undefined;
  const listed = findSuffixIn(ascii, (suffix) => relayOf.has(suffix));
  return listed === undefined ? undefined : relayOf.get(listed);
}

function lastTwoLabels(ascii: string): string {
  const start = lastDotBefore(ascii, lastDotBefore(ascii, ascii.length)) + 1;
  return start === 0 ? ascii : ascii.slice(start);
}
