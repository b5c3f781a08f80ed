/**
 * The receipts of runs, whose quota keeps them: how far a run has come when each of its charges was made, as digests of its first
 * items. They outlive a run that does not end, so that the next one over the same items pays only for what is beyond, and those of a
 * run with a name hold for all runs of that name; see run/settle/paid-items.ts. They hold keyed digests of hundreds of items or more,
 * or of all items of a shorter list. What each store does with them is in sqlite-receipts.ts and postgres-receipts.ts.
 */
import { createHmac, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

/** Time for which receipts are kept, in milliseconds: 7 days. */
export const keptMilliseconds = 604_800_000;
/** Time between two signs of life of a run, and that after which one without them has ended, in milliseconds. */
const [signMilliseconds, aliveMilliseconds] = [4000, 15_000];
/** Time between two looks at a run of another machine, in milliseconds. */
const lookMilliseconds = 1000;
/** Length of a stored mark in bytes: the number of items, and their digest. */
const markBytes = 16;
const [itemsBytes, digestBytes] = [4, 12];

/** The first items of a run, up to one of them. */
export interface Mark {
  readonly items: number;
  /** 12 bytes as a binary string. */
  readonly digest: string;
}

/** What a charge of another run has left. */
interface Receipt {
  readonly run: string;
  /** Number of first items that were granted, and of those of them that are used up since. */
  readonly granted: number;
  readonly used: number;
  readonly marks: readonly Mark[];
  readonly time: number;
}

/** A run over a file, as its receipts name it. */
export interface ReceiptRun {
  readonly run: string;
  /** Identifies its process, and the command; empty for a dry run, which only looks. */
  readonly owner: string;
  /** HMAC of its name; empty for a run without one. */
  readonly name: Uint8Array;
  /** Kind of its items. */
  readonly kind: string;
  /** Digest at its first mark. */
  readonly start: Uint8Array;
}

/** A receipt as it is stored. */
export interface ReceiptRow {
  /** Increases from receipt to receipt of a quota. */
  readonly id: number;
  readonly run: string;
  readonly owner: string;
  readonly created: number;
  readonly granted: number;
  readonly used: number;
  readonly marks: Uint8Array;
}

/** What is left with a charge, and what it depends on. */
export interface ReceiptCharge {
  readonly run: ReceiptRun;
  /** Number of first items that are charged with it, and the marks that they pass since the last charge. */
  readonly items: number;
  readonly marks: readonly Mark[];
  /**
   * For a run with a name: the last receipt that it knows, and what takes the newer ones of other runs in the transaction of the
   * charge. It returns the number of units that are still wanted, and may be called again.
   */
  readonly news?: {
    readonly after: number;
    readonly learn: (rows: readonly ReceiptRow[]) => number;
  };
}

/** Where the receipts of one quota are. All methods but `end` and `release` throw StoreError when it cannot be used. */
export interface ReceiptStore {
  readonly secret: Uint8Array;
  /**
   * Returns the receipts that a run may use, of lists that start as its own. Without a name, those of runs that did not end, which
   * belong to it from then on if it has an owner; else all of its name.
   *
   * @param isDead returns whether a run has ended; `alive` is the time of its last sign of life, null if it was released, and `now`
   *   the time, in milliseconds since the epoch
   */
  take(
    run: ReceiptRun,
    isDead: (owner: string, alive: number | null, now: number) => boolean,
  ): Promise<readonly ReceiptRow[]>;
  /** Gives a sign of life. */
  stayAlive(owner: string): Promise<void>;
  /**
   * Deletes the receipts of an owner for the first items of some runs: its own, which have ended, and those that they have had of
   * others. Releases the rest.
   */
  end(owner: string, used: ReadonlyMap<string, number>): Promise<void>;
  /** Releases the receipts of an owner that does not end: the next run need not know whether its process is alive. */
  release(owner: string): Promise<void>;
}

/** Returns an identifier of 72 random bits: it is in every receipt. */
const newId = (): string => randomBytes(9).toString("base64url");

/** What is known of the process of another run: one on this machine has ended or not, and others cannot be seen. */
export type ProcessState = "ended" | "running" | "elsewhere";

/** The receipts of the runs of a command, one after the other. */
export class RunReceipts {
  readonly isNamed: boolean;
  readonly #store: ReceiptStore;
  readonly #stateOf: (process: string) => ProcessState;
  #run: ReceiptRun;
  /** The runs of this command, and those whose receipts they have taken, with the number of their first items that are used up. */
  readonly #used = new Map<string, number>();
  /** The last receipt that is known. */
  #last = 0;
  #hasLeft = false;
  /** The receipts that were taken, by the first items of their lists. */
  readonly #taken = new Map<string, Receipt[]>();
  #isOver = false;
  #isReleased = false;
  #signs: NodeJS.Timeout | undefined;

  /**
   * @param kind of the items
   * @param process identifies this process
   * @param stateOf returns what is known of another process
   * @param name of the run; empty for none
   * @param isDry whether it only looks, and leaves everything as it is
   */
  constructor(
    store: ReceiptStore,
    kind: string,
    process: string,
    stateOf: (process: string) => ProcessState,
    { name = "", isDry = false }: { readonly name?: string | undefined; readonly isDry?: boolean } = {},
  ) {
    this.#store = store;
    this.#stateOf = stateOf;
    this.isNamed = name !== "";
    const nameHash = this.isNamed ? createHmac("sha256", store.secret).update(name).digest() : Buffer.of();
    const owner = isDry ? "" : `${process} ${newId()}`;
    this.#run = { run: "", owner, name: nameHash, kind, start: Buffer.of() };
    this.renew();
  }

  get secret(): Uint8Array {
    return this.#store.secret;
  }

  /** Whether this run has left receipts that another can use. */
  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** Begins a run over another file. What the last one has left stays until all of the command have ended. */
  renew(): void {
    this.#run = { ...this.#run, run: newId() };
    this.#used.set(this.#run.run, Number.MAX_SAFE_INTEGER);
    this.#last = 0;
    this.#hasLeft = false;
  }

  /** Notes how many of the first items of a run, whose receipts were taken, this one has had. */
  use(run: string, items: number): void {
    this.#used.set(run, Math.max(this.#used.get(run) ?? 0, items));
  }

  /**
   * Returns the receipts that this run may use, of lists that start in the same way; see {@link ReceiptStore.take}. Waits up to 15 s
   * for a sign of life of a run on another machine that has such a list, and gave one shortly before.
   *
   * @param start digest of the first item
   */
  async take(start: string): Promise<readonly Receipt[]> {
    this.#run = { ...this.#run, start: Buffer.from(start, "latin1") };
    if (this.#isOwner) {
      this.#signs ??= setInterval(
        () => this.#store.stayAlive(this.#run.owner).catch(() => {}),
        signMilliseconds,
      );
      this.#signs.unref();
    }
    const signs = new Map<string, number>();
    // An earlier file of the command may have taken some of those of this list.
    const receipts = this.#taken.get(start) ?? [];
    this.#taken.set(start, receipts);
    const all = () =>
      receipts.map((other) => ({ ...other, used: Math.max(other.used, this.#used.get(other.run) ?? 0) }));
    for (;;) {
      let isUnsure = false;
      if (!this.#isOwner) receipts.length = 0;
      const rows = await this.#store.take(this.#run, (owner, alive, now) => {
        if (owner === this.#run.owner && owner !== "") return false;
        if (alive === null) return true;
        const state = this.#stateOf(owner.slice(0, owner.lastIndexOf(" ")));
        if (state !== "elsewhere") return state === "ended";
        if (Math.abs(now - alive) > aliveMilliseconds) return true;
        if ((signs.get(owner) ?? alive) === alive) isUnsure = true;
        if (!signs.has(owner)) signs.set(owner, alive);
        return false;
      });
      receipts.push(...this.#receiptsIn(rows));
      if (!isUnsure || this.#isOver) return all();
      await sleep(lookMilliseconds);
    }
  }

  /**
   * Returns what is left with a charge.
   *
   * @param receipt as the run knows it
   */
  charge({
    items,
    marks,
    learn,
  }: {
    readonly items: number;
    readonly marks: readonly Mark[];
    readonly learn?: ((receipts: readonly Receipt[]) => number) | undefined;
  }): ReceiptCharge {
    this.#hasLeft ||= marks.length > 0;
    return {
      ...{ run: this.#run, items, marks },
      ...(learn && {
        news: { after: this.#last, learn: (rows: readonly ReceiptRow[]) => learn(this.#receiptsIn(rows)) },
      }),
    };
  }

  /** Ends the runs of the command: who has their lists again pays again, unless they have a name. */
  async end(): Promise<void> {
    this.#isOver = true;
    clearInterval(this.#signs);
    if (!this.#isOwner) return;
    await this.#store.end(this.#run.owner, this.#used);
    this.#isReleased = true;
  }

  /** Leaves the receipts of runs that have not ended to the next ones. */
  async release(): Promise<void> {
    this.#isOver = true;
    clearInterval(this.#signs);
    if (this.#isOwner && !this.#isReleased) await this.#store.release(this.#run.owner);
  }

  /** Whether receipts belong to this command: not with a name, nor in a dry run. */
  get #isOwner(): boolean {
    return !this.isNamed && this.#run.owner !== "";
  }

  #receiptsIn(rows: readonly ReceiptRow[]): Receipt[] {
    this.#last = rows.reduce((last, { id }) => Math.max(last, id), this.#last);
    return rows.map(({ marks, created, ...row }) => ({ ...row, marks: unpack(marks), time: created }));
  }
}

/** Units and items of a charge whose receipts were looked at. */
export interface Granted {
  /** Number of items granted, with those that another run of the name has paid for. */
  readonly granted: number;
  /** Number of units charged. */
  readonly charged: number;
}

/**
 * Takes units for the items that no other run of the name has paid for.
 *
 * @param units number of the last items of the receipt
 * @param news the receipts of other runs since the last charge
 * @param take takes units from the quota and returns the number that it grants
 */
export function takeOnce(
  units: number,
  receipt: ReceiptCharge | undefined,
  news: readonly ReceiptRow[],
  take: (units: number) => number,
): Granted {
  const wanted = Math.min(units, receipt?.news?.learn(news) ?? units);
  const charged = take(wanted);
  return { granted: units - wanted + charged, charged };
}

/**
 * Returns the values of a receipt: those of its run, the number of first items that are granted, and its marks; undefined if it would
 * say nothing.
 */
export function receiptValues(
  { run: { run, owner, name, kind, start }, items, marks }: ReceiptCharge,
  units: number,
  { granted, charged }: Granted,
): readonly (string | number | Uint8Array)[] | undefined {
  if (marks.length === 0 || charged === 0) return undefined;
  return [run, owner, name, kind, start, items - units + granted, pack(marks)];
}

function pack(marks: readonly Mark[]): Uint8Array {
  const bytes = Buffer.alloc(markBytes * marks.length);
  for (const [nth, { items, digest }] of marks.entries()) {
    bytes.writeUInt32LE(items, markBytes * nth);
    bytes.write(digest, markBytes * nth + itemsBytes, digestBytes, "latin1");
  }
  return bytes;
}

/** Returns the marks of a row; those that are whole, if it is damaged. */
function unpack(blob: Uint8Array): Mark[] {
  const bytes = Buffer.from(blob.buffer, blob.byteOffset, blob.length);
  return Array.from({ length: Math.floor(bytes.length / markBytes) }, (_, nth) => ({
    items: bytes.readUInt32LE(markBytes * nth),
    digest: bytes.toString("latin1", markBytes * nth + itemsBytes, markBytes * (nth + 1)),
  }));
}
