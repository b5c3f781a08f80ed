/**
 * State file of the service: API keys, their quotas, and the answers stored for Idempotency-Keys. Secrets, Idempotency-Keys
 * and request bodies must be stored only as hashes.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import {
  changeQuota,
  type Quota,
  type QuotaChange,
  type QuotaRow,
  quotaColumns,
  type Reservation,
  renewed,
  takeUnits,
  toQuota,
} from "./quota.js";
import { hashOf, newId, newSecret } from "./secrets.js";
import type { LockWait, Schema } from "./sqlite.js";
import { openFile, StateFile } from "./state-file.js";

/** Operations that a key may be used for. */
const permissions = ["emails", "domains"] as const;
export type Permission = (typeof permissions)[number];

/** An API key without its secret, which is not stored. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly permissions: readonly Permission[];
  /** Whether requests are free of charge and get fixed statuses, for tests of clients. */
  readonly isSandbox: boolean;
  /** Milliseconds since the epoch. */
  readonly created: number;
  /** Milliseconds since the epoch; null for never. */
  readonly expires: number | null;
  /** Milliseconds since the epoch; null for a key that is not revoked. */
  readonly revoked: number | null;
  readonly quota: Quota;
}

/** Properties of a new key, or changes to a key. Absent ones get their defaults or stay as they are. */
export interface KeyChange extends QuotaChange {
  readonly name?: string;
  readonly permissions?: readonly Permission[];
  readonly expires?: number | null;
}

/** A row of `api_key`. */
interface Row extends QuotaRow {
  id: string;
  name: string;
  hash: Uint8Array;
  permissions: string;
  is_sandbox: number;
  created: number;
  expires: number | null;
  revoked: number | null;
}

/** No key has this id. */
export class UnknownKeyError extends Error {
  override readonly name = "UnknownKeyError";
}

const schema: Schema = {
  name: "state file",
  // "idvs"
  applicationId: 0x69647673,
  steps: [
    `CREATE TABLE api_key (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      hash BLOB NOT NULL UNIQUE,
      permissions TEXT NOT NULL,
      is_sandbox INTEGER NOT NULL,
      created INTEGER NOT NULL,
      expires INTEGER,
      revoked INTEGER,
      ${quotaColumns}
    ) STRICT;
    CREATE TABLE answer (
      key_id TEXT NOT NULL,
      idempotency_key_hash BLOB NOT NULL,
      body_hash BLOB NOT NULL,
      statuses TEXT NOT NULL,
      created INTEGER NOT NULL,
      PRIMARY KEY (key_id, idempotency_key_hash)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX answer_created ON answer (created)`,
  ],
};

/**
 * Keys and quotas of a service, in a file that any number of processes may share. Every change is one durable transaction,
 * which all processes see at once. All methods throw StoreError when the file cannot be read or written.
 */
export class KeyStore extends StateFile {
  /**
   * Opens the file. Creates it if it is absent.
   *
   * @param now clock in milliseconds since the epoch
   * @throws StoreError
   */
  static async open(path: string, now: () => number, wait: LockWait = {}): Promise<KeyStore> {
    return new KeyStore(await openFile(path, schema, now, wait));
  }

