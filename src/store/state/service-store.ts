/**
 * Port of the service to its state: API keys, quotas, answers stored for Idempotency-Keys, and usage. Must not know how
 * they are stored, nor the rules of a charge, which are in rules.ts. Times are in milliseconds since the epoch.
 */
import type { PoolState } from "../postgres/database.js";
import type { Quota, QuotaChange } from "../quota/quota.js";
import type { Quotas } from "../quota/quotas.js";
import type { UnitRequest } from "../quota/reservations.js";
import type { ListStore } from "./lists.js";
import type { RequestRate, Turns } from "./rates.js";
import type { SessionStore } from "./sessions.js";
import type { StateRows } from "./state-rows.js";
import type { KeyTotal, KeyUsageSum, NamedUnits, UsageQuery, UsageSum } from "./usage.js";

export const permissions = ["emails", "domains"] as const;
export type Permission = (typeof permissions)[number];

/** Public data of a secret, which is not stored itself. */
export interface SecretFacts {
  readonly id: string;
  /** Start and end of the secret, by which people recognise it; empty for secrets older than hints. */
  readonly hint: string;
  readonly created: number;
  /** End of its validity; null for the newest secret of a key. */
  readonly ends: number | null;
}

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  /** Valid secrets, the newest first; empty if they were not looked up. */
  readonly secrets: readonly SecretFacts[];
  readonly permissions: readonly Permission[];
  /** Whether requests are free of charge and get fixed statuses, for tests of clients. */
  readonly isSandbox: boolean;
  readonly created: number;
  readonly expires: number | null;
  readonly revoked: number | null;
  /** Time of the last charge, to the minute; null if no charge is known. */
  readonly lastUsed: number | null;
  /** Most requests in a time; null for any number. */
  readonly rate: RequestRate | null;
  /** Name of a shared quota; null if the key has its own. */
  readonly quotaName: string | null;
  readonly quota: Quota;
}

/** Key with a secret; "ended" if the key or the secret is revoked or expired; undefined if there is none. */
export type Found = ApiKey | "ended" | undefined;

export interface LimitedQuota extends Quota {
  readonly limit: number;
  readonly left: number;
}

/** A key and its quota. */
export interface KeyLimit extends LimitedQuota {
  readonly id: string;
}

/** Properties of a new key, or changes to a key. Absent properties get their defaults or stay unchanged. */
export interface KeyChange extends QuotaChange {
  readonly name?: string;
  readonly permissions?: readonly Permission[];
  readonly expires?: number | null;
  readonly rate?: RequestRate | null;
}

export interface NewKey extends KeyChange {
  /** Id of the key, from {@link newId}; a new one by default. */
  readonly id?: string;
  readonly isSandbox?: boolean;
  /** Name of a quota to share. It is created if there is none with this name. */
  readonly quotaName?: string;
}

export interface Charge {
  readonly keyId: string;
  readonly kind: string;
  /** The statuses of the items in order, as if there were enough units. Each costs a unit. */
  readonly statuses: readonly string[];
  /** Makes a repetition within 24 hours free of charge. */
  readonly once?: { readonly idempotencyKey: string; readonly body: Uint8Array };
}

/**
 * Outcome of a charge. The statuses after the last unit are `quota_exceeded`. "another body": the Idempotency-Key was
 * used with a different body. "key is gone": the key was revoked, or has expired, meanwhile.
 */
export type ChargeOutcome =
  | { readonly statuses: readonly string[]; readonly quota: Quota }
  | "quota is gone"
  | "another body"
  | "key is gone";

export type QuotaOwner = { readonly quotaName: string } | { readonly keyId: string };

/** Returns the id under which the usage and the answers of runs are stored. */
export const usageIdOf = (owner: QuotaOwner): string =>
  "keyId" in owner ? owner.keyId : `quota:${owner.quotaName}`;

export interface AuditEntry {
  readonly at: number;
  /** Name of a person, or of a session without one, or `command line`. */
  readonly who: string;
  /** Change of a key (`created`, `changed`, `rotated`, `secret ended`, `revoked`), of a session, or of a list. */
  readonly what: string;
  /** Key; empty for changes of others. */
  readonly keyId: string;
}

/** There is no key with this id, or the quota cannot be used as wanted. */
export class UnknownKeyError extends Error {
  override readonly name = "UnknownKeyError";
}

export class KeyExistsError extends UnknownKeyError {
  constructor(id: string) {
    super(`key ${id} was created already`);
  }
}

export class SecretExistsError extends UnknownKeyError {
  constructor(keyId: string) {
    super(`key ${keyId} was given this secret already`);
  }
}

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
   * Creates a key.
   *
   * @returns the key and its secret, which is not stored and cannot be shown again
   * @throws KeyExistsError when there is a key with this id
   * @throws UnknownKeyError when the named quota exists and a limit or period is given
   */
  create(key: NewKey): Promise<{ key: ApiKey; secret: string }>;
  list(): Promise<readonly ApiKey[]>;
  /**
   * Changes a key. Used units stay. A change of a shared quota affects all of its keys.
   *
   * @throws UnknownKeyError
   */
  set(id: string, change: KeyChange): Promise<ApiKey>;
  /**
   * Revokes a key for good. If it is already revoked, its `revoked` stays unchanged.
   *
   * @throws UnknownKeyError
   */
  revoke(id: string): Promise<ApiKey>;
  /**
   * Gives a key a new secret. The newest before it works for another `grace` milliseconds; older ones keep their ends.
   *
   * @param secretId id of the secret, from {@link newId}; a new one by default
   * @throws SecretExistsError when there is a secret with this id
   * @throws UnknownKeyError when there is no such key, or it is revoked
   */
  rotate(id: string, grace: number, secretId?: string): Promise<{ key: ApiKey; secret: string }>;
  /**
   * Ends a rotated secret before its time.
   *
   * @throws UnknownKeyError when the key has no such secret, or it is its newest
   */
  endSecret(id: string, secretId: string): Promise<ApiKey>;
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
