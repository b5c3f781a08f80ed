/**
 * The receipts of a run in a quota file: how far it has come when each of its charges was made, as digests of its first items. They
 * outlive a run that does not end, so that the next one over the same items pays only for what is beyond; see
 * run/settle/paid-items.ts. They hold keyed digests of hundreds of items or more, or of all items of a shorter list.
 */
import { randomUUID } from "node:crypto";
import type { Parameter } from "./state-file.js";

/** Time for which receipts are kept, in milliseconds: 7 days. */
const keptMilliseconds = 604_800_000;
/** Length of a stored mark in bytes: the number of items, and their digest. */
const markBytes = 24;
const digestBytes = 16;

/** The first items of a run, up to one of them. */
export interface Mark {
  readonly items: number;
  /** 16 bytes as a binary string. */
  readonly digest: string;
}

/** What a run that did not end has paid for. */
interface Receipt {
  readonly run: string;
  readonly granted: number;
  readonly marks: readonly Mark[];
  readonly time: number;
}

/** Access to the file. */
interface ReceiptFile {
  all(sql: string, ...parameters: readonly Parameter[]): unknown[];
  run(sql: string, ...parameters: readonly Parameter[]): number;
  /** Clock in milliseconds since the epoch. */
  readonly now: () => number;
  /** Runs a change in a transaction. */
  write<Result>(work: () => Result): Promise<Result>;
  /** Tries to make a change, for a second at most. Nothing depends on it. */
  tryWrite(work: () => void): Promise<void>;
}

interface ReceiptRow {
  readonly run: string;
  readonly owner: string;
  readonly created: number;
  readonly granted: number;
  readonly marks: Uint8Array;
}

export class RunReceipts {
  readonly secret: Uint8Array;
  readonly #file: ReceiptFile;
  readonly #kind: string;
  readonly #process: string;
  readonly #isAlive: (owner: string) => boolean;
  #run = "";
  #start: Buffer = Buffer.of();
  /** The runs whose receipts this one has taken and used. */
  #used: string[] = [];
  #hasLeft = false;

  constructor(
    file: ReceiptFile,
    secret: Uint8Array,
    kind: string,
    owner: string,
    isAlive: (owner: string) => boolean,
  ) {
    this.#file = file;
    this.secret = secret;
    this.#kind = kind;
    this.#process = owner;
    // Those that were released have no owner.
    this.#isAlive = (other) => other !== "" && isAlive(other.slice(0, other.lastIndexOf(" ")));
    this.renew();
  }

  get #owner(): string {
    return `${this.#process} ${this.#run}`;
  }

  /** Whether this run has left receipts that another can use. */
  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** Begins a run over another file. What the last one has left stays, unless that has ended. */
  renew(): void {
    this.#run = randomUUID();
    this.#used = [];
    this.#hasLeft = false;
  }

  /** Notes that a run, whose receipts were taken, had the items of this one. */
  use(run: string): void {
    if (!this.#used.includes(run)) this.#used.push(run);
  }

  /**
   * Takes the receipts of runs that did not end, of lists that start in the same way. They belong to this run from then on.
   *
   * @param start digest at the first mark
   */
  take(start: string): Promise<readonly Receipt[]> {
    const { all, run, now } = this.#file;
    this.#start = Buffer.from(start, "latin1");
    return this.#file.write(() => {
      run("DELETE FROM receipt WHERE created < ?", now() - keptMilliseconds);
      const rows = all(
        "SELECT run, owner, created, granted, marks FROM receipt WHERE kind = ? AND start = ? ORDER BY id",
        this.#kind,
        this.#start,
      ) as ReceiptRow[];
      const owners = new Set(rows.map(({ owner }) => owner));
      const dead = new Set(Array.from(owners).filter((owner) => !this.#isAlive(owner)));
      for (const owner of dead) {
        // Released receipts of all lists have the same owner: those of another list are left to its own run.
        run(
          "UPDATE receipt SET owner = ? WHERE owner = ? AND kind = ? AND start = ?",
          ...[this.#owner, owner, this.#kind, this.#start],
        );
      }
      const runs = new Map<string, ReceiptRow[]>();
      for (const row of rows) {
        if (!dead.has(row.owner)) continue;
        const charges = runs.get(row.run);
        if (charges) charges.push(row);
        else runs.set(row.run, [row]);
      }
      return Array.from(runs, ([run, charges]) => ({
        run,
        granted: charges.reduce((most, { granted }) => Math.max(most, granted), 0),
        time: charges.reduce((last, { created }) => Math.max(last, created), 0),
        marks: charges.flatMap(({ marks }) => unpack(marks)),
      }));
    });
  }

  /**
   * Leaves a receipt. Runs in the transaction of the charge.
   *
   * @param granted number of the first items that are granted
   */
  leave(granted: number, marks: readonly Mark[]): void {
    if (marks.length === 0) return;
    this.#hasLeft = true;
    this.#file.run(
      "INSERT INTO receipt (run, owner, kind, start, created, granted, marks) VALUES (?, ?, ?, ?, ?, ?, ?)",
      ...[this.#run, this.#owner, this.#kind, this.#start, this.#file.now(), granted, pack(marks)],
    );
  }

  /** Ends the run: deletes its receipts and those that it has used, and releases the others that it has taken. */
  async end(): Promise<void> {
    const { run, tryWrite } = this.#file;
    await tryWrite(() => {
      for (const ended of [this.#run, ...this.#used]) {
        run("DELETE FROM receipt WHERE run = ? AND owner = ?", ended, this.#owner);
      }
      this.#letGo();
    });
  }

  /** Releases the receipts of a run that does not end: the next one need not know whether its process is alive. */
  async release(): Promise<void> {
    await this.#file.tryWrite(() => this.#letGo());
  }

  #letGo(): void {
    this.#file.run("UPDATE receipt SET owner = '' WHERE owner = ?", this.#owner);
  }
}

function pack(marks: readonly Mark[]): Uint8Array {
  const bytes = Buffer.alloc(markBytes * marks.length);
  for (const [nth, { items, digest }] of marks.entries()) {
    bytes.writeBigUInt64LE(BigInt(items), markBytes * nth);
    bytes.write(digest, markBytes * nth + 8, digestBytes, "latin1");
  }
  return bytes;
}

/** Returns the marks of a row; those that are whole, if it is damaged. */
function unpack(blob: Uint8Array): Mark[] {
  const bytes = Buffer.from(blob.buffer, blob.byteOffset, blob.length);
  return Array.from({ length: Math.floor(bytes.length / markBytes) }, (_, nth) => ({
    items: Number(bytes.readBigUInt64LE(markBytes * nth)),
    digest: bytes.toString("latin1", markBytes * nth + 8, markBytes * (nth + 1)),
  }));
}
