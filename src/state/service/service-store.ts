/**
 * The state of the service, in SQL. Secrets, Idempotency-Keys and request bodies must be stored only as hashes.
 * Asynchronous, so that a lock held by another process stops neither the service nor Ctrl-C. Times are in milliseconds
 * since the epoch. All methods throw StoreError when the state cannot be used.
 */

import { timingSafeEqual } from "node:crypto";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { day } from "../../time.js";
import { renewed, toQuota } from "../quota/quota.js";
import { clearDead, Quotas } from "../quota/quotas.js";
import type { UnitRequest } from "../quota/reservations.js";
import { ask, type Clock, clock, listOf, tell } from "../sql.js";
import type {
  ApiKey,
  AuditEntry,
  Charge,
  ChargeOutcome,
  Found,
  KeyChange,
  KeyLimit,
  LimitedQuota,
  NewKey,
  QuotaOwner,
} from "./api-key.js";
import { charge, deleteAnswers, nameUnits } from "./charges.js";
import type { ServiceDatabase } from "./database/database.js";
import { exportRows, importRows, type StateRows } from "./database/state-rows.js";
import {
  auditEntry,
  type DatedAnswer,
  isValid,
  type JoinedRow,
  keyAndQuota,
  noteUse,
  quotaIn,
  selectAnswers,
} from "./database/statements.js";
import { createKey, endSecret, revokeKey, rotateKey, setKey } from "./key-changes.js";
import { SqlLists } from "./lists.js";
import { takeTurns } from "./rates.js";
import { isUsable, type SecretRow, secretsByKey, toKey } from "./rules.js";
import { hashOf, newId } from "./secrets.js";
import { SqlSessions } from "./sessions.js";
import { checkState } from "./state-check.js";
import * as usage from "./usage.js";

const sweepMilliseconds = 60_000;
const closeWait = 500;
/** Time before the last charge of a key is stored again, and the delay until it is. */
const notedMilliseconds = 30_000;
const noteDelay = 1000;

const nobody = "unknown";

export class ServiceStore {
  #sweptAt = Number.NEGATIVE_INFINITY;
  #sweep: Promise<unknown> = Promise.resolve();
  readonly #uses = new Map<string, { time: number; noted: number }>();
  #noting: NodeJS.Timeout | undefined;
  #isClosed = false;
  #ahead = 0;

  constructor(
    private readonly database: ServiceDatabase,
    private readonly clock: () => number,
  ) {}

  get sessions() {
    return new SqlSessions(this.database);
  }

  get lists() {
    return new SqlLists(this.database);
  }

  get pool() {
    return this.database.pool;
  }

  /** Returns the time by the clock that decides: that of a shared database, as of the last look at it. */
  now(): number {
    return this.clock() + this.#ahead;
  }