  /**
   * Creates a key.
   *
   * @returns the key and its secret, which is not stored and cannot be shown again
   */
  async create(
    { name = "", ...change }: KeyChange,
    isSandbox: boolean,
  ): Promise<{ key: ApiKey; secret: string }> {
    const secret = newSecret(isSandbox);
    const row: Row = {
      id: newId(),
      name,
      hash: hashOf(secret),
      permissions: (change.permissions ?? permissions).join(","),
      is_sandbox: Number(isSandbox),
      created: this.file.now(),
      expires: change.expires ?? null,
      revoked: null,
      unit_limit: null,
      period: "none",
      used: 0,
      period_start: 0,
    };
    changeQuota(row, change, this.file.now());
    await this.inWrite(() => this.#put(row));
    return { key: toKey(row), secret };
  }

  /** Returns all keys, the oldest first. */
  async list(): Promise<readonly ApiKey[]> {
    const rows = (await this.inRead(() =>
      this.file.database.prepare("SELECT * FROM api_key ORDER BY created, id").all(),
    )) as Row[];
    return rows.map((row) => toKey(renewed(row, this.file.now())));
  }

  /**
   * Returns the key with this secret, unless it is revoked or expired. Searches by the hash of the secret, so that the time
   * it takes reveals nothing about the secrets of other keys.
   */
  async find(secret: string): Promise<ApiKey | undefined> {
    const hash = hashOf(secret);
    const [row] = (await this.inRead(() =>
      this.file.database.prepare("SELECT * FROM api_key WHERE hash = ?").all(hash),
    )) as Row[];
    if (row === undefined || !timingSafeEqual(row.hash, hash)) return undefined;
    const isExpired = row.expires !== null && row.expires <= this.file.now();
    return row.revoked !== null || isExpired ? undefined : toKey(renewed(row, this.file.now()));
  }

  /**
   * Charges up to `units` to a key, fewer if fewer are left. The charge is durable when this resolves: a crash never gives
   * units back.
   *
   * @param units at least 0
   * @throws UnknownKeyError
   */
  async charge(id: string, units: number): Promise<Reservation> {
    return (await this.#change(id, (row) => takeUnits(row, units))).reservation;
  }

  /**
   * Charges a request with an Idempotency-Key. If the request is repeated within 24 hours, it is not charged again and gets
   * the stored answer.
   *
   * The file stores a hash of the Idempotency-Key, and an HMAC of the body keyed with the Idempotency-Key. Without the
   * Idempotency-Key, a leaked file cannot be used to check guesses at the body.
   *
   * @param units at least 0
   * @param request kind of its items, its Idempotency-Key and the bytes of its body
   * @param statusesOf returns the statuses of the items in order, given the number of units granted
   * @returns the statuses and the quota; or "quota is gone" if no units are left; or "another body" if the Idempotency-Key
   *   was used with a different body
   * @throws UnknownKeyError
   */
  async chargeOnce(
    id: string,
    units: number,
    request: { readonly kind: string; readonly idempotencyKey: string; readonly body: Uint8Array },
    statusesOf: (granted: number) => readonly string[],
  ): Promise<
    { readonly statuses: readonly string[]; readonly quota: Quota } | "quota is gone" | "another body"
  > {
    const { kind, idempotencyKey, body } = request;
    const keyHash = hashOf(idempotencyKey);
    const bodyHash = createHmac("sha256", idempotencyKey).update(`${kind}\n`).update(body).digest();
    let answer: { body_hash: Uint8Array; statuses: string } | undefined;
    const { key } = await this.#change(id, (row) => {
      this.#deleteOldAnswers();
      answer = this.#answer(id, keyHash);
      if (answer !== undefined || toQuota(row).left === 0) return 0;
      const granted = takeUnits(row, units);
      answer = { body_hash: bodyHash, statuses: statusesOf(granted).join(",") };
      this.file.database
        .prepare("INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?, ?)")
        .run(id, keyHash, bodyHash, answer.statuses, this.file.now());
      return granted;
    });
    if (answer === undefined) return "quota is gone";
    if (!bodyHash.equals(answer.body_hash)) return "another body";
    return { statuses: answer.statuses === "" ? [] : answer.statuses.split(","), quota: key.quota };
  }

  /** Returns whether an answer is stored for this Idempotency-Key. If so, the request is free of charge. */
  async hasAnswer(id: string, idempotencyKey: string): Promise<boolean> {
    return (await this.inRead(() => this.#answer(id, hashOf(idempotencyKey)))) !== undefined;
  }

  /** Checks that the file can be written, by writing a value that it already has. */
  async checkWritable(): Promise<void> {
    const { database } = this.file;
    await this.inWrite(() => {
      const [row] = database.prepare("PRAGMA user_version").all() as { user_version: number }[];
      database.exec(`PRAGMA user_version = ${row!.user_version}`);
    });
  }

  /**
   * Changes a key. The used units stay.
   *
   * @throws UnknownKeyError
   */
  async set(id: string, change: KeyChange): Promise<ApiKey> {
    const { key } = await this.#change(id, (row) => {
      if (change.name !== undefined) row.name = change.name;
      if (change.permissions !== undefined) row.permissions = change.permissions.join(",");
      if (change.expires !== undefined) row.expires = change.expires;
      changeQuota(row, change, this.file.now());
      return 0;
    });
    return key;
  }

