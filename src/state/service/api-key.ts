/** API keys, their quotas, and charges to them, as the service sees them. Times are in milliseconds since the epoch. */
import type { Quota, QuotaChange } from "../quota/quota.js";
import type { RequestRate } from "./rates.js";

export const permissions = ["emails", "domains"] as const;
export type Permission = (typeof permissions)[number];

export interface SecretFacts {
  readonly id: string;
  /** Start and end, by which people recognise the secret; empty for old ones. */
  readonly hint: string;
  readonly created: number;
  readonly ends: number | null;
}

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  /** The newest first; empty if they were not looked up. */
  readonly secrets: readonly SecretFacts[];
  readonly permissions: readonly Permission[];
  /** Requests are free of charge and get fixed statuses, for tests of clients. */
  readonly isSandbox: boolean;
  readonly created: number;
  readonly expires: number | null;
  readonly revoked: number | null;
  /** Time to the minute; null if no charge is known. */
  readonly lastUsed: number | null;
  readonly rate: RequestRate | null;
  /** Null if the key has its own quota. */
  readonly quotaName: string | null;
  readonly quota: Quota;
}

/** "ended" if the key or the secret is revoked or expired. */
export type Found = ApiKey | "ended" | undefined;

export interface LimitedQuota extends Quota {
  readonly limit: number;
  readonly left: number;
}

export interface KeyLimit extends LimitedQuota {
  readonly id: string;
}

export interface KeyChange extends QuotaChange {
  readonly name?: string;
  readonly permissions?: readonly Permission[];
  readonly expires?: number | null;
  readonly rate?: RequestRate | null;
}

export interface NewKey extends KeyChange {
  /** Result of {@link newId}; a new one by default. */
  readonly id?: string;
  readonly isSandbox?: boolean;
  readonly quotaName?: string;
}

export interface Charge {
  readonly keyId: string;
  readonly kind: string;
  /** Statuses as if there were enough units. Each costs a unit. */
  readonly statuses: readonly string[];
  /** Makes a repetition within 24 hours free of charge. */
  readonly once?: { readonly idempotencyKey: string; readonly body: Uint8Array };
}

/** Statuses after the last unit are `quota_exceeded`. "another body" than at the first use of the Idempotency-Key. */
export type ChargeOutcome =
  | { readonly statuses: readonly string[]; readonly quota: Quota }
  | "quota is gone"
  | "another body"
  | "key is gone";

export type QuotaOwner = { readonly quotaName: string } | { readonly keyId: string };

export const usageIdOf = (owner: QuotaOwner): string => ("keyId" in owner ? owner.keyId : `quota:${owner.quotaName}`);

export interface AuditEntry {
  readonly at: number;
  /** A person or a session, a key, or `command line` with the user of the system. */
  readonly who: string;
  /** `created`, `changed`, `rotated`, `secret ended` or `revoked`, with values before and after; or not about a key. */
  readonly what: string;
  readonly keyId: string;
}

export class UnknownKeyError extends Error {
  override readonly name = "UnknownKeyError";

  /** `id` is what was given for the id of a key, and is none; never a secret. */
  constructor(
    message: string,
    readonly id = "",
  ) {
    super(message);
  }
}

export class KeyExistsError extends UnknownKeyError {
  constructor(id: string) {
    super(`key ${id} was created already`);
  }
}

export class NameTakenError extends UnknownKeyError {
  constructor(name: string, id: string) {
    super(`there is a key named "${name}" already, ${id}; choose another name, or revoke that key`);
  }
}

export class SecretExistsError extends UnknownKeyError {
  constructor(keyId: string) {
    super(`key ${keyId} was given this secret already`);
  }
}
