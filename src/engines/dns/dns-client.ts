/**
 * Asks DNS servers about many domains at a time, and resends lost queries: after a wait that follows the measured
 * round-trip time, like that of TCP (RFC 6298). c-ares waits a fixed time; unbounded, 20 domains made 40,616 queries.
 * To keep: a slot asks one question at a time, with its own resolver for each server, so that cancelling a query
 * cancels nothing else. A failing server is asked again only after a pause, and a question at most `mostTries` times.
 */
import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { isPrivateAddress, isRoutable } from "./finding.js";
import { Pace } from "./pace.js";
import type { UndecidedCause } from "./vocabulary.js";

export interface DnsClientOptions {
  /** IP addresses, with a port if it is not 53: `[2001:db8::1]:5353`. By default, the system's servers. */
  readonly servers?: readonly string[];
  readonly concurrency: number;
  /** Up to `items` in `milliseconds`, evenly spaced. */
  readonly rate?: { readonly items: number; readonly milliseconds: number };
}

export type Failure = { readonly failure: UndecidedCause; readonly mayPass?: boolean };

export type DnsAnswer<Record> = { readonly records: readonly Record[] } | { readonly isMissing: true } | Failure;

type Query<Record> = (resolver: Resolver) => Promise<readonly Record[]>;

const patienceMilliseconds = 4000;
const mostTries = 4;
/** Limits in milliseconds. The shortest is that of TCP in Linux: on a busy machine, answers wait for this process. */
const shortestWait = 200;
const longestWait = 2000;
const checkMilliseconds = 25;
const secondTryMilliseconds = 500;
/** Servers that answer none of so many queries for so long are taken for unreachable. */
const unreachableMilliseconds = 3000;
const unreachableQueries = 16;
const probeMilliseconds = 1000;
/** Time for servers that have answered before, such as a router that restarts, to answer again. */
const returnMilliseconds = 20_000;

const failures: Readonly<Record<string, UndecidedCause>> = {
  ETIMEOUT: "timeout",
  ESERVFAIL: "SERVFAIL",
  EREFUSED: "REFUSED",
  ECONNREFUSED: "no connection",
};

export class DnsClient {
  readonly #servers: readonly string[];
  readonly #idle: Slot[];
  readonly #waiting: ((slot: Slot) => void)[] = [];
  readonly #slots: readonly Slot[];
  readonly #timer = new RetransmissionTimer();
  #preferred = 0;
  readonly #pace: Pace;
  /** Queries since the last answer; `#silentSince` is a time of `performance.now()`. */
  #unanswered = 0;
  #silentSince = 0;
  #hasAnswered = false;
  #probe: Promise<boolean> | undefined;
  #nextProbe = 0;
  #isCancelled = false;

  constructor(private readonly options: DnsClientOptions) {
    const { servers, concurrency, rate } = options;
    this.#pace = new Pace(rate ? (1000 * rate.items) / rate.milliseconds : Number.POSITIVE_INFINITY);
    // Node cannot set a server with a network interface (`%`), so such a server is used only if it is the only one.
    this.#servers =
      servers ?? new Resolver().getServers().filter((server, _, { length }) => length === 1 || !server.includes("%"));
    this.#slots = Array.from({ length: concurrency }, () => new Slot(this.#servers, servers !== undefined));
    this.#idle = [...this.#slots];
  }