  #compared(time: number): number {
    this.#ahead = time - this.clock();
    return time;
  }

  get isServer() {
    return this.database.isServer;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#noting);
    await Promise.race([this.#noteUses(0), sleep(closeWait, undefined, { ref: false })]);
    await Promise.race([this.#sweep, sleep(closeWait, undefined, { ref: false })]);
    await this.database.close();
  }

  checkWritable(): Promise<void> {
    return this.database.checkWritable();
  }

  examine(): Promise<void> {
    return this.database.examine();
  }

  /** The secret cannot be shown again. @throws KeyExistsError; UnknownKeyError when a shared quota would change */
  create(key: NewKey, who = nobody) {
    return this.database.write(() => createKey({ id: newId(), ...key }, who));
  }

  async limits(): Promise<readonly KeyLimit[]> {
    const sql = `SELECT ${keyAndQuota} FROM {key} k JOIN {quota} q ON q.id = k.quota_id
      WHERE k.revoked IS NULL AND k.is_sandbox = 0 AND q.unit_limit IS NOT NULL`;
    const [rows, [{ now }]] = await this.database.read(() => ask<[JoinedRow[], [Clock]]>([sql], clock));
    const usable = rows.filter((row) => isUsable(row, now));
    return usable.map((row) => ({ id: row.id, ...(toQuota(renewed(quotaIn(row), now)) as LimitedQuota) }));
  }

  async list(): Promise<readonly ApiKey[]> {
    const [keys, secrets, [{ now }]] = await this.database.read(() =>
      ask<[JoinedRow[], SecretRow[], [Clock]]>(
        [`SELECT ${keyAndQuota} FROM {key} k JOIN {quota} q ON q.id = k.quota_id ORDER BY k.created, k.id`],
        ["SELECT * FROM {secret}"],
        clock,
      ),
    );
    this.#compared(now);
    const byKey = secretsByKey(secrets);
    return keys.map((row) => {
      const last_used = Math.max(this.#uses.get(row.id)?.time ?? 0, row.last_used ?? 0) || null;
      return toKey({ ...row, last_used }, quotaIn(row), now, byKey.get(row.id));
    });
  }

  /** Searches by hashes, so that the duration reveals nothing about the secrets of other keys. */
  async findAll(secrets: readonly string[]): Promise<readonly Found[]> {
    // Requests that arrive together mostly have one secret.
    const distinct = [...new Set(secrets)];
    const hashes = distinct.map(hashOf);
    // Few lengths, so that few statements have to be prepared.
    const padded = Array.from({ length: 2 ** Math.ceil(Math.log2(hashes.length)) }, (_, i) => hashes[i] ?? hashes[0]!);
    const sql = `SELECT s.hash, s.ends, ${keyAndQuota} FROM {secret} s JOIN {key} k ON k.id = s.key_id
      JOIN {quota} q ON q.id = k.quota_id WHERE s.hash IN (${listOf(padded)})`;
    const [rows, [{ now }]] = await this.database.read(() =>
      ask<[(JoinedRow & Pick<SecretRow, "hash" | "ends">)[], [Clock]]>([sql, ...padded], clock),
    );
    this.#compared(now);
    const foundAt = (hash: Uint8Array): Found => {
      const row = rows.find((row) => timingSafeEqual(row.hash, hash));
      if (row === undefined) return undefined;
      if (!isUsable(row, now) || (row.ends !== null && row.ends <= now)) return "ended";
      return toKey(row, quotaIn(row), now);
    };
    const found = new Map(distinct.map((secret, i) => [secret, foundAt(hashes[i]!)]));
    return secrets.map((secret) => found.get(secret));
  }

  /** Durable. The used units of a quota always equal its usage in the period, all statuses but `quota_exceeded`. */
  async chargeAll(charges: readonly Charge[]): Promise<readonly ChargeOutcome[]> {
    if (charges.length === 0) return [];
    const { fastCharges } = this.database;
    const atOnce = await fastCharges?.chargeAll(charges);
    if (atOnce !== undefined) {
      this.#use(charges, this.#compared(atOnce.now));
      return atOnce.outcomes;
    }
    const { outcomes, rows, now } = await this.database.write(() => charge(charges));
    fastCharges?.learn(rows, now);
    this.#use(charges, this.#compared(now));
    return outcomes;
  }

  /** Later, because storing at once would slow down charges. */
  #use(charges: readonly Charge[], now: number): void {
    for (const { keyId } of charges) this.#noteUse(keyId, now);
    this.#sweepIfDue(now);
  }

  #noteUse(keyId: string, now: number): void {
    const use = this.#uses.get(keyId) ?? { time: now, noted: Number.NEGATIVE_INFINITY };
    use.time = now;
    this.#uses.set(keyId, use);
    if (now - use.noted < notedMilliseconds) return;
    this.#noting ??= setTimeout(() => this.#noteUses(notedMilliseconds), noteDelay).unref();
  }

  /** Does not throw: nothing depends on the times. Skips those stored less than `age` milliseconds ago. */
  async #noteUses(age: number): Promise<void> {
    this.#noting = undefined;
    const uses = [...this.#uses].filter(([, { time, noted }]) => time > noted && time - noted >= age);
    if (uses.length === 0) return;
    for (const [, use] of uses) use.noted = use.time;
    const inOrder = uses.sort(([a], [b]) => (a < b ? -1 : 1));
    await this.database.tryWrite(() => tell(...inOrder.map(([id, { time }]) => noteUse(id, time))));
  }

  /** Sweeps once a minute, and after each charge while more answers are left. No charge waits for it. */
  #sweepIfDue(now: number): void {
    if (now >= this.#sweptAt && now < this.#sweptAt + sweepMilliseconds) return;
    this.#sweptAt = now;
    this.#sweep = this.#sweep
      .then(() => this.database.write(() => deleteAnswers(now)))
      .then((isMore) => {
        if (isMore) this.#sweptAt = Number.NEGATIVE_INFINITY;
      })
      .catch(() => {});
  }

  quotas(owner: QuotaOwner): Quotas {
    return new Quotas(this.database, owner);
  }

  clearDead(isDead: UnitRequest["isDead"]): Promise<void> {
    return clearDead(this.database, isDead);
  }

  /** A power failure may undo it. */
  takeTurns(keyId: string, wanted: number) {
    return this.database.writeFast(() => takeTurns(keyId, wanted));
  }

  async hasAnswer(keyId: string, idempotencyKey: string): Promise<boolean> {
    const [answers, [{ now }]] = await this.database.read(() =>
      ask<[DatedAnswer[], [Clock]]>(selectAnswers(keyId, [hashOf(idempotencyKey)]), clock),
    );
    return answers.some((answer) => isValid(answer, now));
  }

  /** Used units stay. A change of a shared quota affects all of its keys. @throws UnknownKeyError */
  set(id: string, change: KeyChange, who = nobody) {
    return this.database.write(() => setKey(id, change, who));
  }

  /** If the key is already revoked, its `revoked` stays unchanged. @throws UnknownKeyError */
  revoke(id: string, who = nobody) {
    return this.database.write(() => revokeKey(id, who));
  }

  /** The newest secret works for `grace` milliseconds more. @throws SecretExistsError; UnknownKeyError */
  rotate(id: string, grace: number, secretId = newId(), who = nobody) {
    return this.database.write(() => rotateKey(id, grace, secretId, who));
  }

  /** @throws UnknownKeyError when the key has no such secret, or it is its newest */
  endSecret(id: string, secretId: string, who = nobody) {
    return this.database.write(() => endSecret(id, secretId, who));
  }

  usage(query: usage.UsageQuery) {
    return usage.readSums(this.database, query);
  }

  totals(query: usage.UsageQuery) {
    return usage.readTotals(this.database, query);
  }

  /** Yields one span at a time, the oldest first. */
  usageByKey(query: usage.UsageQuery) {
    return usage.readByKey(this.database, query);
  }

  /** Gives units that a run has charged their statuses, as far as they can still be told. */
  async nameUnits(units: usage.NamedUnits): Promise<void> {
    await this.database.write(() => nameUnits(units));
  }

  /** Sums up hours that are over, and folds days older than `keep` milliseconds. Other calls may run meanwhile. */
  async tidyUsage(keep: number): Promise<void> {
    const [[{ now }]] = await this.database.read(() => ask<[[Clock]]>(clock));
    const until = now - keep - ((now - keep) % day);
    for (const step of [() => usage.rollUpHour(now), () => usage.deleteHours(now), () => usage.foldDay(until)]) {
      while (!this.#isClosed && (await this.database.writeFast(step))) await setImmediate();
    }
  }

  /** Records changes of other things than keys: sessions, lists, shared quotas. */
  async record(entry: Omit<AuditEntry, "at">): Promise<void> {
    await this.database.write(function* () {
      const [[{ now }]] = yield* ask<[[Clock]]>(clock);
      yield* tell(auditEntry({ at: now, ...entry }));
    });
  }

  async audit(most: number, since = 0): Promise<readonly AuditEntry[]> {
    const sql = `SELECT at, who, what, key_id AS "keyId" FROM {audit} WHERE at >= ? ORDER BY number DESC LIMIT ?`;
    const [rows] = await this.database.read(() => ask<[AuditEntry[]]>([sql, since, most]));
    return rows;
  }

  /** A line for each disagreement of numbers in the state, as of one moment: runs and servers go on. */
  async check(): Promise<readonly string[]> {
    let problems: readonly string[] = [];
    await this.database.inOne("read", async (run) => {
      problems = await run(checkState());
    });
    return problems;
  }

  /** Reads all as of one moment, in the order of {@link stateTables}. Nothing else may use the store meanwhile. */
  exportRows(visit: (rows: StateRows) => Promise<void>): Promise<void> {
    return this.database.inOne("read", (run) => exportRows(run, visit));
  }

  /** Adds all rows or none. Nothing else may use the store meanwhile. @throws StoreError when it has keys or quotas */
  importRows(pages: AsyncIterable<StateRows>): Promise<void> {
    return this.database.inOne("write", (run) => importRows(run, pages, this.database.name));
  }
}
