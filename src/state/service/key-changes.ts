/** Changes of keys, as work in one transaction each, with an entry of the audit. */
import { changeQuota, freshRow, renewed } from "../quota/quota.js";
import { movedReservations } from "../quota/reservations.js";
import { ask, type Clock, clock, insertion, type Statement, tell, type Work } from "../sql.js";
import { type ApiKey, type KeyChange, KeyExistsError, NameTakenError, type NewKey } from "./api-key.js";
import { auditEntry, ifAbsent, insertQuota, insertSecret, selectOwner, updateQuota } from "./database/statements.js";
import * as rules from "./rules.js";
import { newSecret } from "./secrets.js";

const keyColumns = [
  ...(["id", "name", "permissions", "is_sandbox", "created", "expires", "revoked"] as const),
  ...(["quota_id", "rate_requests", "rate_milliseconds"] as const),
];

type KeyWithSecret = { key: ApiKey; secret: string };

export function* createKey({ id, quotaName, ...change }: NewKey & { id: string }, who: string): Work<KeyWithSecret> {
  const secret = newSecret(change.isSandbox === true);
  const same: Statement = ["SELECT id FROM {key} WHERE id = ?", id];
  const [found, [{ now }]] = yield* ask<[unknown[], [Clock]]>(same, clock);
  if (found.length > 0) throw new KeyExistsError(id);
  yield* checkName(change.name, id);
  const own: rules.NamedQuotaRow = { ...freshRow, id, name: quotaName ?? null };
  changeQuota(own, change, now);
  const [inserted] = yield* ask(insertQuota(own));
  let quota: rules.NamedQuotaRow = own;
  if (inserted!.length === 0) {
    // Another server may have created the key meanwhile, with its quota.
    const [[other], again] = yield* ask<[rules.NamedQuotaRow[], unknown[]]>(
      ["SELECT * FROM {quota} WHERE name = ?", quotaName ?? null],
      same,
    );
    if (other === undefined || again.length > 0) throw new KeyExistsError(id);
    if (change.limit !== undefined || change.period !== undefined) throw rules.quotaExistsError(quotaName!);
    quota = other;
  }
  const key = rules.newKeyRow({ id, ...change }, quota.id, now);
  const [added] = yield* ask(
    insertion(`{key} (${keyColumns.join(", ")})`, [keyColumns.map((name) => key[name])], ifAbsent),
  );
  if (added!.length === 0) throw new KeyExistsError(id);
  const row = rules.newSecretRow(id, id, secret, now);
  yield* tell(insertSecret(row), auditEntry({ at: now, who, what: "created", keyId: id }));
  return { key: rules.toKey(key, quota, now, [row]), secret };
}

export function* setKey(id: string, change: KeyChange, who: string): Work<ApiKey> {
  yield* checkName(change.name, id);
  const apply: Change["apply"] = (key, quota, now) => rules.changeKey(key, quota, change, now);
  return yield* changed(id, { who, what: changesOf, apply });
}

/** Of two changes at once on PostgreSQL, both may take a name: it is for people, and charges go by ids. */
function* checkName(name = "", id: string): Work<void> {
  const [same] = yield* ask<[{ id: string; name: string }[]]>([
    "SELECT id, name FROM {key} WHERE lower(name) = lower(?) AND name <> '' AND revoked IS NULL AND id <> ?",
    ...[name, id],
  ]);
  if (same[0] !== undefined) throw new NameTakenError(same[0].name, same[0].id);
}

export function revokeKey(id: string, who: string): Work<ApiKey> {
  const apply: Change["apply"] = (key, _, now) => {
    key.revoked ??= now;
  };
  return changed(id, { who, what: () => "revoked", apply });
}

export function* rotateKey(id: string, grace: number, secretId: string, who: string): Work<KeyWithSecret> {
  let secret = "";
  const end = grace === 0 ? "" : `: the old secret works for ${grace / 1000} s`;
  const secretsAfter: SecretsAfter = (row, secrets, now) => {
    rules.checkRotation(row, secrets, secretId);
    secret = newSecret(row.is_sandbox === 1);
    return [
      ["UPDATE {secret} SET ends = ? WHERE key_id = ? AND ends IS NULL", now + grace, id],
      ["DELETE FROM {secret} WHERE key_id = ? AND ends <= ?", id, now],
      insertSecret(rules.newSecretRow(id, secretId, secret, now)),
    ];
  };
  const key = yield* changed(id, { who, what: () => `rotated${end}`, secretsAfter });
  return { key, secret };
}

export function endSecret(id: string, secretId: string, who: string): Work<ApiKey> {
  const secretsAfter: SecretsAfter = (_, secrets) => {
    rules.checkEnd(id, secrets, secretId);
    return [["DELETE FROM {secret} WHERE id = ?", secretId]];
  };
  return changed(id, { who, what: () => `secret ended: ${secretId}`, secretsAfter });
}

type SecretsAfter = (key: rules.KeyRow, secrets: readonly rules.SecretRow[], now: number) => readonly Statement[];

interface Change {
  readonly who: string;
  readonly what: (before: ApiKey, after: ApiKey) => string;
  readonly apply?: (key: rules.KeyRow, quota: rules.NamedQuotaRow, now: number) => void;
  readonly secretsAfter?: SecretsAfter;
}

/** Locks the key first, as charges do. @throws UnknownKeyError */
function* changed(id: string, { who, what, apply, secretsAfter = () => [] }: Change): Work<ApiKey> {
  const select: Statement = ["SELECT * FROM {secret} WHERE key_id = ?", id];
  const [[key], [row], before, [{ now }]] = yield* ask<
    [rules.KeyRow[], rules.NamedQuotaRow[], rules.SecretRow[], [Clock]]
  >(...selectOwner({ keyId: id }, "{change}", "{lock}"), select, clock);
  if (key === undefined) throw rules.unknownKey(id);
  const quota = renewed(row!, now);
  const start = quota.period_start;
  const was = rules.toKey({ ...key }, { ...quota }, now, before);
  apply?.(key, quota, now);
  yield* tell(
    [
      `UPDATE {key} SET name = ?, permissions = ?, expires = ?, revoked = ?, rate_requests = ?, rate_milliseconds = ?
      WHERE id = ?`,
      ...[key.name, key.permissions, key.expires, key.revoked, key.rate_requests, key.rate_milliseconds, id],
    ],
    updateQuota(quota, "{bump}"),
    ...movedReservations(quota, start),
    ...secretsAfter(key, before, now),
  );
  const [secrets] = yield* ask<[rules.SecretRow[]]>(select);
  const after = rules.toKey(key, quota, now, secrets);
  yield* tell(auditEntry({ at: now, who, what: what(was, after), keyId: id }));
  return after;
}

function changesOf(before: ApiKey, after: ApiKey): string {
  const date = (time: number | null) => (time === null ? "never" : new Date(time).toISOString());
  const valuesOf = ({ name, permissions, expires, rate, quota }: ApiKey) => ({
    name,
    permissions: permissions.join(","),
    expires: date(expires),
    rate: rate === null ? "none" : `${rate.requests}/${rate.milliseconds} ms`,
    limit: String(quota.limit ?? "none"),
    period: quota.period,
  });
  const was = valuesOf(before);
  const is = valuesOf(after);
  const names = (Object.keys(is) as (keyof typeof is)[]).filter((name) => was[name] !== is[name]);
  const changes = names.map((name) => `${name} ${was[name]} -> ${is[name]}`);
  return changes.length === 0 ? "changed: nothing" : `changed: ${changes.join(", ")}`;
}
