/**
 * Port of the service to its state: API keys, quotas, answers stored for Idempotency-Keys, and usage. Must not know how they are
 * kept, nor the rules of a charge, which are in service-rules.ts.
 */
import type { Quota, QuotaChange, Reservation } from "../quota/quota.js";
import type { Granted, ReceiptCharge, ReceiptStore } from "../quota/receipts.js";
import type { StateRows } from "./state-rows.js";
import type { KeyUsageSum, UsageQuery, UsageSum } from "./usage.js";

/** Operations that a key may be used for. */
export const permissions = ["emails", "domains"] as const;
export type Permission = (typeof permissions)[number];

/** What is known of a secret, which is not stored itself. */
export interface SecretFacts {
  readonly id: string;
  /** Its start and end, by which people recognise it; empty for secrets made before hints were kept. */
  readonly hint: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  /** Until when it works, in milliseconds since the epoch; null for the newest secret of a key. */
  readonly ends: number | null;
}

/** An API key. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  /** The secrets that work, the newest first; empty if they were not looked up. */
  readonly secrets: readonly SecretFacts[];
  readonly permissions: readonly Permission[];
  /** Whether requests are free of charge and get fixed statuses, for tests of clients. */
  readonly isSandbox: boolean;
  /** Milliseconds since the epoch. */
  readonly created: number;
  /** Milliseconds since the epoch; null for never. */
  readonly expires: number | null;
  /** Milliseconds since the epoch; null for a key that is not revoked. */
  readonly revoked: number | null;
  /**
   * Start of the hour of the last charge since usage is counted, or the creation if that is later, in milliseconds since the
   * epoch; null if there was none, or it was not looked up.
   */
  readonly lastUsed: number | null;
  /** Name of the quota that the key shares with others; null if it has one of its own. */
  readonly quotaName: string | null;
  readonly quota: Quota;
}

/** Properties of a new key, or changes to a key. Absent ones get their defaults or stay as they are. */
export interface KeyChange extends QuotaChange {
  readonly name?: string;
  readonly permissions?: readonly Permission[];
  readonly expires?: number | null;
}

/** Properties of a new key that cannot be changed. */
export interface NewKey extends KeyChange {
  /** Id of the key, from {@link newId}; a new one by default. */
  readonly id?: string;
  readonly isSandbox?: boolean;
  /** Name of a quota to share. It is created if there is none with this name. */
  readonly quotaName?: string;
}

/** One request to charge. */
export interface Charge {
  readonly keyId: string;
  readonly kind: string;
  /** The statuses of its items in order, if the quota reaches all of them. Each costs a unit. */
  readonly statuses: readonly string[];
  /** Makes a repetition within 24 hours free of charge. */
  readonly once?: { readonly idempotencyKey: string; readonly body: Uint8Array };
}

/** Outcome of a charge. The statuses after the last unit are `quota_exceeded`. */
export type ChargeOutcome =
  | { readonly statuses: readonly string[]; readonly quota: Quota }
  | "quota is gone"
  /** The Idempotency-Key was used with a different body. */
  | "another body"
  /** The key was revoked, or has expired, meanwhile. */
  | "key is gone";

/** The quota that a run takes units from: a shared one, or that of a key. */
export type QuotaOwner = { readonly quotaName: string } | { readonly keyId: string };

/** Returns the id under which the usage and the answers of runs are kept. */
export const usageIdOf = (owner: QuotaOwner): string =>
  "keyId" in owner ? owner.keyId : `quota:${owner.quotaName}`;

/** Units that a run takes from a quota. */
export interface UnitRequest {
  readonly from: QuotaOwner;
  readonly kind: string;
  /** At least 0. */
  readonly units: number;
  /** Text that no other request has: with it, a repetition within 24 hours is free of charge. */
  readonly once: string;
  /** What is left of the charge, in the same transaction, and may make it smaller. */
  readonly receipt?: ReceiptCharge | undefined;
}

/** Something that was done to a key. */
export interface AuditEntry {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Id of a session of the dashboard, or `command line`. */
  readonly who: string;
  /** What was done: `created`, `changed`, `rotated`, `secret ended`, `revoked`. */
  readonly what: string;
  readonly keyId: string;
}

/** Times for which a link and a session are good, in milliseconds. */
export const [signInMilliseconds, sessionMilliseconds] = [600_000, 43_200_000];

