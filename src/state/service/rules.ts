/** The rules of keys and charges, as arithmetic over rows, shared by all stores. Must not know how rows are stored. */
import { createHmac } from "node:crypto";
import { changeQuota, type QuotaRow, renewed, takeUnits, toQuota } from "../quota/quota.js";
import {
  type ApiKey,
  type Charge,
  type ChargeOutcome,
  type KeyChange,
  type NewKey,
  type Permission,
  permissions,
  type QuotaOwner,
  SecretExistsError,
  type SecretFacts,
  UnknownKeyError,
} from "./api-key.js";
import { type RateRow, rateOf } from "./rates.js";
import { hashOf, hintOf } from "./secrets.js";
import type { Usage } from "./usage.js";

export const answerMilliseconds = 86_400_000;
export const hourMilliseconds = 3_600_000;

export interface KeyRow extends RateRow {
  id: string;
  name: string;
  permissions: string;
  is_sandbox: number;
  created: number;
  expires: number | null;
  revoked: number | null;
  quota_id: string;
  last_used: number | null;
}

export interface SecretRow extends SecretFacts {
  readonly key_id: string;
  readonly hash: Uint8Array;
}

/** `name` is null unless keys may share the quota. */
export interface NamedQuotaRow extends QuotaRow {
  id: string;
  name: string | null;
}

/** `body_hash` is keyed with the Idempotency-Key, so that a leaked state does not help to check guesses of a body. */
export interface AnswerRow {
  readonly key_id: string;
  readonly idempotency_key_hash: Uint8Array;
  readonly body_hash: Uint8Array;
  readonly statuses: string;
}

export interface ChargedRows {
  readonly keys: ReadonlyMap<string, KeyRow>;
  readonly quotas: ReadonlyMap<string, NamedQuotaRow>;
  readonly answers: ReadonlyMap<string, AnswerRow>;
}

export interface ChargeResult {
  readonly outcomes: readonly ChargeOutcome[];
  readonly answers: readonly AnswerRow[];
  readonly usage: readonly Usage[];
}

export const answerKey = (keyId: string, idempotencyKeyHash: Uint8Array): string =>
  `${keyId} ${Buffer.from(idempotencyKeyHash).toString("hex")}`;

export function applyCharges(rows: ChargedRows, charges: readonly Charge[], now: number): ChargeResult {
  const answers = new Map(rows.answers);
  const added = new Set<AnswerRow>();
  const usage = new Map<string, Usage>();
  const hour = now - (now % hourMilliseconds);
  const use = (keyId: string, kind: string, statuses: readonly string[]) => {
    const counts = new Map<string, number>();
    for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
    for (const [status, count] of counts) {
      const key = `${keyId} ${kind} ${status}`;
      usage.set(key, { keyId, hour, kind, status, units: (usage.get(key)?.units ?? 0) + count });
    }
  };
  const outcomes = charges.map(({ keyId, kind, statuses, once }): ChargeOutcome => {
    const key = rows.keys.get(keyId);
    if (key === undefined || !isUsable(key, now)) return "key is gone";
    const quota = rows.quotas.get(key.quota_id)!;
    const idempotencyKeyHash = once && hashOf(once.idempotencyKey);
    const bodyHash = once && bodyHashOf(once.idempotencyKey, kind, once.body);
    const stored = idempotencyKeyHash && answers.get(answerKey(keyId, idempotencyKeyHash));
    if (stored !== undefined) {
      if (!bodyHash!.equals(stored.body_hash)) return "another body";
      return { statuses: stored.statuses === "" ? [] : stored.statuses.split(","), quota: toQuota(quota) };
    }
    if (toQuota(quota).left === 0) return "quota is gone";
    const granted = takeUnits(quota, statuses.length);
    const given =
      granted === statuses.length ? statuses : statuses.map((status, i) => (i < granted ? status : "quota_exceeded"));
    use(keyId, kind, given);
    if (idempotencyKeyHash !== undefined) {
      const hashes = { idempotency_key_hash: idempotencyKeyHash, body_hash: bodyHash! };
      const answer = { key_id: keyId, ...hashes, statuses: given.join(",") };
      answers.set(answerKey(keyId, idempotencyKeyHash), answer);
      added.add(answer);
    }
    return { statuses: given, quota: toQuota(quota) };
  });
  return { outcomes, answers: [...added], usage: [...usage.values()] };
}

