/**
 * Stores the receipts of runs in a quota file or in the state of the service. The clock of the state decides which runs
 * are alive.
 */

import { ask, type Clock, clock, listOf, type Parameter, type Statement, tell, type Work } from "../sql.js";
import {
  keptMilliseconds,
  type ReceiptCharge,
  type ReceiptRow,
  type ReceiptRun,
  type ReceiptStore,
} from "./receipts.js";

interface ReceiptDatabase {
  writeFast<Result>(work: () => Work<Result>): Promise<Result>;
  tryWrite(work: () => Work<unknown>): Promise<void>;
}

const ofList = "quota = ? AND name = ? AND kind = ? AND start = ?";

const sweepMilliseconds = 3_600_000;

export class SqlReceipts implements ReceiptStore {
  readonly secret: Uint8Array;
  readonly #database: ReceiptDatabase;
  readonly #quota: string;
  #sweptAt = 0;

  constructor(database: ReceiptDatabase, quota: string, secret: Uint8Array) {
    this.#database = database;
    this.#quota = quota;
    this.secret = secret;
  }

  take(
    run: ReceiptRun,
    isDead: (owner: string, alive: number | null, now: number) => boolean,
  ): Promise<readonly ReceiptRow[]> {
    return this.#database.writeFast(() => takeReceipts(this.#quota, run, isDead));
  }

  async stayAlive(owner: string): Promise<void> {
    await this.#database.writeFast(() => this.#signs(owner));
  }

  *#signs(owner: string): Work<void> {
    const [[{ now }]] = yield* ask<[[Clock]]>(clock);
    yield* tell(sign(owner, now));
    if (now < this.#sweptAt + sweepMilliseconds) return;
    this.#sweptAt = now;
    // A run may last for weeks.
    yield* tell(["DELETE FROM {receipt} WHERE owner = ? AND created < ?", owner, now - keptMilliseconds]);
  }

  async end(owner: string, used: ReadonlyMap<string, number>): Promise<void> {
    const statements = Array.from(used).flatMap(([run, items]): Statement[] => [
      ["DELETE FROM {receipt} WHERE run = ? AND owner = ? AND granted <= ?", run, owner, items],
      ["UPDATE {receipt} SET used = ? WHERE run = ? AND owner = ? AND used < ?", items, run, owner, items],
    ]);
    // Ignore errors: the output is complete, and leftover receipts only make another run free of charge.
    await this.#database.writeFast(() => tell(...statements, goneOwner(owner))).catch(() => {});
  }

  async release(owner: string): Promise<void> {
    await this.#database.tryWrite(() => tell(goneOwner(owner)));
  }
}

const sign = (owner: string, now: number): Statement => [
  "INSERT INTO {receipt_owner} VALUES (?, ?) ON CONFLICT (owner) DO UPDATE SET alive = excluded.alive",
  ...[owner, now],
];

const goneOwner = (owner: string): Statement => ["DELETE FROM {receipt_owner} WHERE owner = ?", owner];

function* takeReceipts(
  quota: string,
  { owner, name, kind, start }: ReceiptRun,
  isDead: (owner: string, alive: number | null, now: number) => boolean,
): Work<readonly ReceiptRow[]> {
  const list = [quota, name, kind, start] as const;
  const [found, [{ now }]] = yield* ask<[ReceiptRow[], [Clock]]>(
    [`SELECT {receipt_columns} FROM {receipt} WHERE ${ofList} ORDER BY id {change}`, ...list],
    clock,
  );
  const oldest = now - keptMilliseconds;
  yield* tell(
    ["DELETE FROM {receipt} WHERE created < ?", oldest],
    ["DELETE FROM {receipt_owner} WHERE alive < ?", oldest],
  );
  const rows = found.filter(({ created }) => created >= oldest);
  if (name.length > 0) return rows;
  // Read signs of life after the rows are locked: another run may have claimed them meanwhile, and its signs are newer
  // than the statement that waited.
  const owners = [...new Set(rows.map((row) => row.owner))];
  const [signs] =
    owners.length === 0
      ? [[]]
      : yield* ask<[{ owner: string; alive: number }[]]>([
          `SELECT owner, alive FROM {receipt_owner} WHERE owner IN (${listOf(owners)})`,
          ...owners,
        ]);
  const alive = new Map(signs.map((other) => [other.owner, other.alive]));
  const dead = owners.filter((other) => isDead(other, alive.get(other) ?? null, now));
  if (owner !== "") {
    for (const other of dead) {
      // Receipts of other lists stay with their owner.
      const taken: Statement = [
        `UPDATE {receipt} SET owner = ? WHERE owner = ? AND ${ofList}`,
        ...[owner, other, ...list],
      ];
      yield* tell(taken, goneOwner(other));
    }
    yield* tell(sign(owner, now));
  }
  return rows.filter((row) => dead.includes(row.owner));
}

export function newReceipts(quota: string, { run, news }: ReceiptCharge): Statement | undefined {
  if (news === undefined) return undefined;
  return [
    `SELECT {receipt_columns} FROM {receipt} WHERE ${ofList} AND id > ? AND run <> ? ORDER BY id`,
    ...[quota, run.name, run.kind, run.start, news.after, run.run],
  ];
}

export const leaveReceipt = (
  quota: string,
  values: readonly Parameter[] | undefined,
  now: number,
): readonly Statement[] =>
  values === undefined
    ? []
    : [
        [
          `INSERT INTO {receipt} (run, owner, name, kind, start, granted, marks, quota, created)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          ...[...values, quota, now],
        ],
      ];
