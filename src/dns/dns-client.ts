/**
 * Asks DNS servers, many domains at a time, and asks again what gets lost. Knows nothing of mail.
 *
 * There is a fixed number of slots. A slot has one query in flight and a resolver of its own for each server, so that
 * cancelling a query that took too long cancels nothing else. The wait before a query is resent follows the measured
 * round-trip time, like the retransmission timer of TCP (RFC 6298): lost packets cost little on a fast network, and slow
 * servers get few duplicates. A query without an answer after `patienceMilliseconds` has failed.
 *
 * To keep: a slot has at most one query in flight, or the user's limit would be exceeded.
 */
import { Resolver } from "node:dns/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { UndecidedCause } from "./vocabulary.js";

/** Servers of a client, and its limits. */
export interface DnsClientOptions {
  /** Addresses of servers, with a port if it is not 53: `192.0.2.1`, `[2001:db8::1]:5353`. The system's if absent. */
  readonly servers?: readonly string[];
  /** Most queries in flight, 1 to 64. */
  readonly concurrency: number;
  /** Limit on queries: up to `items` in `milliseconds`, evenly spaced. */
  readonly rate?: { readonly items: number; readonly milliseconds: number };
}

/** An answer: records, none, no such domain, or a failure. */
export type DnsAnswer<Record> =
  | { readonly records: readonly Record[] }
  | { readonly isMissing: true }
  | { readonly failure: UndecidedCause };

/** Time after which a query without an answer has failed, in milliseconds. */
const patienceMilliseconds = 4000;
/** Limits on the wait for an answer before the query is sent again, in milliseconds. */
const [shortestWait, longestWait] = [25, 2000];
/** Time without any answer after which the servers count as unreachable, in milliseconds. */
const unreachableMilliseconds = 8000;
/** Time between two queries that try unreachable servers, in milliseconds. */
const probeMilliseconds = 1000;

/** Failures by the error codes of Node.js. All other codes are invalid answers. */
const failures: Readonly<Record<string, UndecidedCause>> = {
  ETIMEOUT: "timeout",
  ESERVFAIL: "SERVFAIL",
  EREFUSED: "REFUSED",
  ECONNREFUSED: "no connection",
};

/** Sends queries and resends lost ones, within the limits of its options. */
export class DnsClient {
  readonly #options: DnsClientOptions;
  readonly #servers: readonly string[];
  readonly #idle: Slot[];
  /** Queries that wait for a slot. */
  readonly #waiting: ((slot: Slot) => void)[] = [];
  readonly #slots: readonly Slot[];
  readonly #timer = new RetransmissionTimer();
  /** Index of the server to ask first: the last one that answered. */
  #preferred = 0;
  /** Time of the first failure since the last answer. */
  #silentSince: number | undefined;
  #nextProbe = 0;
  #nextQuery = 0;
  #isCancelled = false;

  constructor(options: DnsClientOptions) {
    this.#options = options;
    const { servers, concurrency } = options;
    // Of the system's servers, those of a network interface cannot be set one by one.
    this.#servers =
      servers ??
      new Resolver().getServers().filter((server, _, { length }) => length === 1 || !server.includes("%"));
    this.#slots = Array.from({ length: concurrency }, () => new Slot(this.#servers, servers !== undefined));
    this.#idle = [...this.#slots];
  }

  /**
   * Returns the answer to a query. Never rejects.
   *
   * @param signal once it is aborted, queries that still wait for a slot are not sent: they fail as "not asked"
   */
  async ask<Record>(
    query: (resolver: Resolver) => Promise<readonly Record[]>,
    signal?: AbortSignal,
  ): Promise<DnsAnswer<Record>> {
    const slot = this.#idle.pop() ?? (await new Promise<Slot>((resolve) => this.#waiting.push(resolve)));
    try {
      return signal?.aborted ? { failure: "not asked" } : await this.#askServers(slot, query, signal);
    } finally {
      const next = this.#waiting.shift();
      if (next) next(slot);
      else this.#idle.push(slot);
    }
  }

