/** State of the service in a SQLite file. Secrets, Idempotency-Keys and request bodies must be stored only as hashes. */
import { timingSafeEqual } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { StoreError } from "./errors.js";
import {
  changeQuota,
  freshRow,
  type Quota,
  type QuotaChange,
  type Reservation,
  renewed,
  toQuota,
} from "./quota.js";
import type { Granted, ReceiptStore } from "./receipts.js";
import { hashOf, newId, newSecret, newToken } from "./secrets.js";
import {
  type AnswerRow,
  answerKey,
  answerMilliseconds,
  applyCharges,
  applyUnitRequest,
  changeKey,
  checkEnd,
  checkRotation,
  isUsable,
  type JoinedRow,
  type KeyRow,
  keyAndQuota,
  type LastUsed,
  type NamedQuotaRow,
  newKeyRow,
  newSecretRow,
  noQuota,
  quotaExistsError,
  quotaIn,
  type SecretRow,
  secretsByKey,
  toKey,
  unknownKey,
} from "./service-rules.js";
import {
  type ApiKey,
  type AuditEntry,
  type Charge,
  type ChargeOutcome,
  type KeyChange,
  KeyExistsError,
  type NewKey,
  type QuotaOwner,
  type ServiceStore,
  sessionMilliseconds,
  signInMilliseconds,
  type UnitRequest,
  usageIdOf,
} from "./service-store.js";
import { damaged, type LockWait } from "./sqlite.js";
import { leaveReceipt, newReceipts, SqliteReceipts } from "./sqlite-receipts.js";
import { schema } from "./sqlite-service-tables.js";
import { openFile, type Parameter, StateFile } from "./state-file.js";
import {
  holdsBytes,
  keyOf,
  pageStatement,
  type StateRows,
  type StateTableName,
  stateInUse,
  stateTableNames,
  stateTables,
  toValues,
} from "./state-rows.js";
import {
  firstHourOf,
  type KeyUsageSum,
  partsOf,
  sumsOf,
  type Usage,
  type UsageQuery,
  type UsageSum,
  type UsageTable,
} from "./usage.js";

/** Names of the tables in the file. */
const tableNames: Readonly<Record<StateTableName, string>> = {
  ...{ quota: "quota", key: "api_key", secret: "secret", answer: "answer", usage: "usage", audit: "audit" },
};

const usageTable: UsageTable = { name: "usage", mark: "?" };

/** Most usage that is added up in one go, in milliseconds: others wait for it. */
const partMilliseconds = 6 * 3_600_000;

/** Time between two deletions of old answers, in milliseconds, and their largest number in one transaction. */
const [sweepMilliseconds, sweptAnswers] = [60_000, 1000];

/** The state in a file that any number of processes on one machine may share. */
export class SqliteServiceStore extends StateFile implements ServiceStore {
  readonly runsSideBySide = false;
  #sweptAt = Number.NEGATIVE_INFINITY;

  /**
   * Opens the file. Creates it if it is absent, and upgrades it if it is older.
   *
   * @param now clock in milliseconds since the epoch
   * @throws StoreError
   */
  static async open(path: string, now: () => number, wait: LockWait = {}): Promise<SqliteServiceStore> {
    return new SqliteServiceStore(await openFile(path, schema, now, wait));
  }

