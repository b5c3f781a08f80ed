/** Finds out whether the hosts that MX records name can be reached, each once: many domains share a host. */
import type { DnsClient, Failure } from "./dns-client.js";
import { isHostName, isRoutable } from "./finding.js";

export type Unreached = "unusable" | Failure;
type HostState = "usable" | Unreached;

const mostHosts = 50_000;
/** With more hosts, a domain receives mail. */
const mostTried = 10;

export class MailHosts {
  readonly #client: Pick<DnsClient, "ask">;
  readonly #isInside: boolean;
  readonly #states = new Map<string, Promise<HostState>>();

  constructor(client: Pick<DnsClient, "ask">, isInside: boolean) {
    this.#client = client;
    this.#isInside = isInside;
  }

  /** Returns the first host that can be reached; a cause if that is open. The first one usually decides. */
  async find(hosts: readonly string[]): Promise<{ readonly host: string } | Unreached> {
    let found: Unreached = "unusable";
    for (const host of hosts.slice(0, mostTried)) {
      const state = await this.#stateOf(host);
      if (state === "usable") return { host };
      if (state !== "unusable") found = state;
    }
    return hosts.length > mostTried ? { host: hosts[mostTried]! } : found;
  }

  async addressesOf(name: string): Promise<HostState> {
    let found: Unreached = "unusable";
    for (const type of ["resolve4", "resolve6"] as const) {
      const answer = await this.#client.ask((resolver) => resolver[type](name));
      if ("isMissing" in answer) return "unusable";
      if ("failure" in answer) found = answer;
      else if (answer.records.some((address) => isRoutable(address, this.#isInside))) return "usable";
    }
    return found;
  }

  #stateOf(host: string): Promise<HostState> {
    const known = this.#states.get(host);
    if (known) return known;
    if (this.#states.size >= mostHosts) this.#states.clear();
    const state = isHostName(host) ? this.addressesOf(host) : Promise.resolve<HostState>("usable");
    this.#states.set(host, state);
    void state.then((found) => typeof found === "object" && this.#states.delete(host));
    return state;
  }
}
