/**
 * Lists that the service checks. Each is a row of the state and a folder, so that any server can take it over from one
 * that was killed. A run of the command line does the work; all attempts at a list are one run with a name, which
 * charges its items once (`IDV_RUN`). The queue is a statement over the rows: pg-boss has tables, workers and retries
 * of its own, for PostgreSQL alone. A row with an Idempotency-Key outlives its files for a day: the same request
 * brings it back under its id, and so the run that has paid.
 */
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Progress } from "../../child-program.js";
import { deadMilliseconds } from "../../state/lease.js";
import { UnitsLost } from "../../state/quota/units-lost.js";
import type { ListChange, ListClaim, ListState, ListStore, NewList, StoredList } from "../../state/service/lists.js";
import { newId } from "../../state/service/secrets.js";
import type { ServiceStore } from "../../state/service/service-store.js";
import { Refusal } from "../refusal.js";
import type { ListChoices, ListResult, SentList } from "./list-facts.js";
import { countedIn, isWhole, mostLists, requestHash, safeName } from "./list-facts.js";
import { isNoRoom, ListFiles, removed } from "./list-files.js";
import { checkList, detectTable, type ListRunner } from "./list-processes.js";

export interface ListOptions {
  /** All servers share it. */
  readonly folder: string;
  readonly mostBytes: number;
  readonly keepMilliseconds: number;
  readonly store: ListStore;
  readonly runner: ListRunner;
  readonly nameUnits: ServiceStore["nameUnits"];
  readonly onFault: (error: Error) => void;
}

/** Runs at a time in one server: each uses several threads. One is left for the lists of another key. */
const mostRunning = 3;
const mostOfKey = 2;
const mostInAll = 1000;
const tickMilliseconds = 1000;
/** Servers that a list may end, one after another, before it has failed. */
const mostLostServers = 5;

/** Removal takes steps, between which the request may be repeated. */
const removedMeanwhile = (): Refusal =>
  new Refusal(409, "The list of this Idempotency-Key was removed just now; send it again.");

export class Lists {
  readonly mostBytes: number;
  readonly keepMilliseconds: number;
  readonly files: ListFiles;
  readonly runner: ListRunner;
  readonly #options: ListOptions;
  readonly store: ListStore;
  readonly #server = newId();
  readonly #work = new Map<string, { readonly stop: () => void; readonly end: Promise<void> }>();
  readonly #timer: NodeJS.Timeout;
  #ticking: Promise<void> = Promise.resolve();
  #running = 0;
  #isClosed = false;

  constructor(options: ListOptions) {
    this.#options = options;
    this.store = options.store;
    this.mostBytes = options.mostBytes;
    this.keepMilliseconds = options.keepMilliseconds;
    this.runner = options.runner;
    this.files = new ListFiles(options.folder);
    this.#timer = setInterval(() => this.#wake(), tickMilliseconds).unref();
  }

  get(id: string): Promise<StoredList | undefined> {
    return this.store.get(id);
  }

  all(keyId?: string): Promise<readonly StoredList[]> {
    return this.store.all(mostLists, keyId);
  }

