/** Charges of keys and of runs, as work in a transaction, and the deletion of stored answers. */
import { renewed } from "../quota/quota.js";
import { ask, type Clock, clock, listOf, type Statement, tell, type Work } from "../sql.js";
import type { Charge, ChargeOutcome } from "./api-key.js";
import type { DatedAnswer } from "./database/statements.js";
import { addUsage, insertAnswers, isValid, selectAnswers, updateQuota } from "./database/statements.js";
import * as rules from "./rules.js";
import { hashOf } from "./secrets.js";
import type { NamedUnits, Usage } from "./usage.js";

/** Limit for one transaction: 50,000 answers at once stopped a server for 1.7 s. */
const sweptAnswers = 1000;

interface Charged {
  readonly outcomes: readonly ChargeOutcome[];
  readonly rows: Pick<rules.ChargedRows, "keys" | "quotas">;
  readonly now: number;
}

/** Locks keys and quotas: a charge that has waited must see a revocation that was committed meanwhile. */
export function* charge(charges: readonly Charge[]): Work<Charged> {
  const ids = [...new Set(charges.map(({ keyId }) => keyId))];
  const once = ids.flatMap((id): Statement[] => {
    const own = charges.flatMap(({ keyId, once }) => (keyId === id && once !== undefined ? [once] : []));
    const hashes = own.map(({ idempotencyKey }) => hashOf(idempotencyKey));
    return hashes.length === 0 ? [] : [selectAnswers(id, hashes)];
  });
  const isOne = `id IN (${listOf(ids)})`;
  const inOrder = "ORDER BY id {by_bytes} {lock}";
  const [keyRows, quotaRows, [{ now }], ...stored] = yield* ask<
    [rules.KeyRow[], rules.NamedQuotaRow[], [Clock], ...DatedAnswer[][]]
  >(
    [`SELECT * FROM {key} WHERE ${isOne} ${inOrder}`, ...ids],
    [`SELECT * FROM {quota} WHERE id IN (SELECT quota_id FROM {key} WHERE ${isOne}) ${inOrder}`, ...ids],
    clock,
    ...once,
  );
  const keys = new Map(keyRows.map((row) => [row.id, row]));
  const quotas = new Map(quotaRows.map((row) => [row.id, renewed(row, now)]));
  const valid = stored.flat().filter((answer) => isValid(answer, now));
  const answers = new Map(valid.map((row) => [rules.answerKey(row.key_id, row.idempotency_key_hash), row]));
  const result = rules.applyCharges({ keys, quotas, answers }, charges, now);
  yield* tell(
    ...Array.from(quotas.values(), (quota) => updateQuota(quota)),
    ...insertAnswers(result.answers, now),
    ...addUsage(result.usage),
  );
  return { outcomes: result.outcomes, rows: { keys, quotas }, now };
}

/** Gives units charged as `unknown` their statuses, the newest first, in hours that are not in the sums yet. */
export function* nameUnits({ keyId, kind, statuses, notChecked }: NamedUnits): Work<void> {
  // Before the usage, as charges lock it. No hour is added to the sums meanwhile.
  yield* ask(
    ["SELECT id FROM {quota} WHERE id = (SELECT quota_id FROM {key} WHERE id = ?) {lock}", keyId],
    ["SELECT rolled FROM {usage_mark} {lock}"],
  );
  const [rows, [{ now }]] = yield* ask<[{ hour: number; units: number }[], [Clock]]>(
    [
      `SELECT hour, units FROM {usage} WHERE key_id = ? AND kind = ? AND status = 'unknown'
      AND hour >= (SELECT rolled FROM {usage_mark}) ORDER BY hour DESC {lock}`,
      ...[keyId, kind],
    ],
    clock,
  );
  const named: Usage[] = [];
  const left = new Map(Object.entries(statuses));
  const changes: Statement[] = [];
  for (const { hour, units } of rows) {
    let free = units;
    for (const [status, count] of left) {
      const taken = Math.min(free, count);
      if (taken > 0) named.push({ keyId, hour, kind, status, units: taken });
      left.set(status, count - taken);
      free -= taken;
    }
    changes.push([
      "UPDATE {usage} SET units = ? WHERE hour = ? AND key_id = ? AND kind = ? AND status = 'unknown'",
      ...[free, hour, keyId, kind],
    ]);
  }
  const hour = now - (now % rules.hourMilliseconds);
  if (notChecked > 0) named.push({ keyId, hour, kind, status: "quota_exceeded", units: notChecked });
  yield* tell(...changes, ...addUsage(named), [
    "DELETE FROM {usage} WHERE key_id = ? AND kind = ? AND status = 'unknown' AND units = 0",
    ...[keyId, kind],
  ]);
}

/** Deletes answers 48 hours older than the newest one, although they expire after 24: a clock may be ahead. */
export function* deleteAnswers(now: number): Work<boolean> {
  const [deleted] = yield* ask([
    `DELETE FROM {answer} WHERE (key_id, idempotency_key_hash) IN (
      SELECT key_id, idempotency_key_hash FROM {answer}
      WHERE created <= ?
        AND created <= (SELECT max(created) FROM {answer} WHERE created < ?) - ${2 * rules.answerMilliseconds}
      ORDER BY created LIMIT ${sweptAnswers} {skip})
    RETURNING key_id`,
    ...[now - 2 * rules.answerMilliseconds, now],
  ]);
  return deleted!.length === sweptAnswers;
}