  /** Cancels the queries in flight. Later ones fail at once. */
  cancel(): void {
    this.#isCancelled = true;
    for (const slot of this.#slots) slot.cancel();
  }

  async #askServers<Record>(
    slot: Slot,
    query: (resolver: Resolver) => Promise<readonly Record[]>,
    signal: AbortSignal | undefined,
  ): Promise<DnsAnswer<Record>> {
    if (!this.#mayTry()) return { failure: "not asked" };
    const untried = new Set(this.#servers.keys());
    let spent = 0;
    let answer: DnsAnswer<Record> = { failure: "no connection" };
    for (let attempt = 0; spent < patienceMilliseconds - 1; attempt++) {
      await this.#takeTurn();
      if (this.#isCancelled || signal?.aborted) return { failure: "not asked" };
      const server = (this.#preferred + attempt) % Math.max(1, this.#servers.length);
      untried.delete(server);
      const wait = this.#waitFor(attempt, patienceMilliseconds - spent);
      const started = performance.now();
      answer = await this.#askOnce(slot.resolver(server, attempt > 0), query, wait, slot);
      const took = performance.now() - started;
      spent += took;
      if (!("failure" in answer)) {
        this.#timer.add(took);
        this.#preferred = server;
        break;
      }
      const { failure } = answer;
      if (failure === "no connection" && untried.size === 0) {
        // The server may be about to start again.
        const pause = Math.min(
          this.#waitFor(attempt, patienceMilliseconds - spent)(),
          patienceMilliseconds - spent,
        );
        await sleep(Math.max(1, pause));
        spent += pause;
      } else if (!isSilence(failure) && untried.size === 0) break;
    }
    const isSilent = "failure" in answer && isSilence(answer.failure);
    this.#silentSince = isSilent ? (this.#silentSince ?? performance.now() - spent) : undefined;
    return answer;
  }

  /** Whether a query may be sent: while the servers are unreachable, one a second tries them. */
  #mayTry(): boolean {
    const now = performance.now();
    if (this.#silentSince === undefined || now - this.#silentSince < unreachableMilliseconds) return true;
    if (now < this.#nextProbe) return false;
    this.#nextProbe = now + probeMilliseconds;
    return true;
  }

  /** Returns the wait for an answer, in milliseconds, as it is by then: the usual time may become known meanwhile. */
  #waitFor(attempt: number, left: number): () => number {
    return () => {
      const wait = this.#timer.wait(attempt);
      // A last try that is too short is worth less than a longer wait.
      return left - wait < longestWait / 2 ? left : wait;
    };
  }

  async #askOnce<Record>(
    resolver: Resolver,
    query: (resolver: Resolver) => Promise<readonly Record[]>,
    wait: () => number,
    slot: Slot,
  ): Promise<DnsAnswer<Record>> {
    const started = performance.now();
    let isLate = false;
    const check = () => {
      const left = wait() - (performance.now() - started);
      if (left > 1) slot.timer = setTimeout(check, Math.min(left, shortestWait));
      else {
        isLate = true;
        resolver.cancel();
      }
    };
    slot.timer = setTimeout(check, shortestWait);
    try {
      return { records: await query(resolver) };
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (code === "ECANCELLED") return { failure: isLate ? "timeout" : "not asked" };
      if (code === "ENODATA") return { records: [] };
      if (code === "ENOTFOUND") return { isMissing: true };
      return { failure: failures[code] ?? "invalid answer" };
    } finally {
      clearTimeout(slot.timer);
    }
  }

  /** Waits until the rate allows another query. */
  async #takeTurn(): Promise<void> {
    const { rate } = this.#options;
    if (rate === undefined) return;
    const now = performance.now();
    const turn = Math.max(now, this.#nextQuery);
    this.#nextQuery = turn + rate.milliseconds / rate.items;
    if (turn > now) await sleep(turn - now);
  }
}

/** Whether a failure means that no server said anything. */
const isSilence = (failure: UndecidedCause): boolean => failure === "timeout" || failure === "no connection";

/** One query in flight, and the resolvers that it uses. */
class Slot {
  timer: NodeJS.Timeout | undefined;
  readonly #servers: readonly string[];
  readonly #areNamed: boolean;
  readonly #resolvers: Resolver[] = [];

  /** @param areNamed whether the user has named the servers */
  constructor(servers: readonly string[], areNamed: boolean) {
    this.#servers = servers;
    this.#areNamed = areNamed;
  }

  /**
   * Returns the resolver for a server, by its index.
   *
   * @param isNew whether it may have no history: c-ares gives up sooner where earlier answers were fast
   */
  resolver(index: number, isNew: boolean): Resolver {
    const known = this.#resolvers[index];
    if (known && !isNew) return known;
    // Without a history, it gives up later than the client does, which cancels it.
    const resolver = new Resolver({ timeout: 2 * patienceMilliseconds, tries: 1 });
    if (this.#servers.length > 1 || this.#areNamed) resolver.setServers([this.#servers[index]!]);
    this.#resolvers[index] = resolver;
    return resolver;
  }

  cancel(): void {
    for (const resolver of this.#resolvers) resolver?.cancel();
  }
}

/** Time to wait for an answer, from the times that earlier ones took (RFC 6298, section 2). */
class RetransmissionTimer {
  #smoothedTime: number | undefined;
  #variation = 0;

  /** Adds the time of an answer, in milliseconds, from the query that it answers: earlier ones are cancelled. */
  add(milliseconds: number): void {
    if (this.#smoothedTime === undefined) {
      this.#smoothedTime = milliseconds;
      this.#variation = milliseconds / 2;
      return;
    }
    this.#variation += (Math.abs(this.#smoothedTime - milliseconds) - this.#variation) / 4;
    this.#smoothedTime += (milliseconds - this.#smoothedTime) / 8;
  }

  /**
   * Returns the time to wait for an answer, in milliseconds.
   *
   * @param attempt number of times that the query was sent before; each makes the wait four times as long
   */
  wait(attempt: number): number {
    if (this.#smoothedTime === undefined) return longestWait;
    const wait = Math.max(shortestWait, this.#smoothedTime + 4 * this.#variation);
    return Math.min(longestWait, wait * 4 ** attempt);
  }
}