  /** Detects the table of a person's list, which then waits for choices. @throws Refusal */
  async take(content: Readable, list: SentList, column: string): Promise<StoredList> {
    const added = await this.#add(content, { ...list, id: newId(), keyId: null, choices: {} });
    return this.#receiving(added, content, async (signal) => {
      await this.files.store(added, content, this.mostBytes, list.bytes);
      return { state: "found", found: await detectTable(this, added, column, signal) };
    });
  }

  /**
   * Stores a list of a key, which then waits for a server. For 24 hours, `once` returns the same list; if that is
   * gone, it is checked again, without another charge. @throws Refusal also when `once` had another body
   */
  async submit(
    content: Readable,
    list: SentList & { readonly keyId: string },
    choices: ListChoices,
    once: string | undefined,
  ): Promise<StoredList> {
    const id = newId();
    const added = await this.#add(content, { ...list, id, choices, once });
    const hasBody = async (hash: Uint8Array) => {
      const isSame = await this.store.hasBody(added.id, requestHash(hash, list, choices, once));
      if (isSame === undefined) throw removedMeanwhile();
      if (!isSame) throw new Refusal(422, "This Idempotency-Key was already used with a different body.");
    };
    const arrives =
      added.id === id
        ? added
        : await this.store.change(added.id, ["gone"], { state: "arriving", server: this.#server });
    if (arrives === undefined) {
      if (added.state === "arriving" || added.state === "gone")
        throw new Refusal(409, "The list of this Idempotency-Key is still arriving.");
      await hasBody(await this.files.hash(content, this.mostBytes));
      const repeated = await this.get(added.id);
      if (repeated === undefined) throw removedMeanwhile();
      return repeated;
    }
    const queued = await this.#receiving(arrives, content, async () => {
      await hasBody(await this.files.store(arrives, content, this.mostBytes, list.bytes));
      return { state: "waiting" };
    });
    this.#wake();
    return queued;
  }

  async #add(content: Readable, list: Omit<NewList, "server">): Promise<StoredList> {
    if (this.#isClosed) throw new Refusal(503, "The server is about to stop; try again later.");
    // Listen from the start: the list may break off before it is read.
    content.on("error", (error) => content.destroy(error));
    const added = await this.store.add(
      { ...list, name: safeName(list.name), server: this.#server },
      { ofKey: mostLists, ofAll: mostInAll },
    );
    if (added === "full")
      throw new Refusal(429, "There are too many lists already; remove some, or try later.", {
        code: "too_many_lists",
      });
    return added;
  }

  async #receiving(list: StoredList, content: Readable, receive: (signal: AbortSignal) => Promise<ListChange>) {
    let next: ListChange | undefined;
    try {
      let received: StoredList | undefined;
      await this.#working(list, async (signal) => {
        signal.addEventListener("abort", () => content.destroy(removed()));
        next = await receive(signal);
        received = await this.store.change(list.id, ["arriving"], next, list);
      });
      if (received === undefined) throw removed();
      return received;
    } catch (error) {
      const { cause } = error as Error;
      if (cause instanceof Error) this.#options.onFault(cause);
      // Before the state: a disk that the list has filled keeps the state from any change.
      if (next === undefined) await this.files.remove(list.id).catch(this.#options.onFault);
      // It may have arrived although the state did not answer: then another request may have been told so.
      await this.#discard(list.id, ["arriving"], list);
      throw error;
    }
  }

  #working(
    list: StoredList,
    work: (signal: AbortSignal) => Promise<void>,
    progress?: () => Progress | undefined,
  ): Promise<void> {
    const aborter = new AbortController();
    const beat = setInterval(() => {
      const line = progress?.();
      // What servers before have charged is not charged again.
      this.store.beat(list, line, line !== undefined && line.units > 0).then(
        (isOurs) => isOurs || aborter.abort(),
        // The state is away: the work goes on.
        () => {},
      );
    }, tickMilliseconds);
    const done = work(aborter.signal).finally(() => {
      clearInterval(beat);
      this.#work.delete(list.id);
    });
    this.#work.set(list.id, { stop: () => aborter.abort(), end: done.catch(() => {}) });
    return done;
  }

  /** Queues a list that was found, has failed, or whose units have ended; else undefined. Nothing is charged twice. */
  async start(id: string, choices?: { readonly keyId: string; readonly choices: ListChoices }) {
    if (choices === undefined && isWhole(await this.get(id))) return undefined;
    const from: ListState[] = choices === undefined ? ["done", "failed"] : ["found", "failed"];
    const queued = await this.store.change(id, from, { state: "waiting", ...choices });
    this.#wake();
    return queued;
  }

  async remove(id: string): Promise<void> {
    const all: ListState[] = ["arriving", "found", "waiting", "running", "done", "failed"];
    const list = await this.store.change(id, all, { state: "removed" });
    if (list === undefined) return;
    const ours = this.#work.get(id);
    ours?.stop();
    await ours?.end;
    // Another server, which may work on it, deletes it with its next sign of life, or some time later.
    await this.#delete(id);
  }

  /** Does not throw. */
  async #discard(id: string, from: readonly ListState[], claim?: ListClaim): Promise<void> {
    try {
      const list = await this.store.change(id, from, { state: "removed" }, claim);
      if (list !== undefined || (await this.get(id)) === undefined) await this.#delete(id);
    } catch (error) {
      this.#options.onFault(error as Error);
    }
  }

  async #delete(id: string): Promise<void> {
    try {
      await this.files.remove(id);
      await this.store.drop(id);
    } catch (error) {
      // The next look at ended lists tries again.
      this.#options.onFault(error as Error);
    }
  }

  #wake(): void {
    this.#ticking = this.#ticking.then(() => this.#tick()).catch((error: Error) => this.#options.onFault(error));
  }

  async #tick(): Promise<void> {
    if (this.#isClosed) return;
    const own = () => ({ server: this.#server, working: [...this.#work.keys()] });
    const { isWaiting, ended } = await this.store.due(own(), deadMilliseconds, this.keepMilliseconds);
    for (const id of ended) await this.#discard(id, ["arriving", "found", "done", "failed"]);
    if (!isWaiting) return;
    while (this.#running < mostRunning && !this.#isClosed) {
      const list = await this.store.claim(own(), deadMilliseconds, mostOfKey);
      if (list === undefined) return;
      if (this.#isClosed) return void (await this.#finish(list, undefined));
      if (list.lostServers >= mostLostServers) {
        const fault = `The server was lost ${list.lostServers} times while checking the list; use the command line.`;
        await this.#finish(list, { counted: countedIn(list.result), fault });
      } else this.#run(list).catch((error: Error) => this.#options.onFault(error));
    }
  }

  async #run(list: StoredList): Promise<void> {
    let progress: Progress | undefined;
    this.#running++;
    const run = this.#working(
      list,
      async (signal) => {
        const result = await checkList(this, list, signal, (line) => {
          progress = line;
        }).catch(async (error: Error): Promise<ListResult | undefined> => {
          if (signal.aborted) return undefined;
          // Before the state: a list that does not fit takes the room of others, also if it would be tried again.
          if (isNoRoom(error)) await this.files.remove(list.id).catch(this.#options.onFault);
          if (!(error instanceof Refusal)) this.#options.onFault(error);
          const isKnown = error instanceof Refusal;
          return {
            counted: countedIn(list.result),
            fault: isKnown ? error.message : "The files of the list cannot be used; the server's log says why.",
          };
        });
        await this.#finish(list, result);
      },
      () => progress,
    );
    await run.finally(() => {
      this.#running--;
    });
    this.#wake();
  }

  /** Stores the end of a run, as soon as the state can be used. `result` is undefined if the run was stopped. */
  async #finish(list: StoredList, result: ListResult | undefined): Promise<void> {
    // A server that stops leaves its lists to the others.
    const to: ListChange =
      result === undefined
        ? { state: "waiting" }
        : "fault" in result
          ? { state: "failed", result }
          : { state: "done", result, delivers: { attempt: list.attempt, units: result.facts.units.used } };
    for (;;) {
      try {
        const change =
          (await this.store.change(list.id, ["running"], to, list)) ?? (await this.#stored(list, to.state));
        if (change !== undefined) {
          if (result === undefined || "fault" in result) await this.files.removeAttempt(list.id, list.attempt);
          // The list is done, whatever becomes of its usage.
          return await this.#nameUnits(list, result).catch(this.#options.onFault);
        }
        if ((await this.get(list.id)) === undefined) await this.#delete(list.id);
        else await this.files.removeAttempt(list.id, list.attempt);
        return;
      } catch (error) {
        if (this.#isClosed) return;
        // Its units were given to others while this server was silent: the list is checked again.
        if (error instanceof UnitsLost) return await this.#finish(list, undefined);
        this.#options.onFault(error as Error);
        await sleep(tickMilliseconds);
      }
    }
  }

  /** The list, if an earlier try has stored this end of it, and only its answer was lost. */
  async #stored({ id, server, attempt }: StoredList, state: ListState): Promise<StoredList | undefined> {
    const found = await this.get(id);
    return found?.state === state && found.server === server && found.attempt === attempt ? found : undefined;
  }

  async #nameUnits(before: StoredList, result: ListResult | undefined): Promise<void> {
    if (result === undefined || "fault" in result) return;
    const counted = countedIn(before.result);
    const news = Object.entries(result.counted.statuses).map(
      ([status, count]) => [status, count - (counted.statuses[status] ?? 0)] as const,
    );
    const statuses = Object.fromEntries(news.filter(([, count]) => count > 0));
    const notChecked = Math.max(0, result.counted.notChecked - counted.notChecked);
    await this.#options.nameUnits({ keyId: before.keyId!, kind: before.kind, statuses, notChecked });
  }

  /** Other servers go on with its work, or this one after its next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    const work = [...this.#work.values()];
    for (const { stop } of work) stop();
    await Promise.all([...work.map(({ end }) => end), this.#ticking]);
  }
}