  async create({ id = newId(), quotaName, ...change }: NewKey) {
    const secret = newSecret(change.isSandbox === true);
    const now = this.file.now();
    return this.inWrite(() => {
      if (this.#read(id) !== undefined) throw new KeyExistsError(id);
      const shared = quotaName === undefined ? undefined : this.#quotaNamed(quotaName);
      if (shared !== undefined && (change.limit !== undefined || change.period !== undefined)) {
        throw quotaExistsError(quotaName!);
      }
      const quota: NamedQuotaRow = shared ?? { ...freshRow, id, name: quotaName ?? null };
      changeQuota(quota, change, now);
      const key = newKeyRow({ id, ...change }, quota.id, now);
      if (shared === undefined) this.#putQuota(quota);
      this.#putKey(key);
      const row = newSecretRow(id, id, secret, now);
      this.#addSecret(row);
      return { key: toKey(key, quota, now, { secrets: [row] }), secret };
    });
  }

  async list(): Promise<readonly ApiKey[]> {
    const now = this.file.now();
    return this.inRead(() => {
      const keys = this.all(
        `SELECT *, (SELECT hour FROM usage WHERE key_id = id AND kind <> 'unknown' ORDER BY hour DESC LIMIT 1) AS last_used
        FROM api_key ORDER BY created, id`,
      ) as (KeyRow & LastUsed)[];
      const quotas = new Map(
        (this.all("SELECT * FROM quota") as NamedQuotaRow[]).map((quota) => [quota.id, quota]),
      );
      const secrets = secretsByKey(this.all("SELECT * FROM secret") as SecretRow[]);
      return keys.map((key) =>
        toKey(key, quotas.get(key.quota_id)!, now, {
          secrets: secrets.get(key.id) ?? [],
          lastUsed: key.last_used,
        }),
      );
    });
  }

  /** Searches by the hash of the secret, so that the time it takes reveals nothing about the secrets of other keys. */
  async find(secret: string): Promise<ApiKey | undefined> {
    const hash = hashOf(secret);
    const now = this.file.now();
    return this.inRead(() => {
      const [row] = this.all(
        `SELECT s.hash, s.ends, ${keyAndQuota} FROM secret s JOIN api_key k ON k.id = s.key_id
        JOIN quota q ON q.id = k.quota_id WHERE s.hash = ?`,
        hash,
      ) as (JoinedRow & Pick<SecretRow, "hash" | "ends">)[];
      if (row === undefined || !timingSafeEqual(row.hash, hash) || !isUsable(row, now)) return;
      if (row.ends !== null && row.ends <= now) return;
      return toKey(row, quotaIn(row), now);
    });
  }

  async chargeAll(charges: readonly Charge[]): Promise<readonly ChargeOutcome[]> {
    return this.inWrite(() => {
      const now = this.file.now();
      this.#sweep(now);
      const keys = new Map<string, KeyRow>();
      const quotas = new Map<string, NamedQuotaRow>();
      const answers = new Map<string, AnswerRow>();
      for (const { keyId, once } of charges) {
        if (!keys.has(keyId)) {
          const found = this.#read(keyId);
          if (found === undefined) continue;
          keys.set(keyId, found.key);
          if (!quotas.has(found.quota.id)) quotas.set(found.quota.id, renewed(found.quota, now));
        }
        const hash = once && hashOf(once.idempotencyKey);
        const answer = hash && this.#answer(keyId, hash, now);
        if (answer !== undefined) answers.set(answerKey(keyId, hash!), answer);
      }
      const result = applyCharges({ keys, quotas, answers }, charges, now);
      for (const quota of quotas.values()) this.#updateQuota(quota);
      this.#putAnswers(result.answers, now);
      this.#addUsage(result.usage);
      return result.outcomes;
    });
  }

  async takeUnits(request: UnitRequest): Promise<Reservation & Granted> {
    return this.inWrite(() => {
      const now = this.file.now();
      const usageId = usageIdOf(request.from);
      const news = request.receipt ? newReceipts(this.receiptAccess, usageId, request.receipt) : [];
      // Only its own: a run may have another clock than the service, and answers must count for a day.
      if ("quotaName" in request.from) this.#sweep(now, usageId);
      const quota = this.#quotaOf(request.from, now);
      const stored = this.#answer(usageId, hashOf(request.once), now);
      const { reservation, answers, usage, receipt } = applyUnitRequest(quota, stored, request, news, now);
      this.#updateQuota(quota);
      this.#putAnswers(answers, now);
      this.#addUsage(usage);
      leaveReceipt(this.receiptAccess, usageId, receipt, now);
      return reservation;
    });
  }

  async openReceipts(owner: QuotaOwner): Promise<ReceiptStore> {
    const [row] = (await this.inRead(() => this.all("SELECT secret FROM receipt_secret"))) as {
      secret: Uint8Array;
    }[];
    if (row === undefined) throw damaged(this.file.path, schema);
    return new SqliteReceipts(this.receiptAccess, usageIdOf(owner), row.secret);
  }

  async quotaOf(owner: QuotaOwner): Promise<Quota> {
    const now = this.file.now();
    return this.inRead(() => toQuota(this.#quotaOf(owner, now)));
  }

  async setSharedQuota(name: string, change: QuotaChange): Promise<Quota> {
    return this.inWrite(() => {
      const now = this.file.now();
      if (this.#quotaNamed(name) === undefined) this.#putQuota({ ...freshRow, id: newId(), name });
      const quota = this.#quotaOf({ quotaName: name }, now);
      changeQuota(quota, change, now);
      this.#updateQuota(quota);
      return toQuota(quota);
    });
  }

  async hasAnswer(keyId: string, idempotencyKey: string): Promise<boolean> {
    const now = this.file.now();
    return this.inRead(() => this.#answer(keyId, hashOf(idempotencyKey), now) !== undefined);
  }

  async usage(query: UsageQuery): Promise<readonly UsageSum[]> {
    const sums: UsageSum[] = [];
    for await (const part of this.#usage(query, "status")) sums.push(...part);
    return sums;
  }

  usageByKey(query: UsageQuery): AsyncGenerator<readonly KeyUsageSum[]> {
    return this.#usage(query, "key") as AsyncGenerator<readonly KeyUsageSum[]>;
  }

  /** Yields sums of usage, those of one span at a time. SQLite reads in this thread: others have their turn between parts. */
  async *#usage(query: UsageQuery, by: "status" | "key"): AsyncGenerator<readonly UsageSum[]> {
    const firstHour = async (rest: UsageQuery) => {
      await setImmediate();
      const [row] = (await this.inRead(() => this.all(...firstHourOf(usageTable, rest)))) as {
        hour: number | null;
      }[];
      return row?.hour ?? undefined;
    };
    let sums = new Map<string, UsageSum>();
    let start: number | undefined;
    for await (const part of partsOf(query, Math.min(query.span, partMilliseconds), firstHour)) {
      const rows = (await this.inRead(() => this.all(...sumsOf(usageTable, part, by)))) as KeyUsageSum[];
      if (start !== undefined && rows[0]?.start !== start) {
        yield [...sums.values()];
        sums = new Map();
      }
      start = rows[0]?.start;
      for (const row of rows) {
        const id = `${row.status} ${row.kind} ${row.keyId}`;
        sums.set(id, { ...row, units: row.units + (sums.get(id)?.units ?? 0) });
      }
    }
    if (sums.size > 0) yield [...sums.values()];
  }

  async createSignIn(): Promise<string> {
    const [token, now] = [newToken(), this.file.now()];
    await this.inWrite(() => {
      this.run("DELETE FROM sign_in WHERE expires <= ?", now);
      this.run("DELETE FROM session WHERE expires <= ?", now);
      this.run("INSERT INTO sign_in VALUES (?, ?)", hashOf(token), now + signInMilliseconds);
    });
    return token;
  }

  async signIn(token: string): Promise<string | undefined> {
    const [secret, now] = [newToken(), this.file.now()];
    return this.inWrite(() => {
      if (this.run("DELETE FROM sign_in WHERE hash = ? AND expires > ?", hashOf(token), now) === 0) return;
      const end = now + sessionMilliseconds;
      this.run("INSERT INTO session VALUES (?, ?, ?)", hashOf(secret), newId(), end);
      return secret;
    });
  }

  async sessionOf(secret: string): Promise<string | undefined> {
    const now = this.file.now();
    const [row] = await this.inRead(() =>
      this.all("SELECT id FROM session WHERE hash = ? AND expires > ?", hashOf(secret), now),
    );
    return (row as { id: string } | undefined)?.id;
  }

  async signOut(secret?: string): Promise<void> {
    await this.inWrite(() => {
      if (secret !== undefined) return this.run("DELETE FROM session WHERE hash = ?", hashOf(secret));
      this.run("DELETE FROM sign_in");
      return this.run("DELETE FROM session");
    });
  }

  async record({ who, what, keyId }: Omit<AuditEntry, "at">): Promise<void> {
    const now = this.file.now();
    await this.inWrite(() => this.run("INSERT INTO audit VALUES (NULL, ?, ?, ?, ?)", now, who, what, keyId));
  }

  async audit(most: number): Promise<readonly AuditEntry[]> {
    const sql = "SELECT at, who, what, key_id AS keyId FROM audit ORDER BY number DESC LIMIT ?";
    return (await this.inRead(() => this.all(sql, most))) as AuditEntry[];
  }

  async exportRows(visit: (rows: StateRows) => Promise<void>): Promise<void> {
    await this.inLongTransaction("BEGIN", async () => {
      for (const table of stateTableNames) {
        let last: Parameter[] | undefined;
        for (;;) {
          const sql = pageStatement(table, tableNames[table], () => "?", last === undefined);
          const rows = this.all(sql, ...(last ?? [])) as Record<string, Parameter>[];
          if (rows.length === 0) break;
          await visit({ table, rows: rows.map(toValues) });
          last = keyOf(table, rows.at(-1)!);
        }
      }
    });
  }

  async importRows(pages: AsyncIterable<StateRows>): Promise<void> {
    await this.inLongTransaction("BEGIN IMMEDIATE", async () => {
      if (this.all("SELECT id FROM quota UNION ALL SELECT id FROM api_key LIMIT 1").length > 0) {
        throw stateInUse(this.file.path);
      }
      for await (const { table, rows } of pages) {
        const { columns } = stateTables[table];
        const places = columns.map(() => "?").join(", ");
        const sql = `INSERT INTO ${tableNames[table]} (${columns.join(", ")}) VALUES (${places})`;
        for (const row of rows) {
          const stored = (column: string) => {
            const value = row[column]!;
            return typeof value === "string" && holdsBytes(table, column) ? Buffer.from(value, "hex") : value;
          };
          this.run(sql, ...columns.map(stored));
        }
      }
      const [lost] = this.all("SELECT id FROM api_key WHERE quota_id NOT IN (SELECT id FROM quota) LIMIT 1");
      if (lost) throw new StoreError(`key ${(lost as { id: string }).id} has no quota`);
      const [stray] = this.all("SELECT id FROM secret WHERE key_id NOT IN (SELECT id FROM api_key) LIMIT 1");
      if (stray) throw new StoreError(`secret ${(stray as { id: string }).id} has no key`);
    });
  }

  /** Checks that the file can be written, by writing a value that it already has. */
  async checkWritable(): Promise<void> {
    const { database } = this.file;
    await this.inWrite(() => {
      const [row] = database.prepare("PRAGMA user_version").all() as { user_version: number }[];
      database.exec(`PRAGMA user_version = ${row!.user_version}`);
    });
  }

  async set(id: string, change: KeyChange): Promise<ApiKey> {
    return this.#change(id, (key, quota, now) => changeKey(key, quota, change, now));
  }

  async revoke(id: string): Promise<ApiKey> {
    return this.#change(id, (key, _, now) => {
      key.revoked ??= now;
    });
  }

  async rotate(id: string, grace: number, secretId = newId()): Promise<{ key: ApiKey; secret: string }> {
    let secret = "";
    const key = await this.#change(id, (row, _, now) => {
      checkRotation(row, this.#secretsOf(id), secretId);
      secret = newSecret(row.is_sandbox === 1);
      this.run("UPDATE secret SET ends = ? WHERE key_id = ? AND ends IS NULL", now + grace, id);
      this.run("DELETE FROM secret WHERE key_id = ? AND ends <= ?", id, now);
      this.#addSecret(newSecretRow(id, secretId, secret, now));
    });
    return { key, secret };
  }

  async endSecret(id: string, secretId: string): Promise<ApiKey> {
    return this.#change(id, () => {
      checkEnd(id, this.#secretsOf(id), secretId);
      this.run("DELETE FROM secret WHERE id = ?", secretId);
    });
  }

  /**
   * Changes a key and its quota in one transaction.
   *
   * @throws UnknownKeyError
   */
  #change(id: string, apply: (key: KeyRow, quota: NamedQuotaRow, now: number) => void): Promise<ApiKey> {
    return this.inWrite(() => {
      const now = this.file.now();
      const found = this.#read(id);
      if (found === undefined) throw unknownKey(id);
      const { key } = found;
      const quota = renewed(found.quota, now);
      apply(key, quota, now);
      this.#putKey(key);
      this.#updateQuota(quota);
      return toKey(key, quota, now, { secrets: this.#secretsOf(id) });
    });
  }

  /** Returns a key and its quota. */
  #read(id: string): { readonly key: KeyRow; readonly quota: NamedQuotaRow } | undefined {
    const [row] = this.all(
      `SELECT ${keyAndQuota} FROM api_key k JOIN quota q ON q.id = k.quota_id WHERE k.id = ?`,
      id,
    ) as JoinedRow[];
    return row && { key: row, quota: quotaIn(row) };
  }

  #secretsOf(keyId: string): SecretRow[] {
    return this.all("SELECT * FROM secret WHERE key_id = ?", keyId) as SecretRow[];
  }