export const noQuota = (owner: QuotaOwner): UnknownKeyError =>
  new UnknownKeyError(
    "keyId" in owner
      ? `key "${owner.keyId}" does not exist, or has ended; run idv keys list to see all keys`
      : `there is no quota "${owner.quotaName}"; create it with idv quota set --quota STATE#${owner.quotaName} --limit N`,
  );

const bodyHashOf = (idempotencyKey: string, kind: string, body: Uint8Array): Buffer =>
  createHmac("sha256", idempotencyKey).update(`${kind}\n`).update(body).digest();

export const isUsable = ({ revoked, expires }: Pick<KeyRow, "revoked" | "expires">, now: number): boolean =>
  revoked === null && (expires === null || expires > now);

export function toKey(row: KeyRow, quota: NamedQuotaRow, now: number, secrets: readonly SecretRow[] = []): ApiKey {
  const { id, name, created, expires, revoked, last_used: lastUsed } = row;
  const working = secrets.filter(({ ends }) => ends === null || ends > now);
  const facts = { id, name, created, expires, revoked };
  return {
    ...facts,
    secrets: working
      .map(({ id, hint, created, ends }) => ({ id, hint, created, ends }))
      .sort((a, b) => (b.ends ?? Number.POSITIVE_INFINITY) - (a.ends ?? Number.POSITIVE_INFINITY)),
    lastUsed: lastUsed === null ? null : Math.max(lastUsed, created),
    permissions: row.permissions.split(",") as Permission[],
    isSandbox: row.is_sandbox === 1,
    rate: rateOf(row),
    quotaName: quota.name,
    quota: toQuota(renewed(quota, now)),
  };
}

export function newKeyRow(
  { id, name = "", isSandbox = false, ...key }: NewKey & { readonly id: string },
  quotaId: string,
  now: number,
): KeyRow {
  const { requests = null, milliseconds = null } = key.rate ?? {};
  const allowed = { permissions: (key.permissions ?? permissions).join(","), is_sandbox: Number(isSandbox) };
  const times = { created: now, expires: key.expires ?? null, revoked: null, last_used: null };
  const rate = { rate_requests: requests, rate_milliseconds: milliseconds, rate_at: null };
  return { id, name, quota_id: quotaId, ...allowed, ...times, ...rate };
}

export const quotaExistsError = (quotaName: string): UnknownKeyError =>
  new UnknownKeyError(
    `there is a quota "${quotaName}" already; leave out --limit and --period, or change it: idv quota set --quota STATE#${quotaName}`,
  );

/** A secret in the place of an id is not shown. */
export const unknownKey = (id: string): UnknownKeyError => {
  const advice = "run idv keys list to see all keys";
  if (id.startsWith("sk_")) return new UnknownKeyError(`that is a secret, not the id of a key; ${advice}`);
  return new UnknownKeyError(`no key "${id}"; ${advice}`, id);
};

export function changeKey(key: KeyRow, quota: NamedQuotaRow, change: KeyChange, now: number): void {
  if (change.name !== undefined) key.name = change.name;
  if (change.permissions !== undefined) key.permissions = change.permissions.join(",");
  if (change.expires !== undefined) key.expires = change.expires;
  if (change.rate !== undefined) {
    key.rate_requests = change.rate?.requests ?? null;
    key.rate_milliseconds = change.rate?.milliseconds ?? null;
  }
  changeQuota(quota, change, now);
}

/** The first secret of a key has the id of the key. */
export function newSecretRow(key_id: string, id: string, secret: string, now: number): SecretRow {
  return { id, key_id, hash: hashOf(secret), hint: hintOf(secret), created: now, ends: null };
}

export function checkRotation(key: KeyRow, secrets: readonly SecretRow[], secretId: string): void {
  if (key.revoked !== null) throw new UnknownKeyError(`key ${key.id} is revoked; create another key`);
  if (secrets.some(({ id }) => id === secretId)) throw new SecretExistsError(key.id);
}

export function checkEnd(keyId: string, secrets: readonly SecretRow[], secretId: string): void {
  const secret = secrets.find(({ id }) => id === secretId);
  if (secret === undefined) throw new UnknownKeyError(`key ${keyId} has no such secret; run idv keys list`);
  if (secret.ends === null) {
    throw new UnknownKeyError(
      `this is the newest secret of key ${keyId}; give the key another one with idv keys rotate, or revoke the key`,
    );
  }
}

export function secretsByKey(rows: readonly SecretRow[]): ReadonlyMap<string, readonly SecretRow[]> {
  const byKey = new Map<string, SecretRow[]>(rows.map(({ key_id }) => [key_id, []]));
  for (const row of rows) byKey.get(row.key_id)!.push(row);
  return byKey;
}