  /** Whether private networks can be reached: a private server, or this machine's, answers for them too. */
  get isInside(): boolean {
    const isNamed = this.options.servers !== undefined;
    return this.#servers.some((server) => {
      const address = server.replace(/^\[(.*)\](?::\d+)?$|^([\d.]+):\d+$/, "$1$2");
      return isIP(address) !== 0 && (isPrivateAddress(address) || (!isNamed && !isRoutable(address, true)));
    });
  }

  /** Never rejects. After `signal` is aborted, waiting queries fail as "not asked". */
  async ask<Record>(query: Query<Record>, signal?: AbortSignal): Promise<DnsAnswer<Record>> {
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

  get isUnreachable(): boolean {
    const silence = performance.now() - this.#silentSince;
    return this.#unanswered >= unreachableQueries && silence > unreachableMilliseconds;
  }

  async #askServers<Record>(slot: Slot, query: Query<Record>, signal?: AbortSignal): Promise<DnsAnswer<Record>> {
    if (!this.isUnreachable) return this.#askWith(patienceMilliseconds, slot, query, signal);
    while (this.#probe !== undefined) if (await this.#probe) return this.#askServers(slot, query, signal);
    const untilProbe = this.#nextProbe - performance.now();
    if (untilProbe > 0) {
      const mayReturn =
        this.#hasAnswered && signal === undefined && performance.now() - this.#silentSince < returnMilliseconds;
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

  async #askWith<Record>(patience: number, slot: Slot, query: Query<Record>, signal?: AbortSignal) {
    const untried = new Set(this.#servers.keys());
    const tries = new Set<Try<Record>>();
    const left = new Patience(patience);
    let answer: DnsAnswer<Record> = { failure: "no connection" };
    let isAgain = false;
    for (let attempt = 0; attempt < mostTries && left.milliseconds > 1; attempt++) {
      await this.#takeTurn();
      if (this.#isCancelled || signal?.aborted) {
        answer = { failure: "not asked" };
        break;
      }
      const server = (this.#preferred + attempt) % Math.max(1, this.#servers.length);
      untried.delete(server);
      tries.add(this.#send(slot, server, attempt, query));
      const { milliseconds } = left;
      const wait = attempt === mostTries - 1 ? () => milliseconds : this.#waitFor(attempt, milliseconds);
      answer = await left.spend(this.#firstAnswer(tries, wait));
      if (!("failure" in answer) || (patience > probeMilliseconds && this.isUnreachable)) break;
      if (answer.failure === "timeout" || untried.size > 0) continue;
      const pause = pauseAfter(answer.failure, isAgain, tries.size > 0);
      if (pause === undefined) break;
      isAgain = answer.failure !== "no connection";
      const wanted = pause === "as usual" ? this.#waitFor(attempt, left.milliseconds)() : pause;
      await left.spend(sleep(Math.max(1, Math.min(wanted, left.milliseconds))));
    }
    for (const each of tries) each.resolver.cancel();
    if (!("failure" in answer) || !isSilence(answer.failure)) return answer;
    return { ...answer, mayPass: this.#pace.isLimited || this.isUnreachable };
  }

  #send<Record>(slot: Slot, server: number, attempt: number, query: Query<Record>): Try<Record> {
    const resolver = slot.resolver(server, attempt > 0);
    const number = attempt === 0 ? this.#pace.start() : undefined;
    return { server, resolver, number, sent: performance.now(), isLate: false, answer: answerOf(query(resolver)) };
  }

  /** Takes the try that is answered first out of `tries`. */
  async #firstAnswer<Record>(tries: Set<Try<Record>>, wait: () => number): Promise<DnsAnswer<Record>> {
    const started = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      const check = () => {
        const left = wait() - (performance.now() - started);
        if (left <= 1) resolve(undefined);
        else timer = setTimeout(check, Math.min(left, checkMilliseconds));
      };
      check();
    });
    const first = await Promise.race(
      [...tries].map(async (each) => ({ each, answer: await each.answer })).concat(late as never),
    );
    clearTimeout(timer);
    const now = performance.now();
    if (first === undefined) {
      for (const each of tries) {
        if (!each.isLate) this.#pace.end(each.number, now, false);
        each.isLate = true;
      }
      this.#count(true, started);
      return { failure: "timeout" };
    }
    const { each, answer } = first;
    tries.delete(each);
    const isSilent = "failure" in answer && isSilence(answer.failure);
    if (each.isLate && !isSilent) this.#pace.takeBack(each.number);
    else if (!each.isLate) this.#pace.end(each.number, now, !isSilent);
    this.#count(isSilent, each.sent);
    if (!("failure" in answer)) {
      this.#timer.add(now - each.sent);
      this.#preferred = each.server;
    }
    return answer;
  }

  #count(isSilent: boolean, sent: number): void {
    if (!isSilent) {
      this.#unanswered = 0;
      this.#hasAnswered = true;
    } else if (this.#unanswered++ === 0) this.#silentSince = sent;
  }

  #waitFor(attempt: number, left: number): () => number {
    return () => {
      const wait = this.#timer.wait(attempt);
      // Rather than resend with little time left, wait longer.
      return left - wait < longestWait / 2 ? left : wait;
    };
  }

  async #takeTurn(): Promise<void> {
    const now = performance.now();
    const turn = this.#pace.turn(now);
    if (turn > now) await sleep(turn - now);
  }
}

