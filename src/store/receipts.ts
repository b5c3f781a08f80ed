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
  readonly #owner: string;
  readonly #isAlive: (owner: string) => boolean;
  readonly #run = randomUUID();
  #start: Buffer = Buffer.of();

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
    this.#owner = `${owner} ${this.#run}`;
    this.#isAlive = (other) => isAlive(other.slice(0, other.lastIndexOf(" ")));
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
      for (const owner of dead) run("UPDATE receipt SET owner = ? WHERE owner = ?", this.#owner, owner);
      const runs = new Map<string, ReceiptRow[]>();
      for (const row of rows) {
        if (dead.has(row.owner)) runs.set(row.run, [...(runs.get(row.run) ?? []), row]);
      }
      return Array.from(runs.values(), (charges) => ({
        granted: Math.max(...charges.map(({ granted }) => granted)),
        time: Math.max(...charges.map(({ created }) => created)),
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
    this.#file.run(
      "INSERT INTO receipt (run, owner, kind, start, created, granted, marks) VALUES (?, ?, ?, ?, ?, ?, ?)",
      ...[this.#run, this.#owner, this.#kind, this.#start, this.#file.now(), granted, pack(marks)],
    );
  }

  /** Deletes the receipts of this run, and those that it has taken. */
  async end(): Promise<void> {
    await this.#file.write(() => this.#file.run("DELETE FROM receipt WHERE owner = ?", this.#owner));
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
