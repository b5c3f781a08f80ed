import { relays } from "./providers.js";

const relayOf: ReadonlyMap<string, string> = new Map(
  Object.entries(relays).flatMap(([relay, domains]) => domains.map((domain) => [domain, relay] as const)),
);

/**
 * The forwarding relay that a domain belongs to, by suffix: people get `user.anonaddy.com` of their own.
 *
 * @param ascii a host name, lower case, A-labels
 */
export function findRelay(ascii: string): string | undefined {
  for (let rest = ascii; ; ) {
    const relay = relayOf.get(rest);
    if (relay !== undefined) return relay;
    const dot = rest.indexOf(".");
    if (dot === -1) return undefined;
    rest = rest.slice(dot + 1);
  }
}
