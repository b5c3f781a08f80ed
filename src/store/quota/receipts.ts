/**
 * Receipts of runs, stored in their quota. A receipt records how far a run had come when it made a charge, as digests
 * of its first items. Receipts outlive a run that does not end, so that the next run over the same items pays only for
 * the rest. Receipts of a run with a name are valid for all runs of that name; see run/settle/paid-items.ts. They
 * contain keyed digests of hundreds of items or more, or of all items of a shorter list. `sql-receipts.ts` stores them.
 */
import { createHmac, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

/** Time for which receipts are stored, in milliseconds: 7 days. */
export const keptMilliseconds = 604_800_000;
const signMilliseconds = 4000;
/** Time without a sign of life after which a run has ended, in milliseconds. */
const aliveMilliseconds = 15_000;
const lookMilliseconds = 1000;
const markBytes = 16;
const itemsBytes = 4;
const digestBytes = 12;

export interface Mark {
  readonly items: number;
  /** 12 bytes as a binary string. */
  readonly digest: string;
}

interface Receipt {
  readonly run: string;
  /** `granted` is the number of first items that were granted; the first `used` of them are used up since. */
  readonly granted: number;
  readonly used: number;
  readonly marks: readonly Mark[];
  readonly time: number;
}

export interface ReceiptRun {
  readonly run: string;
  /** Identifies the process and the command; empty for a dry run, which only reads. */
  readonly owner: string;
  /** HMAC of the run's name; empty without a name. */
  readonly name: Uint8Array;
  readonly kind: string;
  readonly start: Uint8Array;
}

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

export interface ReceiptCharge {
  readonly run: ReceiptRun;
  /** Number of the run's first items, with those of this charge, and their marks since the last charge. */
  readonly items: number;
  readonly marks: readonly Mark[];
  /**
   * For a run with a name. `after` is the last receipt that the run knows. `learn` receives newer receipts of other
   * runs in the transaction of the charge, and returns the number of units still wanted; it may be called again.
   */
  readonly news?: {
    readonly after: number;
    readonly learn: (rows: readonly ReceiptRow[]) => number;
  };
}

/** Receipts of one quota. All methods but `end` and `release` throw StoreError when the quota cannot be used. */
export interface ReceiptStore {
  readonly secret: Uint8Array;
  /**
   * Returns the receipts of lists with the same first items that a run may use. For a run with a name, these are all
   * receipts of the name. For others, they are the receipts of runs that did not end; if the run has an owner, they
   * belong to it from then on.
   *
   * @param isDead returns whether a run has ended. `alive` is the time of its last sign of life, null if it was
   *   released; times are in milliseconds since the epoch
   */
  take(
    run: ReceiptRun,
    isDead: (owner: string, alive: number | null, now: number) => boolean,
  ): Promise<readonly ReceiptRow[]>;
  stayAlive(owner: string): Promise<void>;
  /**
   * Deletes those receipts of an owner whose items are all used up: of its own runs, which have ended, and of other
   * runs whose items it has used. Releases the rest.
   *
   * @param used number of the first items of each run that are used up
   */
  end(owner: string, used: ReadonlyMap<string, number>): Promise<void>;
  /**
   * Releases the receipts of an owner whose run does not end: the next run need not check whether its process is alive.
   */
  release(owner: string): Promise<void>;
}

const newId = (): string => randomBytes(9).toString("base64url");

/** State of the process of another run. Processes of other machines cannot be checked. */
export type ProcessState = "ended" | "running" | "elsewhere";

export class RunReceipts {
  readonly isNamed: boolean;
  readonly #store: ReceiptStore;
  readonly #stateOf: (process: string) => ProcessState;
  #run: ReceiptRun;
  /**
   * By run: the number of its first items that are used up. Contains the runs of this command and those whose receipts
   * it has.
   */
  readonly #used = new Map<string, number>();
  #last = 0;
  #hasLeft = false;
  readonly #taken = new Map<string, Receipt[]>();
  #isOver = false;
  #isReleased = false;
  #signs: NodeJS.Timeout | undefined;

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

  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** Begins a run over another file. Receipts of earlier runs stay until all runs of the command have ended. */
  renew(): void {
    this.#run = { ...this.#run, run: newId() };
    this.#used.set(this.#run.run, Number.MAX_SAFE_INTEGER);
    this.#last = 0;
    this.#hasLeft = false;
  }

  use(run: string, items: number): void {
    this.#used.set(run, Math.max(this.#used.get(run) ?? 0, items));
  }

  /**
   * Returns the receipts that this run may use, for lists with the same first items; see {@link ReceiptStore.take}. If
   * a run on another machine has such a list and gave a recent sign of life, waits up to 15 s for another sign.
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
    // An earlier file of the command may have got some receipts of this list.
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
      run: this.#run,
      items,
      marks,
      ...(learn && {
        news: { after: this.#last, learn: (rows: readonly ReceiptRow[]) => learn(this.#receiptsIn(rows)) },
      }),
    };
  }

  /** Ends the runs of the command. Another run over the same lists pays again, unless it has a name. */
  async end(): Promise<void> {
    this.#isOver = true;
    clearInterval(this.#signs);
    if (!this.#isOwner) return;
    await this.#store.end(this.#run.owner, this.#used);
    this.#isReleased = true;
  }

  async release(): Promise<void> {
    this.#isOver = true;
    clearInterval(this.#signs);
    if (this.#isOwner && !this.#isReleased) await this.#store.release(this.#run.owner);
  }

  get #isOwner(): boolean {
    return !this.isNamed && this.#run.owner !== "";
  }

  #receiptsIn(rows: readonly ReceiptRow[]): Receipt[] {
    this.#last = rows.reduce((last, { id }) => Math.max(last, id), this.#last);
    return rows.map(({ marks, created, ...row }) => ({ ...row, marks: unpack(marks), time: created }));
  }
}

export interface Granted {
  /** Number of items granted, with items that another run of the name has paid for. */
  readonly granted: number;
  readonly charged: number;
}

/**
 * Charges units for the items that no other run of the name has paid for.
 *
 * @param units number of new items: the last `units` of the receipt's items
 * @param news receipts of other runs since the last charge
 * @param take charges units to the quota and returns the number granted
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

/** Returns the columns of a receipt from `run` to `marks`; undefined if the receipt would be useless. */
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

function unpack(blob: Uint8Array): Mark[] {
  const bytes = Buffer.from(blob.buffer, blob.byteOffset, blob.length);
  return Array.from({ length: Math.floor(bytes.length / markBytes) }, (_, nth) => ({
    items: bytes.readUInt32LE(markBytes * nth),
    digest: bytes.toString("latin1", markBytes * nth + itemsBytes, markBytes * (nth + 1)),
  }));
}
