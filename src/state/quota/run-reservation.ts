/**
 * The reservation of one run. A run with a name (`IDV_RUN`) leaves a digest of its items when it delivers, and a later
 * one of the name does not pay for the same or the first items again: schedulers repeat runs. What the name has paid
 * for an input of the same size is lent, since the quota may be used up; other items are charged before delivery.
 */
import { createHmac, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { deadMilliseconds, type ProcessState, Sightings, signMilliseconds } from "../lease.js";
import type { ItemDigests } from "./deliveries.js";
import type { Quota } from "./quota.js";
import type { Quotas } from "./quotas.js";
import type { NamedPart } from "./reservation-rows.js";
import type { Other, Reserved, UnitRequest } from "./reservations.js";
import { UnitsLost } from "./units-lost.js";

export interface RunIdentity {
  readonly kind: string;
  readonly owner: string;
  readonly stateOf: (owner: string) => ProcessState;
  readonly name?: string | undefined;
  /** Part of the run that this process does, such as a shard. */
  readonly part: string;
  readonly bytes: number;
  readonly secret: Uint8Array;
  /** Id of a reservation that another process delivers. */
  readonly id?: string | undefined;
  /** Whether the output appears as a whole: then units that the name has paid are lent. */
  readonly isWhole: boolean;
  readonly retrying?: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/**
 * A run is dead if its process is gone, or has given no sign of life for 15 s. Whoever `waits` sees whether one of
 * another machine still gives signs, and does not take its units for used up before.
 */
export function deathIn(stateOf: RunIdentity["stateOf"], isServer: boolean, waits = false): UnitRequest["isDead"] {
  const sightings = new Sightings();
  return ({ id, owner, alive }: Other, now) => {
    const state = stateOf(owner);
    if (state === "ended") return true;
    // The clocks of machines may differ by hours; one machine, and a database, have one.
    const isSilent = now - alive > deadMilliseconds;
    if (state === "running" || (isServer && (isSilent || !waits))) return isSilent;
    return sightings.isSilent(id, alive, now);
  };
}

export interface DeliveredItems {
  digests(): ItemDigests;
  clear(): void;
}

const mostWait = deadMilliseconds + signMilliseconds;
/** Deliveries within this time share a durable write: files of a folder come every few milliseconds. */
const unsyncedMilliseconds = 1000;

export class RunReservation {
  readonly #quotas: Quotas;
  readonly #run: RunIdentity;
  readonly #id: string;
  readonly #named: NamedPart | undefined;
  readonly #isDead: UnitRequest["isDead"];
  readonly #retrying: NonNullable<RunIdentity["retrying"]>;
  items: DeliveredItems | undefined;
  /** Units of other items that the name has paid would have to be charged when the output is there. */
  #mostLent = Number.POSITIVE_INFINITY;
  #loan = 0;
  #marks: ReadonlySet<number> = new Set();
  #held = 0;
  #hasRow = false;
  #last: Promise<unknown> = Promise.resolve();
  #signs: NodeJS.Timeout | undefined;
  /** Milliseconds by the clock, which can be set, and by the time awake, which stops in sleep. */
  #seen = { clock: 0, awake: 0 };
  /** Set while there are deliveries that a power failure would make free. */
  #syncing: NodeJS.Timeout | undefined;

  constructor(quotas: Quotas, run: RunIdentity) {
    this.#quotas = quotas;
    this.#run = run;
    this.#id = run.id ?? randomBytes(12).toString("base64url");
    const { part, bytes } = run;
    this.#named = run.name
      ? { name: createHmac("sha256", run.secret).update(run.name).digest(), part, bytes }
      : undefined;
    this.#isDead = deathIn(run.stateOf, quotas.isServer, true);
    this.#retrying = run.retrying ?? ((work) => work());
  }

  #paidBefore = 0;

  /** Returns, once, the units of secured outputs that another run of the name has paid. */
  takePaidBefore(): number {
    const paid = this.#paidBefore;
    this.#paidBefore = 0;
    return paid;
  }

  get secret(): Uint8Array {
    return this.#run.secret;
  }

  get isNamed(): boolean {
    return this.#named !== undefined;
  }

  get marks(): ReadonlySet<number> {
    return this.#marks;
  }

  /** Waits at most 15 s for units of dead runs. @throws UnitsLost when units were given back, and are now missing */
  async charge(units: number): Promise<{ readonly granted: number; readonly quota: Quota }> {
    const end = performance.now() + mostWait;
    for (let granted = 0; ; ) {
      const reserved = await this.#reserve(units - granted);
      granted += reserved.granted;
      if (granted === units || !reserved.isUnsure || performance.now() > end) {
        return { granted, quota: reserved.quota };
      }
      await sleep(signMilliseconds / 4);
    }
  }

  quota(): Promise<Quota> {
    return this.#quotas.read(this.#isDead);
  }

  /** Charges what was given back, before delivery. @throws UnitsLost when it cannot, or other items were paid */
  async secure(): Promise<void> {
    if (this.#held === 0) return;
    // Another try of the name may be about to deliver the same, and runs of other machines may be dead.
    const end = performance.now() + mostWait;
    for (;;) {
      const { paidBefore, granted } = await this.#reserve(0, true);
      if (granted >= 0) {
        this.#paidBefore += paidBefore;
        return;
      }
      if (performance.now() > end) throw new UnitsLost(this.isNamed, this.#run.isWhole);
      await sleep(signMilliseconds / 4);
    }
  }

  /** As {@link secure}, for a run that delivers bit by bit. */
  async stayAlive(): Promise<void> {
    if (this.#held > 0 && this.#isStale) await this.#reserve(0);
  }

  /** Delivers all that was charged, with the items so far, if `units` is undefined. */
  deliver(units?: number): Promise<void> {
    return this.#inTurn(async () => {
      const held = this.#held;
      this.#held -= units ?? held;
      if (units === undefined) {
        this.items?.clear();
        // The next file may have what the name has paid.
        this.#mostLent = Number.POSITIVE_INFINITY;
      }
      // Another process delivers it, or there is nothing to deliver.
      if (this.#run.id !== undefined || this.#held === held) return;
      const change = { id: this.#id, kind: this.#run.kind, held, holds: this.#held };
      await this.#retrying(() => this.#quotas.deliver(change));
      if (!this.#quotas.isServer) this.#syncing ??= setTimeout(() => this.#sync(), unsyncedMilliseconds).unref();
    });
  }

  /** Does not throw: the next change gives back what was not. */
  giveBack(units: number): Promise<void> {
    return this.#inTurn(async () => {
      if (units === 0) return;
      this.#held -= units;
      await this.#quotas.reserve(this.#requestFor(this.#held)).catch(() => {});
    });
  }

  /** Gives back what was not delivered. Does not throw: others give it back later. */
  end(): Promise<void> {
    clearInterval(this.#signs);
    clearTimeout(this.#syncing);
    return this.#inTurn(async () => {
      if (this.#hasRow && (this.#run.id === undefined || this.#held > 0)) {
        await this.#quotas.release(this.#id, this.#syncing !== undefined).catch(() => {});
      }
      this.#hasRow = false;
      this.#held = 0;
    });
  }

  /** Changes follow each other: each tells how much the run holds before it. */
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }

  #requestFor(holds: number): UnitRequest {
    const { owner, isWhole } = this.#run;
    const named = this.#named;
    const ofName = isWhole ? { lends: named && { ...named, most: this.#mostLent } } : { remembers: named };
    return { id: this.#id, owner, holds, ...ofName, isDead: this.#isDead };
  }

  #reserve(units: number, isFinal = false): Promise<Reserved & { readonly granted: number }> {
    return this.#inTurn(async () => {
      this.#signs ??= setInterval(() => this.#beat(), signMilliseconds).unref();
      const seal = this.#named && isFinal && this.items ? { ...this.#named, ...this.items.digests() } : undefined;
      const request = { ...this.#requestFor(this.#held + units), seal };
      const reserved = await this.#retrying(() => this.#quotas.reserve(request));
      this.#hasRow = true;
      this.#sign();
      this.#marks = new Set([...this.#marks, ...reserved.marks]);
      const granted = reserved.holds - this.#held;
      if (granted < 0 && isFinal && reserved.isUnsure) return { ...reserved, granted };
      // Another try at the same items is lent what the name has paid for them, and no more.
      if (granted < 0) this.#mostLent = Math.min(this.#mostLent, reserved.paidBefore);
      if (granted < 0) throw new UnitsLost(isFinal && this.#loan > reserved.paidBefore, this.#run.isWhole);
      this.#loan = reserved.loan;
      this.#held = reserved.holds;
      return { ...reserved, granted };
    });
  }

  async #beat(isDurable?: boolean): Promise<void> {
    if (!this.#hasRow) return;
    if (await this.#quotas.beat(this.#id, isDurable).catch(() => false)) this.#sign();
  }

  #sync(): Promise<void> {
    this.#syncing = undefined;
    return this.#beat(true);
  }

  #sign(): void {
    this.#seen = { clock: Date.now(), awake: performance.now() };
  }

  get #isStale(): boolean {
    const { clock, awake } = this.#seen;
    return Math.max(Date.now() - clock, performance.now() - awake) > deadMilliseconds / 2;
  }
}
