/**
 * Asks DNS servers about many domains at a time, and resends lost queries. Knows nothing of mail.
 *
 * There is a fixed number of slots. A slot has one query in flight and its own resolver for each server, so that
 * cancelling a slow query cancels nothing else. The wait before a query is resent follows the measured round-trip time,
 * like the retransmission timer of TCP (RFC 6298): lost packets cost little on a fast network, and slow servers get few
 * duplicates. A query without an answer after `patienceMilliseconds` has failed. pace.ts slows down where a server stops
 * answering, and where none answers at all, one query at a time tries whether they do again, for a while if they have
 * answered before.
 *
 * To keep: a slot has at most one query in flight, or the user's limit would be exceeded.
 */
import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { isPrivateAddress, isRoutable } from "./finding.js";
import { Pace } from "./pace.js";
import type { UndecidedCause } from "./vocabulary.js";

export interface DnsClientOptions {
  /** IP addresses, with a port if it is not 53: `192.0.2.1`, `[2001:db8::1]:5353`. By default, the system's servers. */
  readonly servers?: readonly string[];
  /** Limit on queries in flight, 1 to 64. */
  readonly concurrency: number;
  /** Limit on queries: up to `items` in `milliseconds`, evenly spaced. */
  readonly rate?: { readonly items: number; readonly milliseconds: number };
}

export interface Failure {
  readonly failure: UndecidedCause;
  /** Whether the cause is the number of queries, or servers that answered nothing at the time. */
  readonly mayPass?: boolean;
}

export type DnsAnswer<Record> =
  | { readonly records: readonly Record[] }
  | { readonly isMissing: true }
  | Failure;

const patienceMilliseconds = 4000;
/** Limits on the wait before a query is resent, in milliseconds. */
const shortestWait = 25;
const longestWait = 2000;
/** Servers that answer none of so many queries for so long are taken for unreachable. */
const unreachableMilliseconds = 3000;
const unreachableQueries = 16;
/** Time between queries that try whether they answer again, and the patience of such a query. */
const probeMilliseconds = 1000;
/** Time for servers that have answered before, such as a router that restarts, to answer again. */
const returnMilliseconds = 20_000;

/** Failures by the error codes of Node.js. Other codes are invalid answers. */
const failures: Readonly<Record<string, UndecidedCause>> = {
  ETIMEOUT: "timeout",
  ESERVFAIL: "SERVFAIL",
  EREFUSED: "REFUSED",
  ECONNREFUSED: "no connection",
};

export class DnsClient {
  readonly #options: DnsClientOptions;
  readonly #servers: readonly string[];
  readonly #idle: Slot[];
  readonly #waiting: ((slot: Slot) => void)[] = [];
  readonly #slots: readonly Slot[];
  readonly #timer = new RetransmissionTimer();
  /** Index of the server to ask first: the last one that answered. */
  #preferred = 0;
  readonly #pace: Pace;
  /** Queries without an answer since the last one, and when the first of them was sent, as `performance.now()` says. */
  #unanswered = 0;
  #silentSince = 0;
  #hasAnswered = false;
  /** Resolves to whether a server answers again; the last one is over if there is none. */
  #probe: Promise<boolean> | undefined;
  #nextProbe = 0;
  #isCancelled = false;

  constructor(options: DnsClientOptions) {
    this.#options = options;
    const { servers, concurrency, rate } = options;
    this.#pace = new Pace(rate ? (1000 * rate.items) / rate.milliseconds : Number.POSITIVE_INFINITY);
    // Node cannot set a system server that names a network interface (`%`), so such a server is used only if it is the
    // only one.
    this.#servers =
      servers ??
      new Resolver().getServers().filter((server, _, { length }) => length === 1 || !server.includes("%"));
    this.#slots = Array.from({ length: concurrency }, () => new Slot(this.#servers, servers !== undefined));
    this.#idle = [...this.#slots];
  }

