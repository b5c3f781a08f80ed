/** Finds out whether the hosts that MX records name can be reached, each once: many domains share a host. */
import type { DnsClient, Failure } from "./dns-client.js";
import { isHostName, isRoutable } from "./finding.js";

export type Unreached = "unusable" | Failure;
type HostState = "usable" | Unreached;

const mostHosts = 50_000;
/** With more hosts, a domain receives mail. */
const mostTried = 10;

export function createMailHosts(client: Pick<DnsClient, "ask">, isInside: boolean) {
  const states = new Map<string, Promise<HostState>>();

  async function addressesOf(name: string): Promise<HostState> {
    let found: Unreached = "unusable";
    for (const type of ["resolve4", "resolve6"] as const) {
      const answer = await client.ask((resolver) => resolver[type](name));
      if ("isMissing" in answer) return "unusable";
      if ("failure" in answer) found = answer;
      else if (answer.records.some((address) => isRoutable(address, isInside))) return "usable";
    }
    return found;
  }

  function stateOf(host: string): Promise<HostState> {
    const known = states.get(host);
    if (known) return known;
    if (states.size >= mostHosts) states.clear();
    const state = isHostName(host) ? addressesOf(host) : Promise.resolve<HostState>("usable");
    states.set(host, state);
    void state.then((found) => typeof found === "object" && states.delete(host));
    return state;
  }

  return {
    /** Returns the first host that can be reached; a cause if that is open. The first one usually decides. */
    async find(hosts: readonly string[]): Promise<{ readonly host: string } | Unreached> {
      let found: Unreached = "unusable";
      for (const host of hosts.slice(0, mostTried)) {
        const state = await stateOf(host);
        if (state === "usable") return { host };
        if (state !== "unusable") found = state;
      }
      return hosts.length > mostTried ? { host: hosts[mostTried]! } : found;
    },
    addressesOf,
  };
}

export type MailHosts = ReturnType<typeof createMailHosts>;