  /**
   * Revokes a key for good. A key that is already revoked keeps the time of its revocation.
   *
   * @throws UnknownKeyError
   */
  async revoke(id: string): Promise<ApiKey> {
    const { key } = await this.#change(id, (row) => {
      row.revoked ??= this.file.now();
      return 0;
    });
    return key;
  }

  /**
   * Gives a key a new secret. The old secret stops working at once; everything else stays.
   *
   * @throws UnknownKeyError
   */
  async rotate(id: string): Promise<{ key: ApiKey; secret: string }> {
    let secret = "";
    const { key } = await this.#change(id, (row) => {
      secret = newSecret(row.is_sandbox === 1);
      row.hash = hashOf(secret);
      return 0;
    });
    return { key, secret };
  }

  /** Returns the answer stored for an Idempotency-Key, unless it is dated more than 24 hours in the past or the future. */
  #answer(id: string, keyHash: Uint8Array): { body_hash: Uint8Array; statuses: string } | undefined {
    const now = this.file.now();
    const [answer] = this.file.database
      .prepare(
        `SELECT body_hash, statuses FROM answer
        WHERE key_id = ? AND idempotency_key_hash = ? AND created > ? AND created <= ?`,
      )
      .all(id, keyHash, now - answerMilliseconds, now + answerMilliseconds);
    return answer as { body_hash: Uint8Array; statuses: string } | undefined;
  }

  /** Deletes up to `deletedAnswers` expired answers: more than a request adds, and few enough to cause no delay. */
  #deleteOldAnswers(): void {
    this.file.database
      .prepare(
        `DELETE FROM answer WHERE (key_id, idempotency_key_hash) IN
        (SELECT key_id, idempotency_key_hash FROM answer WHERE created <= ? ORDER BY created LIMIT ${deletedAnswers})`,
      )
      .run(this.file.now() - answerMilliseconds);
  }

  /**
   * Changes a key in one transaction. `apply` returns the number of units that it charges.
   *
   * @throws UnknownKeyError
   */
  #change(id: string, apply: (row: Row) => number): Promise<{ key: ApiKey; reservation: Reservation }> {
    return this.inWrite(() => {
      const [found] = this.file.database.prepare("SELECT * FROM api_key WHERE id = ?").all(id) as Row[];
      if (found === undefined) throw new UnknownKeyError(`no key "${id}"; run idv keys list to see all keys`);
      const row = renewed(found, this.file.now());
      const granted = apply(row);
      this.#put(row);
      const key = toKey(row);
      return { key, reservation: { granted, quota: key.quota } };
    });
  }

  #put(row: Row): void {
    this.file.database
      .prepare("INSERT OR REPLACE INTO api_key VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .run(
        ...[
          row.id,
          row.name,
          row.hash,
          row.permissions,
          row.is_sandbox,
          row.created,
          row.expires,
          row.revoked,
        ],
        ...[row.unit_limit, row.period, row.used, row.period_start],
      );
  }
}

/** Time for which an answer is stored, in milliseconds. It holds only statuses, no items. */
const answerMilliseconds = 86_400_000;
/** Limit on the answers that one request deletes: deleting 50,000 at once stopped a server for 1.7 s. */
const deletedAnswers = 20;

function toKey(row: Row): ApiKey {
  const { id, name, created, expires, revoked } = row;
  return {
    ...{ id, name, created, expires, revoked },
    permissions: row.permissions.split(",") as Permission[],
    isSandbox: row.is_sandbox === 1,
    quota: toQuota(row),
  };
}
