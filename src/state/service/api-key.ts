/**
 * API keys, their quotas, and charges to them, as the service sees them. Must not know how they are stored. Times are in
 * milliseconds since the epoch.
 */
import type { Quota, QuotaChange } from "../quota/quota.js";
import type { RequestRate } from "./rates.js";

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
  /** Name of a person, or of a session without one, of a key, or `command line` with the user of the system. */
  readonly who: string;
  /** Change of a key (`created`, `changed`, `rotated`, `secret ended`, `revoked`), with its values before and after; of others. */
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
