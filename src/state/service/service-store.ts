/**
 * Port of the service to its state: API keys, quotas, answers stored for Idempotency-Keys, and usage. Must not know how
 * they are stored, nor the rules of a charge, which are in rules.ts. Times are in milliseconds since the epoch.
 *
 * All methods are asynchronous although SQLite is not: a lock that another process holds stops neither the service nor Ctrl-C.
 */
import type { PoolState } from "../postgres/database.js";
import type { Quotas } from "../quota/quotas.js";
import type { UnitRequest } from "../quota/reservations.js";
import type {
  ApiKey,
  AuditEntry,
  Charge,
  ChargeOutcome,
  Found,
  KeyChange,
  KeyLimit,
  NewKey,
  QuotaOwner,
} from "./api-key.js";
import type { StateRows } from "./database/state-rows.js";
import type { ListStore } from "./lists.js";
import type { Turns } from "./rates.js";
import type { SessionStore } from "./sessions.js";
import type { KeyTotal, KeyUsageSum, NamedUnits, UsageQuery, UsageSum } from "./usage.js";

/** State of a service that any number of processes may share. All methods throw StoreError when it cannot be used. */
export interface ServiceStore {
  /** See ServiceDatabase. */
  readonly isServer: boolean;
  readonly lists: ListStore;
  readonly sessions: SessionStore;
  /** State of the connections; undefined for a file. */
  readonly pool: PoolState | undefined;
  /**
   * Returns the time in milliseconds since the epoch by the clock that decides about periods and expiry: that of a
   * shared database, as of the last look at it.
   */
  now(): number;
  /** Returns the key with each secret. */
  findAll(secrets: readonly string[]): Promise<readonly Found[]>;
  /** Returns the usable keys whose quota has a limit. */
  limits(): Promise<readonly KeyLimit[]>;
  /**
   * Makes charges in one durable transaction, in order. The units that a quota has counted in its period always equal
   * the sum of the usage since the start of the period, over all statuses but `quota_exceeded`.
   */
  chargeAll(charges: readonly Charge[]): Promise<readonly ChargeOutcome[]>;
  /** Returns the quota of a key, or one with a name, and the reservations of runs in it. */
  quotas(owner: QuotaOwner): Quotas;
  /** Gives back what dead runs held. */
  clearDead(isDead: UnitRequest["isDead"]): Promise<void>;
  /** Takes turns for requests of a key with a rate. A power failure may undo it. */
  takeTurns(keyId: string, wanted: number): Promise<Turns>;
  hasAnswer(keyId: string, idempotencyKey: string): Promise<boolean>;
  /**
   * Creates a key. This and each other change of a key is in the audit, in the same transaction.
   *
   * @param who author of the change
   * @returns the key and its secret, which is not stored and cannot be shown again
   * @throws KeyExistsError when there is a key with this id
   * @throws UnknownKeyError when the named quota exists and a limit or period is given
   */
  create(key: NewKey, who?: string): Promise<{ key: ApiKey; secret: string }>;
  list(): Promise<readonly ApiKey[]>;
  /**
   * Changes a key. Used units stay. A change of a shared quota affects all of its keys.
   *
   * @throws UnknownKeyError
   */
  set(id: string, change: KeyChange, who?: string): Promise<ApiKey>;
  /**
   * Revokes a key for good. If it is already revoked, its `revoked` stays unchanged.
   *
   * @throws UnknownKeyError
   */
  revoke(id: string, who?: string): Promise<ApiKey>;
  /**
   * Gives a key a new secret. The newest before it works for another `grace` milliseconds; older ones keep their ends.
   *
   * @param secretId id of the secret, from {@link newId}; a new one by default
   * @throws SecretExistsError when there is a secret with this id
   * @throws UnknownKeyError when there is no such key, or it is revoked
   */
  rotate(
    id: string,
    grace: number,
    secretId?: string,
    who?: string,
  ): Promise<{ key: ApiKey; secret: string }>;
  /**
   * Ends a rotated secret before its time.
   *
   * @throws UnknownKeyError when the key has no such secret, or it is its newest
   */
  endSecret(id: string, secretId: string, who?: string): Promise<ApiKey>;
  /** Returns the units by span and status, the oldest first. */
  usage(query: UsageQuery): Promise<readonly UsageSum[]>;
  /** Returns the units of each key by status, in a whole time range. */
  totals(query: UsageQuery): Promise<readonly KeyTotal[]>;
  /** Yields the units of one span at a time by key, kind and status, the oldest span first. */
  usageByKey(query: UsageQuery): AsyncIterable<readonly KeyUsageSum[]>;
  /** Gives units that a run has charged their statuses, as far as they can still be told. */
  nameUnits(units: NamedUnits): Promise<void>;
  /**
   * Adds the usage of hours that are over to the sums, deletes old hours, and folds days that are older than `keep`
   * milliseconds. Other calls may run meanwhile.
   */
  tidyUsage(keep: number): Promise<void>;
  /** Adds an entry about what is no change of a key: sessions, lists, shared quotas. */
  record(entry: Omit<AuditEntry, "at">): Promise<void>;
  /**
   * Returns the latest entries of the audit, the newest first.
   *
   * @param since milliseconds since the epoch
   */
  audit(most: number, since?: number): Promise<readonly AuditEntry[]>;
  /**
   * Reads everything, as of one moment. Nothing else may use the store meanwhile.
   *
   * @param visit is awaited with up to {@link rowsAtOnce} rows at a time, in the order of {@link stateTables}
   */
  exportRows(visit: (rows: StateRows) => Promise<void>): Promise<void>;
  /**
   * Adds rows to a state without keys and quotas, all or none. Nothing else may use the store meanwhile.
   *
   * @param pages at most {@link rowsAtOnce} rows each; quotas must come before their keys
   * @throws StoreError when the state is not empty, or a row is not valid
   */
  importRows(pages: AsyncIterable<StateRows>): Promise<void>;
  /** Returns a line for each disagreement of numbers in the state. */
  check(): Promise<readonly string[]>;
  checkWritable(): Promise<void>;
  close(): Promise<void>;
}
