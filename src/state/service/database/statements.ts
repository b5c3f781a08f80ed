/** Statements on the tables of the service that several pieces of work share. */

import { renewed } from "../../quota/quota.js";
import { insertion, listOf, type Statement } from "../../sql.js";
import type { AuditEntry, QuotaOwner } from "../api-key.js";
import * as rules from "../rules.js";
import type { Usage } from "../usage.js";

export type DatedAnswer = rules.AnswerRow & { readonly created: number };

export const auditEntry = ({ at, who, what, keyId }: AuditEntry): Statement => [
  "INSERT INTO {audit} (at, who, what, key_id) VALUES (?, ?, ?, ?)",
  ...[at, who, what, keyId],
];

/** Selects key and quota in the order in which they are locked. */
export const selectOwner = (owner: QuotaOwner, keyLock: string, quotaLock: string): readonly [Statement, Statement] => [
  [`SELECT * FROM {key} WHERE id = ? ${keyLock}`, "keyId" in owner ? owner.keyId : ""],
  "keyId" in owner
    ? [`SELECT * FROM {quota} WHERE id = (SELECT quota_id FROM {key} WHERE id = ?) ${quotaLock}`, owner.keyId]
    : [`SELECT * FROM {quota} WHERE name = ? ${quotaLock}`, owner.quotaName],
];

/** Renewed if a new period has begun. @throws UnknownKeyError when there is no such quota, or its key cannot be used */
export function usableQuota(
  owner: QuotaOwner,
  [key]: readonly rules.KeyRow[],
  [quota]: readonly rules.NamedQuotaRow[],
  now: number,
) {
  if (quota === undefined || (key && !rules.isUsable(key, now))) throw rules.noQuota(owner);
  return renewed(quota, now);
}

export const selectAnswers = (keyId: string, hashes: readonly Uint8Array[]): Statement => [
  `SELECT * FROM {answer} WHERE key_id = ? AND idempotency_key_hash IN (${listOf(hashes)})`,
  ...[keyId, ...hashes],
];

export const isValid = ({ created }: DatedAnswer, now: number): boolean =>
  Math.abs(now - created) < rules.answerMilliseconds;

export const ifAbsent = "ON CONFLICT DO NOTHING RETURNING id";

export function insertQuota({ id, name, unit_limit, period, used, period_start }: rules.NamedQuotaRow): Statement {
  const values = [id, name, unit_limit, period, used, period_start];
  return insertion("{quota} (id, name, unit_limit, period, used, period_start)", [values], ifAbsent);
}

/** Counts the change with `bump`, so that charges made from remembered quotas notice it. */
export const updateQuota = (
  { id, unit_limit, period, used, period_start }: rules.NamedQuotaRow,
  bump: "{bump}" | "" = "",
): Statement => [
  `UPDATE {quota} SET unit_limit = ?, period = ?, used = ?, period_start = ? ${bump} WHERE id = ?`,
  ...[unit_limit, period, used, period_start, id],
];

export const noteUse = (keyId: string, time: number): Statement => [
  "UPDATE {key} SET last_used = ? WHERE id = ? AND (last_used IS NULL OR last_used < ?)",
  ...[time, keyId, time],
];

export const insertSecret = ({ id, key_id, hash, hint, created, ends }: rules.SecretRow): Statement =>
  insertion("{secret} (id, key_id, hash, hint, created, ends)", [[id, key_id, hash, hint, created, ends]]);

export function insertAnswers(answers: readonly rules.AnswerRow[], now: number): readonly Statement[] {
  if (answers.length === 0) return [];
  const rows = answers.map((row) => [row.key_id, row.idempotency_key_hash, row.body_hash, row.statuses, now]);
  const end = `ON CONFLICT (key_id, idempotency_key_hash) DO UPDATE
    SET body_hash = excluded.body_hash, statuses = excluded.statuses, created = excluded.created`;
  return [insertion("{answer} (key_id, idempotency_key_hash, body_hash, statuses, created)", rows, end)];
}

/** A clock that is behind may name hours that are in the sums already: they count as the first one that is not. */
export function addUsage(usage: readonly Usage[]): readonly Statement[] {
  if (usage.length === 0) return [];
  const rows = usage.map(() => "(?, {greatest}(?, (SELECT rolled FROM {usage_mark})), ?, ?, ?)");
  const sql = `INSERT INTO {usage} (key_id, hour, kind, status, units) VALUES ${rows.join(", ")}
    ON CONFLICT (hour, key_id, kind, status) DO UPDATE SET units = {usage}.units + excluded.units`;
  return [[sql, ...usage.flatMap(({ keyId, hour, kind, status, units }) => [keyId, hour, kind, status, units])]];
}

export const keyAndQuota = "k.*, q.name AS quota_name, q.unit_limit, q.period, q.used, q.period_start";

export type JoinedRow = rules.KeyRow & rules.NamedQuotaRow & { readonly quota_name: string | null };

export function quotaIn(row: JoinedRow): rules.NamedQuotaRow {
  const { quota_id: id, quota_name: name, unit_limit, period, used, period_start } = row;
  return { id, name, unit_limit, period, used, period_start };
}