  /**
   * Whether private networks may be reached from here: a server in one, or the system's server on this machine, which
   * may pass questions on to one, answers for them too.
   */
  get isInside(): boolean {
    const isNamed = this.#options.servers !== undefined;
    return this.#servers.some((server) => {
      const address = server.replace(/^\[(.*)\](?::\d+)?$|^([\d.]+):\d+$/, "$1$2");
      return isIP(address) !== 0 && (isPrivateAddress(address) || (!isNamed && !isRoutable(address, true)));
    });
  }

  /**
   * Returns the answer to a query. Never rejects. Waits for servers to come back only without a signal.
   *
   * @param signal when aborted, queries that wait for a slot are not sent: they fail as "not asked"
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

  cancel(): void {
    this.#isCancelled = true;
    for (const slot of this.#slots) slot.cancel();
  }

  /** Whether servers have answered nothing for a while: {@link ask} then fails early. */
  get isUnreachable(): boolean {
    const silence = performance.now() - this.#silentSince;
    return this.#unanswered >= unreachableQueries && silence > unreachableMilliseconds;
  }

  async #askServers<Record>(
    slot: Slot,
    query: (resolver: Resolver) => Promise<readonly Record[]>,
    signal: AbortSignal | undefined,
  ): Promise<DnsAnswer<Record>> {
    if (!this.isUnreachable) return this.#askWith(patienceMilliseconds, slot, query, signal);
    while (this.#probe !== undefined) {
      if (await this.#probe) return this.#askServers(slot, query, signal);
    }
    const untilProbe = this.#nextProbe - performance.now();
    if (untilProbe > 0) {
      const mayReturn =
        this.#hasAnswered &&
        signal === undefined &&
        performance.now() - this.#silentSince < returnMilliseconds;
      if (!mayReturn || this.#isCancelled) return { failure: "not asked", mayPass: true };
      await sleep(untilProbe);
      return this.#askServers(slot, query, signal);
    }
    const answer = this.#askWith(probeMilliseconds, slot, query, signal);
    this.#probe = answer.then((found) => !("failure" in found && isSilence(found.failure)));
    await this.#probe;
    this.#probe = undefined;
    this.#nextProbe = performance.now() + probeMilliseconds;
    return answer;
  }

  async #askWith<Record>(
    patience: number,
    slot: Slot,
    query: (resolver: Resolver) => Promise<readonly Record[]>,
    signal: AbortSignal | undefined,
  ): Promise<DnsAnswer<Record>> {
    const untried = new Set(this.#servers.keys());
    let isAnySilent = false;
    let spent = 0;
    let answer: DnsAnswer<Record> = { failure: "no connection" };
    for (let attempt = 0; spent < patience - 1; attempt++) {
      await this.#takeTurn();
      if (this.#isCancelled || signal?.aborted) return { failure: "not asked" };
      const server = (this.#preferred + attempt) % Math.max(1, this.#servers.length);
      untried.delete(server);
      const wait = this.#waitFor(attempt, patience - spent);
      const started = performance.now();
      const number = attempt === 0 ? this.#pace.start() : undefined;
      answer = await this.#askOnce(slot.resolver(server, attempt > 0), query, wait, slot);
      const took = performance.now() - started;
      spent += took;
      const isSilent = "failure" in answer && isSilence(answer.failure);
      this.#pace.end(number, performance.now(), !isSilent);
      this.#count(isSilent, started);
      if (!("failure" in answer)) {
        this.#timer.add(took);
        this.#preferred = server;
        break;
      }
      if (patience > probeMilliseconds && this.isUnreachable) break;
      if (answer.failure === "no connection" && untried.size === 0) {
        const pause = Math.min(this.#waitFor(attempt, patience - spent)(), patience - spent);
        await sleep(Math.max(1, pause));
        spent += pause;
        // A server that lost the query may know what another one fails to find out.
      } else if (!isSilent && !isAnySilent && untried.size === 0) break;
      isAnySilent ||= isSilent;
    }
    if (!("failure" in answer) || !isSilence(answer.failure)) return answer;
    return { ...answer, mayPass: this.#pace.isLimited || this.isUnreachable };
  }

  #count(isSilent: boolean, sent: number): void {
    if (!isSilent) {
      this.#unanswered = 0;
      this.#hasAnswered = true;
    } else if (this.#unanswered++ === 0) this.#silentSince = sent;
  }

  /**
   * Returns a function that computes the wait in milliseconds anew: other answers may change the round-trip time
   * meanwhile.
   */
  #waitFor(attempt: number, left: number): () => number {
    return () => {
      const wait = this.#timer.wait(attempt);
      // Rather than resend with little time left, wait longer.
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

  async #takeTurn(): Promise<void> {
    const now = performance.now();
    const turn = this.#pace.turn(now);
    if (turn > now) await sleep(turn - now);
  }
}

const isSilence = (failure: UndecidedCause): boolean => failure === "timeout" || failure === "no connection";

class Slot {
  timer: NodeJS.Timeout | undefined;
  readonly #servers: readonly string[];
  readonly #areNamed: boolean;
  readonly #resolvers: Resolver[] = [];

  constructor(servers: readonly string[], areNamed: boolean) {
    this.#servers = servers;
    this.#areNamed = areNamed;
  }

  /** @param isNew whether to use a new resolver: c-ares gives up sooner where earlier answers were fast */
  resolver(index: number, isNew: boolean): Resolver {
    const known = this.#resolvers[index];
    if (known && !isNew) return known;
    // A new resolver would wait longer than the client, which cancels the query first.
    const resolver = new Resolver({ timeout: 2 * patienceMilliseconds, tries: 1 });
    if (this.#servers.length > 1 || this.#areNamed) resolver.setServers([this.#servers[index]!]);
    this.#resolvers[index] = resolver;
    return resolver;
  }

  cancel(): void {
    for (const resolver of this.#resolvers) resolver?.cancel();
  }
}

/** Wait for an answer, computed from the times of earlier answers (RFC 6298, section 2). */
class RetransmissionTimer {
  #smoothedTime: number | undefined;
  #variation = 0;

  /** @param milliseconds from the query to its own answer; earlier, resent queries are cancelled */
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