/** No key has this id, or the quota cannot be used as wanted. */
export class UnknownKeyError extends Error {
  override readonly name = "UnknownKeyError";
}

/** The key that is to be created exists. */
export class KeyExistsError extends UnknownKeyError {
  constructor(id: string) {
    super(`key ${id} was created already`);
  }
}

/** The secret that is to be created exists. */
export class SecretExistsError extends UnknownKeyError {
  constructor(keyId: string) {
    super(`key ${keyId} was given this secret already`);
  }
}

/** State of a service that any number of processes may share. All methods throw StoreError when it cannot be used. */
export interface ServiceStore {
  /** Whether charges of different keys run side by side, rather than one after the other. */
  readonly runsSideBySide: boolean;
  /** Returns the key with this secret, unless it is revoked or expired. */
  find(secret: string): Promise<ApiKey | undefined>;
  /**
   * Makes charges in one durable transaction, in order, and returns their outcomes. Since the start of its period, the sum
   * of the usage over all statuses but `quota_exceeded` is always what a quota has counted.
   */
  chargeAll(charges: readonly Charge[]): Promise<readonly ChargeOutcome[]>;
  /**
   * Takes up to as many units as requested from a quota, fewer if fewer are left. Durable when it resolves. The usage has the
   * status `unknown`; that of a shared quota is counted under {@link usageIdOf}.
   *
   * @throws UnknownKeyError when there is no such quota, or the key cannot be used
   */
  takeUnits(request: UnitRequest): Promise<Reservation & Granted>;
  /**
   * Returns the receipts of the runs that take units from a quota.
   *
   * @throws UnknownKeyError when there is no such quota, or the key cannot be used
   */
  openReceipts(owner: QuotaOwner): Promise<ReceiptStore>;
  /**
   * Returns the quota that runs take units from.
   *
   * @throws UnknownKeyError when there is no such quota, or the key cannot be used
   */
  quotaOf(owner: QuotaOwner): Promise<Quota>;
  /** Changes a shared quota, which is created if there is none of this name. The used units stay. */
  setSharedQuota(name: string, change: QuotaChange): Promise<Quota>;
  /** Returns whether an answer is stored for this Idempotency-Key. If so, the request is free of charge. */
  hasAnswer(keyId: string, idempotencyKey: string): Promise<boolean>;
  /**
   * Creates a key.
   *
   * @returns the key and its secret, which is not stored and cannot be shown again
   * @throws KeyExistsError when there is a key with this id
   * @throws UnknownKeyError when the named quota exists and a limit or period is given
   */
  create(key: NewKey): Promise<{ key: ApiKey; secret: string }>;
  /** Returns all keys, the oldest first. */
  list(): Promise<readonly ApiKey[]>;
  /**
   * Changes a key. The used units stay. A change of a shared quota is one for all of its keys.
   *
   * @throws UnknownKeyError
   */
  set(id: string, change: KeyChange): Promise<ApiKey>;
  /**
   * Revokes a key for good. A key that is already revoked keeps the time of its revocation.
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
   * Ends a secret that works until some time.
   *
   * @throws UnknownKeyError when the key has no such secret, or it is its newest
   */
  endSecret(id: string, secretId: string): Promise<ApiKey>;
  /** Returns the units by span and status, the oldest first. Others use the store meanwhile. */
  usage(query: UsageQuery): Promise<readonly UsageSum[]>;
  /** Yields the units by span, key, kind and status: those of one span at a time, the oldest first. */
  usageByKey(query: UsageQuery): AsyncIterable<readonly KeyUsageSum[]>;
  /** Makes a link to the dashboard good: its token can be spent once, within {@link signInMilliseconds}. */
  createSignIn(): Promise<string>;
  /** Spends a token. Returns the secret of a new session, good for {@link sessionMilliseconds}; undefined if it was not good. */
  signIn(token: string): Promise<string | undefined>;
  /** Returns the id of a session; undefined if it has ended. */
  sessionOf(secret: string): Promise<string | undefined>;
  /** Ends a session; all sessions and tokens without a secret. */
  signOut(secret?: string): Promise<void>;
  /** Keeps what was done to a key, by a session or on the command line. */
  record(entry: Omit<AuditEntry, "at">): Promise<void>;
  /** Returns what was done last, the newest first. */
  audit(most: number): Promise<readonly AuditEntry[]>;
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
  /** Checks that the state can be written. */
  checkWritable(): Promise<void>;
  close(): Promise<void>;
}