interface Try<Record> {
  readonly server: number;
  readonly resolver: Resolver;
  readonly number: number | undefined;
  readonly sent: number;
  isLate: boolean;
  readonly answer: Promise<DnsAnswer<Record>>;
}

async function answerOf<Record>(query: Promise<readonly Record[]>): Promise<DnsAnswer<Record>> {
  try {
    return { records: await query };
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ECANCELLED") return { failure: "not asked" };
    if (code === "ENODATA") return { records: [] };
    if (code === "ENOTFOUND") return { isMissing: true };
    return { failure: failures[code] ?? "invalid answer" };
  }
}

/** Pause in milliseconds; undefined if the server is not asked again. */
function pauseAfter(failure: UndecidedCause, isAgain: boolean, isLost: boolean): number | "as usual" | undefined {
  if (failure === "no connection") return "as usual";
  return isAgain || (failure !== "SERVFAIL" && !isLost) ? undefined : secondTryMilliseconds;
}

/** The time left for a question, in milliseconds. Waits for the turn of a query do not count. */
class Patience {
  constructor(public milliseconds: number) {}

  async spend<Result>(work: Promise<Result>): Promise<Result> {
    const started = performance.now();
    const result = await work;
    this.milliseconds -= performance.now() - started;
    return result;
  }
}

const isSilence = (failure: UndecidedCause): boolean => failure === "timeout" || failure === "no connection";

class Slot {
  readonly #resolvers: Resolver[] = [];
  /** Resolvers that may still have a query of the question at hand. */
  readonly #earlier = new Set<Resolver>();

  constructor(
    private readonly servers: readonly string[],
    private readonly areNamed: boolean,
  ) {}

  /** With `isNew`, uses a new resolver: c-ares gives up sooner where earlier answers were fast. */
  resolver(index: number, isNew: boolean): Resolver {
    const known = this.#resolvers[index];
    if (!isNew) this.#earlier.clear();
    if (known && !isNew) return known;
    if (known) this.#earlier.add(known);
    // A new resolver would wait longer than the client, which cancels the query first.
    const resolver = new Resolver({ timeout: 2 * patienceMilliseconds, tries: 1 });
    if (this.servers.length > 1 || this.areNamed) resolver.setServers([this.servers[index]!]);
    this.#resolvers[index] = resolver;
    return resolver;
  }

  cancel(): void {
    for (const resolver of [...this.#resolvers, ...this.#earlier]) resolver?.cancel();
  }
}

/** RFC 6298, section 2. */
class RetransmissionTimer {
  #smoothedTime: number | undefined;
  #variation = 0;

  add(milliseconds: number): void {
    if (this.#smoothedTime === undefined) {
      this.#smoothedTime = milliseconds;
      this.#variation = milliseconds / 2;
      return;
    }
    this.#variation += (Math.abs(this.#smoothedTime - milliseconds) - this.#variation) / 4;
    this.#smoothedTime += (milliseconds - this.#smoothedTime) / 8;
  }

  wait(attempt: number): number {
    if (this.#smoothedTime === undefined) return longestWait;
    const wait = Math.max(shortestWait, this.#smoothedTime + 4 * this.#variation);
    return Math.min(longestWait, wait * 4 ** attempt);
  }
}
