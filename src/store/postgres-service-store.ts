/**
 * State of the service in PostgreSQL 13 or newer, for servers on several machines. The clock of the database decides periods
 * and ends, because the clocks of servers differ. Secrets, Idempotency-Keys and request bodies are stored only as hashes.
 */
import { PostgresDatabase, type Query } from "./postgres.js";
import { PostgresCharges } from "./postgres-charges.js";
import { leaveReceipt, newReceipts, PostgresReceipts } from "./postgres-receipts.js";
import {
  addUsage,
  clock,
  insertAnswers,
  insertQuota,
  insertSecret,
  type LockedKey,
  lockQuota,
  steps,
  updateQuota,
} from "./postgres-service-tables.js";
import {
  changeQuota,
  freshRow,
  type Quota,
  type QuotaChange,
  type Reservation,
  renewed,
  toQuota,
} from "./quota.js";
import type { Granted, ReceiptRow, ReceiptStore } from "./receipts.js";
import { hashOf, newId, newSecret, newToken } from "./secrets.js";
import {
  type AnswerRow,
  answerMilliseconds,
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
import {
  holdsBytes,
  keyOf,
  pageStatement,
  type StateRows,
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
  type UsageQuery,
  type UsageSum,
  type UsageTable,
} from "./usage.js";

const usageTable: UsageTable = { name: "idv_usage", mark: "$" };

/** The state in a database that any number of servers may share. */
export class PostgresServiceStore implements ServiceStore {
  readonly runsSideBySide = true;
  readonly #database: PostgresDatabase;
  readonly #charges: PostgresCharges;

  /**
   * Connects, and creates or upgrades the tables.
   *
   * @param url `postgres://` with a host, or without one for the PG* variables
   * @param env the environment, of which PGHOST and PGSSLMODE decide about TLS
   * @throws StoreError when the database cannot be reached or was used by a newer version, or the URL asks for weak TLS
   */
  static async open(
    url: string,
    env: Readonly<Record<string, string | undefined>> = {},
  ): Promise<PostgresServiceStore> {
    return new PostgresServiceStore(await PostgresDatabase.open(url, env, steps));
  }

  private constructor(database: PostgresDatabase) {
    this.#database = database;
    this.#charges = new PostgresCharges(database);
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  async find(secret: string): Promise<ApiKey | undefined> {
    const hash = hashOf(secret);
    const [[{ now }], [row]] = (await this.#database.read(
      [clock],
      [
        `SELECT s.ends, ${keyAndQuota}
        FROM idv_secret s JOIN idv_key k ON k.id = s.key_id JOIN idv_quota q ON q.id = k.quota_id WHERE s.hash = $1`,
        hash,
      ],
    )) as [[{ now: number }], (JoinedRow & Pick<SecretRow, "ends">)[]];
    if (row === undefined || !isUsable(row, now)) return undefined;
    if (row.ends !== null && row.ends <= now) return undefined;
    return toKey(row, quotaIn(row), now);
  }

  chargeAll(charges: readonly Charge[]): Promise<readonly ChargeOutcome[]> {
    return this.#charges.chargeAll(charges);
  }

  async takeUnits(request: UnitRequest): Promise<Reservation & Granted> {
    const { now, reservation } = await this.#database.transaction(async (query, begun) => {
      const keyId = usageIdOf(request.from);
      const [key, row, [stored], [{ now }], news] = (await Promise.all([
        ...lockQuota(query, request.from),
        query(
          "SELECT * FROM idv_answer WHERE key_id = $1 AND idempotency_key_hash = $2",
          ...[keyId, hashOf(request.once)],
        ),
        query(clock),
        // After the quota is locked: no other run can leave one before the end of this transaction.
        request.receipt ? newReceipts(query, keyId, request.receipt) : [],
        begun,
      ])) as unknown as [
        LockedKey,
        NamedQuotaRow | undefined,
        AnswerRow[],
        [{ now: number }],
        readonly ReceiptRow[],
      ];
      if (row === undefined || (key && !isUsable(key, now))) throw noQuota(request.from);
      const quota = renewed(row, now);
      const { reservation, answers, usage, receipt } = applyUnitRequest(quota, stored, request, news, now);
      // Sent together with COMMIT, as in a charge.
      updateQuota(query, quota);
      if (answers.length > 0) insertAnswers(query, answers, now);
      if (usage.length > 0) addUsage(query, usage);
      if (receipt) leaveReceipt(query, keyId, receipt, now);
      return { now, reservation };
    });
    this.#charges.deleteExpiredAnswers(now);
    return reservation;
  }

  async openReceipts(owner: QuotaOwner): Promise<ReceiptStore> {
    const [[row]] = (await this.#database.read(["SELECT secret FROM idv_receipt_secret"])) as [
      [{ secret: Uint8Array }],
    ];
    return new PostgresReceipts(this.#database, usageIdOf(owner), row.secret);
  }

  async quotaOf(owner: QuotaOwner): Promise<Quota> {
    const [[{ now }], [key], [row]] = (await this.#database.read(
      [clock],
      ["SELECT * FROM idv_key WHERE id = $1", "keyId" in owner ? owner.keyId : ""],
      "keyId" in owner
        ? ["SELECT * FROM idv_quota WHERE id = (SELECT quota_id FROM idv_key WHERE id = $1)", owner.keyId]
        : ["SELECT * FROM idv_quota WHERE name = $1", owner.quotaName],
    )) as [[{ now: number }], KeyRow[], NamedQuotaRow[]];
    if (row === undefined || (key && !isUsable(key, now))) throw noQuota(owner);
    return toQuota(renewed(row, now));
  }

  async setSharedQuota(name: string, change: QuotaChange): Promise<Quota> {
    return this.#database.transaction(async (query, begun) => {
      await begun;
      await insertQuota(query, { ...freshRow, id: newId(), name });
      const [[row], [{ now }]] = (await Promise.all([
        query("SELECT * FROM idv_quota WHERE name = $1 FOR NO KEY UPDATE", name),
        query(clock),
      ])) as unknown as [[NamedQuotaRow], [{ now: number }]];
      const quota = renewed(row, now);
      changeQuota(quota, change, now);
      await updateQuota(query, quota);
      await query("UPDATE idv_quota SET version = version + 1 WHERE id = $1", quota.id);
      return toQuota(quota);
    });
  }

  async hasAnswer(keyId: string, idempotencyKey: string): Promise<boolean> {
    const [rows] = await this.#database.read([
      `SELECT 1 FROM idv_answer WHERE key_id = $1 AND idempotency_key_hash = $2
      AND abs(created - (extract(epoch FROM clock_timestamp()) * 1000)::bigint) < $3`,
      ...[keyId, hashOf(idempotencyKey), answerMilliseconds],
    ]);
    return rows!.length > 0;
  }

  async create({ id = newId(), quotaName, ...change }: NewKey) {
    const secret = newSecret(change.isSandbox === true);
    return this.#database.transaction(async (query, begun) => {
      const [[{ now }], found] = (await Promise.all([
        query(clock),
        query("SELECT FROM idv_key WHERE id = $1", id),
        begun,
      ])) as unknown as [[{ now: number }], unknown[]];
      if (found.length > 0) throw new KeyExistsError(id);
      const own: NamedQuotaRow = { ...freshRow, id, name: quotaName ?? null };
      changeQuota(own, change, now);
      const isShared = (await insertQuota(query, own)).length === 0;
      if (isShared && (change.limit !== undefined || change.period !== undefined)) {
        throw quotaExistsError(quotaName!);
      }
      const [quota = own] = isShared
        ? ((await query("SELECT * FROM idv_quota WHERE name = $1", quotaName)) as NamedQuotaRow[])
        : [];
      const key = newKeyRow({ id, ...change }, quota.id, now);
      await query(
        `INSERT INTO idv_key (id, name, permissions, is_sandbox, created, expires, revoked, quota_id)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
        ...[key.id, key.name, key.permissions, key.is_sandbox, key.created, key.expires, key.revoked],
        key.quota_id,
      );
      const row = newSecretRow(id, id, secret, now);
      await insertSecret(query, row);
      return { key: toKey(key, quota, now, { secrets: [row] }), secret };
    });
  }

  async list(): Promise<readonly ApiKey[]> {
    const [[{ now }], rows, secrets] = (await this.#database.read(
      [clock],
      [
        `SELECT ${keyAndQuota},
        (SELECT max(hour) FROM idv_usage WHERE key_id = k.id) AS last_used
        FROM idv_key k JOIN idv_quota q ON q.id = k.quota_id ORDER BY k.created, k.id`,
      ],
      ["SELECT * FROM idv_secret"],
    )) as [[{ now: number }], (JoinedRow & LastUsed)[], SecretRow[]];
    const byKey = secretsByKey(secrets);
    return rows.map((row) =>
      toKey(row, quotaIn(row), now, { secrets: byKey.get(row.id) ?? [], lastUsed: row.last_used }),
    );
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
    const key = await this.#change(
      id,
      () => {},
      async (query, row, secrets, now) => {
        checkRotation(row, secrets, secretId);
        secret = newSecret(row.is_sandbox === 1);
        await query("UPDATE idv_secret SET ends = $2 WHERE key_id = $1 AND ends IS NULL", id, now + grace);
        await query("DELETE FROM idv_secret WHERE key_id = $1 AND ends <= $2", id, now);
        await insertSecret(query, newSecretRow(id, secretId, secret, now));
      },
    );
    return { key, secret };
  }

  async endSecret(id: string, secretId: string): Promise<ApiKey> {
    return this.#change(
      id,
      () => {},
      async (query, _, secrets) => {
        checkEnd(id, secrets, secretId);
        await query("DELETE FROM idv_secret WHERE id = $1", secretId);
      },
    );
  }

  async usage(query: UsageQuery): Promise<readonly UsageSum[]> {
    const [rows] = await this.#database.read(sumsOf(usageTable, query, "status"));
    return rows as UsageSum[];
  }

  async *usageByKey(query: UsageQuery): AsyncGenerator<readonly KeyUsageSum[]> {
    const firstHour = async (rest: UsageQuery) => {
      const [[row]] = (await this.#database.read(firstHourOf(usageTable, rest))) as [
        [{ hour: number | null }],
      ];
      return row.hour ?? undefined;
    };
    for await (const part of partsOf(query, query.span, firstHour)) {
      const [rows] = await this.#database.read(sumsOf(usageTable, part, "key"));
      yield rows as KeyUsageSum[];
    }
  }

  async createSignIn(): Promise<string> {
    const token = newToken();
    await this.#database.read(
      [`DELETE FROM idv_sign_in WHERE expires <= (${clock})`],
      [`DELETE FROM idv_session WHERE expires <= (${clock})`],
      [`INSERT INTO idv_sign_in VALUES ($1, (${clock}) + $2)`, ...[hashOf(token), signInMilliseconds]],
    );
    return token;
  }

  async signIn(token: string): Promise<string | undefined> {
    const secret = newToken();
    const [rows] = await this.#database.read([
      `WITH spent AS (DELETE FROM idv_sign_in WHERE hash = $1 AND expires > (${clock}) RETURNING hash)
      INSERT INTO idv_session SELECT $2, $3, (${clock}) + $4 FROM spent RETURNING id`,
      ...[hashOf(token), hashOf(secret), newId(), sessionMilliseconds],
    ]);
    return rows!.length === 0 ? undefined : secret;
  }

  async sessionOf(secret: string): Promise<string | undefined> {
    const sql = `SELECT id FROM idv_session WHERE hash = $1 AND expires > (${clock})`;
    const [rows] = await this.#database.read([sql, hashOf(secret)]);
    return (rows as { id: string }[])[0]?.id;
  }

  async signOut(secret?: string): Promise<void> {
    if (secret === undefined)
      await this.#database.read(["DELETE FROM idv_sign_in"], ["DELETE FROM idv_session"]);
    else await this.#database.read(["DELETE FROM idv_session WHERE hash = $1", hashOf(secret)]);
  }

  async record({ who, what, keyId }: Omit<AuditEntry, "at">): Promise<void> {
    const sql = `INSERT INTO idv_audit (at, who, what, key_id) VALUES ((${clock}), $1, $2, $3)`;
    await this.#database.read([sql, who, what, keyId]);
  }

  async audit(most: number): Promise<readonly AuditEntry[]> {
    const sql = `SELECT at, who, what, key_id AS "keyId" FROM idv_audit ORDER BY number DESC LIMIT $1`;
    const [rows] = await this.#database.read([sql, most]);
    return rows as AuditEntry[];
  }

  async exportRows(visit: (rows: StateRows) => Promise<void>): Promise<void> {
    await this.#database.transaction(async (query, begun) => {
      await begun;
      await query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
      for (const table of stateTableNames) {
        let last: unknown[] = [];
        for (;;) {
          const sql = pageStatement(table, `idv_${table}`, (index) => `$${index}`, last.length === 0);
          const rows = (await query(sql, ...last)) as Record<string, unknown>[];
          if (rows.length === 0) break;
          await visit({ table, rows: rows.map(toValues) });
          last = keyOf(table, rows.at(-1)!);
        }
      }
    });
  }

  async importRows(pages: AsyncIterable<StateRows>): Promise<void> {
    await this.#database.transaction(async (query, begun) => {
      await begun;
      const found = await query("SELECT id FROM idv_quota UNION ALL SELECT id FROM idv_key LIMIT 1");
      if (found.length > 0) throw stateInUse(this.#database.name);
      for await (const { table, rows } of pages) {
        const { columns } = stateTables[table];
        const stored = rows.map((row) => {
          const storedIn = (column: string) => {
            const value = row[column];
            return typeof value === "string" && holdsBytes(table, column) ? `\\x${value}` : value;
          };
          return Object.fromEntries(columns.map((column) => [column, storedIn(column)]));
        });
        const names = columns.join(", ");
        await query(
          `INSERT INTO idv_${table} (${names}) OVERRIDING SYSTEM VALUE
          SELECT ${names} FROM json_populate_recordset(null::idv_${table}, $1)`,
          JSON.stringify(stored),
        );
      }
      await query(
        "SELECT setval(pg_get_serial_sequence('idv_audit', 'number'), max(number)) FROM idv_audit HAVING max(number) > 0",
      );
    });
  }

  /** Checks that the database can be written, by writing a value that it already has. */
  async checkWritable(): Promise<void> {
    await this.#database.transaction(async (query, begun) => {
      await begun;
      await query("UPDATE idv_schema SET version = version");
    });
  }

  /**
   * Changes a key, its quota and its secrets in one transaction.
   *
   * @throws UnknownKeyError
   */
  #change(
    id: string,
    apply: (key: KeyRow, quota: NamedQuotaRow, now: number) => void,
    applyToSecrets?: (query: Query, key: KeyRow, secrets: readonly SecretRow[], now: number) => Promise<void>,
  ): Promise<ApiKey> {
    // Locks the key first, as charges do.
    return this.#database.transaction(async (query, begun) => {
      const [[key], [quotaRow], [{ now }]] = (await Promise.all([
        query("SELECT * FROM idv_key WHERE id = $1 FOR UPDATE", id),
        query(
          "SELECT * FROM idv_quota WHERE id = (SELECT quota_id FROM idv_key WHERE id = $1) FOR NO KEY UPDATE",
          id,
        ),
        query(clock),
        begun,
      ])) as unknown as [KeyRow[], NamedQuotaRow[], [{ now: number }]];
      if (key === undefined) throw unknownKey(id);
      const quota = renewed(quotaRow!, now);
      apply(key, quota, now);
      await Promise.all([
        query(
          "UPDATE idv_key SET name = $2, permissions = $3, expires = $4, revoked = $5 WHERE id = $1",
          ...[id, key.name, key.permissions, key.expires, key.revoked],
        ),
        updateQuota(query, quota),
        query("UPDATE idv_quota SET version = version + 1 WHERE id = $1", quota.id),
      ]);
      const secretsOf = () => query("SELECT * FROM idv_secret WHERE key_id = $1", id) as Promise<SecretRow[]>;
      await applyToSecrets?.(query, key, await secretsOf(), now);
      return toKey(key, quota, now, { secrets: await secretsOf() });
    });
  }
}