  #addSecret({ id, key_id, hash, hint, created, ends }: SecretRow): void {
    this.run("INSERT INTO secret VALUES (?, ?, ?, ?, ?, ?)", id, key_id, hash, hint, created, ends);
  }

  /**
   * Returns the row of a quota, brought up to date.
   *
   * @throws UnknownKeyError
   */
  #quotaOf(owner: QuotaOwner, now: number): NamedQuotaRow {
    if ("quotaName" in owner) {
      const row = this.#quotaNamed(owner.quotaName);
      if (row === undefined) throw noQuota(owner);
      return renewed(row, now);
    }
    const found = this.#read(owner.keyId);
    if (found === undefined || !isUsable(found.key, now)) throw noQuota(owner);
    return renewed(found.quota, now);
  }

  #putAnswers(answers: readonly AnswerRow[], now: number): void {
    for (const { key_id, idempotency_key_hash, body_hash, statuses } of answers) {
      this.run(
        "INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?, ?)",
        ...[key_id, idempotency_key_hash, body_hash, statuses, now],
      );
    }
  }

  #addUsage(usage: readonly Usage[]): void {
    for (const { keyId, hour, kind, status, units } of usage) {
      this.run(
        "INSERT INTO usage VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET units = units + excluded.units",
        ...[keyId, hour, kind, status, units],
      );
    }
  }

  #quotaNamed(name: string): NamedQuotaRow | undefined {
    return (this.all("SELECT * FROM quota WHERE name = ?", name) as NamedQuotaRow[])[0];
  }

  #putKey(key: KeyRow): void {
    this.run(
      "INSERT OR REPLACE INTO api_key VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      ...[key.id, key.name, key.permissions, key.is_sandbox, key.created, key.expires, key.revoked],
      key.quota_id,
    );
  }

  #putQuota({ id, name, unit_limit, period, used, period_start }: NamedQuotaRow): void {
    this.run("INSERT INTO quota VALUES (?, ?, ?, ?, ?, ?)", id, name, unit_limit, period, used, period_start);
  }

  #updateQuota({ id, unit_limit, period, used, period_start }: NamedQuotaRow): void {
    this.run(
      "UPDATE quota SET unit_limit = ?, period = ?, used = ?, period_start = ? WHERE id = ?",
      ...[unit_limit, period, used, period_start, id],
    );
  }

  /** Returns the answer stored for an Idempotency-Key, unless it is dated more than 24 hours in the past or the future. */
  #answer(keyId: string, keyHash: Uint8Array, now: number): AnswerRow | undefined {
    const [answer] = this.all(
      "SELECT * FROM answer WHERE key_id = ? AND idempotency_key_hash = ? AND created > ? AND created <= ?",
      ...[keyId, keyHash, now - answerMilliseconds, now + answerMilliseconds],
    );
    return answer as AnswerRow | undefined;
  }

  /**
   * Deletes expired answers, in pieces that cause no delay: 50,000 at once stopped a server for 1.7 s. They are deleted a day later
   * than they are forgotten, and by the newest of them: a clock that is a day ahead, or far ahead for a moment, deletes none that
   * counts.
   *
   * @param keyId deletes those of this key only
   */
  #sweep(now: number, keyId: string | null = null): void {
    if (now < this.#sweptAt + sweepMilliseconds && now >= this.#sweptAt) return;
    const deleted = this.run(
      `DELETE FROM answer WHERE (key_id, idempotency_key_hash) IN
      (SELECT key_id, idempotency_key_hash FROM answer
      WHERE created <= min(?, (SELECT max(created) FROM answer)) - ${2 * answerMilliseconds}
      AND (? IS NULL OR key_id = ?) ORDER BY created LIMIT ${sweptAnswers})`,
      ...[now, keyId, keyId],
    );
    // With more to delete, the next charge goes on.
    if (deleted < sweptAnswers) this.#sweptAt = now;
  }
}
