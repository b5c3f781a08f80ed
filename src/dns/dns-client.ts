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
/** Number of failures in a row after which the servers count as unreachable. */
const unreachableAfter = 256;

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
  #failuresInRow = 0;
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
      return signal?.aborted ? { failure: "not asked" } : await this.#askServers(slot, query);
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
  ): Promise<DnsAnswer<Record>> {
    const untried = new Set(this.#servers.keys());
    let left = patienceMilliseconds;
    let answer: DnsAnswer<Record> = { failure: "no connection" };
    for (let attempt = 0; left >= 1; attempt++) {
      // While the servers seem unreachable, one query at a time tries them.
      if (this.#isCancelled || (this.#failuresInRow >= unreachableAfter && slot !== this.#slots[0])) {
        return { failure: "not asked" };
      }
      await this.#takeTurn();
      if (this.#isCancelled) return { failure: "not asked" };
      const server = (this.#preferred + attempt) % Math.max(1, this.#servers.length);
      untried.delete(server);
      const started = performance.now();
      answer = await this.#askOnce(slot, server, query, attempt, left);
      left -= performance.now() - started;
      if (!("failure" in answer)) {
        this.#preferred = server;
        this.#failuresInRow = 0;
        return answer;
      }
      if (answer.failure !== "timeout" && untried.size === 0) break;
    }
    this.#failuresInRow = isUnreachable(answer.failure) ? this.#failuresInRow + 1 : 0;
    return answer;
  }

  async #askOnce<Record>(
    slot: Slot,
    server: number,
    query: (resolver: Resolver) => Promise<readonly Record[]>,
    attempt: number,
    left: number,
  ): Promise<DnsAnswer<Record>> {
    const resolver = slot.resolver(server);
    const started = performance.now();
    let isLate = false;
    const check = () => {
      // The usual time may have become known meanwhile.
      const wait = Math.min(this.#timer.wait(attempt), left) - (performance.now() - started);
      if (wait > 1) slot.timer = setTimeout(check, Math.min(wait, shortestWait));
      else {
        isLate = true;
        resolver.cancel();
      }
    };
    slot.timer = setTimeout(check, Math.max(1, Math.min(shortestWait, left)));
    try {
      const records = await query(resolver);
      if (attempt === 0) this.#timer.add(performance.now() - started);
      return { records };
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (code === "ECANCELLED") return { failure: isLate ? "timeout" : "not asked" };
      const isAnswer = code === "ENODATA" || code === "ENOTFOUND";
      if (isAnswer && attempt === 0) this.#timer.add(performance.now() - started);
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

const isUnreachable = (failure: UndecidedCause): boolean =>
  failure === "timeout" || failure === "no connection";

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

  /** Returns the resolver for a server, by its index. */
  resolver(index: number): Resolver {
    const known = this.#resolvers[index];
    if (known) return known;
    // It gives up later than the client does, which cancels it.
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

  /** Adds the time of an answer to a query that was sent once, in milliseconds. */
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
