/**
 * Port of the service to its state. Asynchronous, so that a lock held by another process stops neither the service nor
 * Ctrl-C. Times are in milliseconds since the epoch. All methods throw StoreError when the state cannot be used.
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

export interface ServiceStore {
  readonly isServer: boolean;
  readonly lists: ListStore;
  readonly sessions: SessionStore;
  readonly pool: PoolState | undefined;
  /** Returns the time by the clock that decides: that of a shared database, as of the last look at it. */
  now(): number;
  findAll(secrets: readonly string[]): Promise<readonly Found[]>;
  limits(): Promise<readonly KeyLimit[]>;
  /** Durable. The used units of a quota always equal its usage in the period, all statuses but `quota_exceeded`. */
  chargeAll(charges: readonly Charge[]): Promise<readonly ChargeOutcome[]>;
  quotas(owner: QuotaOwner): Quotas;
  clearDead(isDead: UnitRequest["isDead"]): Promise<void>;
  /** A power failure may undo it. */
  takeTurns(keyId: string, wanted: number): Promise<Turns>;
  hasAnswer(keyId: string, idempotencyKey: string): Promise<boolean>;
  /** The secret cannot be shown again. @throws KeyExistsError; UnknownKeyError when a shared quota would change */
  create(key: NewKey, who?: string): Promise<{ key: ApiKey; secret: string }>;
  list(): Promise<readonly ApiKey[]>;
  /** Used units stay. A change of a shared quota affects all of its keys. @throws UnknownKeyError */
  set(id: string, change: KeyChange, who?: string): Promise<ApiKey>;
  /** If the key is already revoked, its `revoked` stays unchanged. @throws UnknownKeyError */
  revoke(id: string, who?: string): Promise<ApiKey>;
  /** The newest secret works for `grace` milliseconds more. @throws SecretExistsError; UnknownKeyError */
  rotate(id: string, grace: number, secretId?: string, who?: string): Promise<{ key: ApiKey; secret: string }>;
  /** @throws UnknownKeyError when the key has no such secret, or it is its newest */
  endSecret(id: string, secretId: string, who?: string): Promise<ApiKey>;
  usage(query: UsageQuery): Promise<readonly UsageSum[]>;
  totals(query: UsageQuery): Promise<readonly KeyTotal[]>;
  /** Yields one span at a time, the oldest first. */
  usageByKey(query: UsageQuery): AsyncIterable<readonly KeyUsageSum[]>;
  /** Gives units that a run has charged their statuses, as far as they can still be told. */
  nameUnits(units: NamedUnits): Promise<void>;
  /** Sums up hours that are over, and folds days older than `keep` milliseconds. Other calls may run meanwhile. */
  tidyUsage(keep: number): Promise<void>;
  /** Records changes of other things than keys: sessions, lists, shared quotas. */
  record(entry: Omit<AuditEntry, "at">): Promise<void>;
  audit(most: number, since?: number): Promise<readonly AuditEntry[]>;
  /** Reads all as of one moment, in the order of {@link stateTables}. Nothing else may use the store meanwhile. */
  exportRows(visit: (rows: StateRows) => Promise<void>): Promise<void>;
  /** Adds all rows or none. Nothing else may use the store meanwhile. @throws StoreError when it has keys or quotas */
  importRows(pages: AsyncIterable<StateRows>): Promise<void>;
  /** A line for each disagreement of numbers in the state. */
  check(): Promise<readonly string[]>;
  checkWritable(): Promise<void>;
  examine(): Promise<void>;
  close(): Promise<void>;
}
