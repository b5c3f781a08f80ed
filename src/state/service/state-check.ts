/** Checks that the numbers of a state agree with each other. Only sums leave the database. */

import { day, hour } from "../../time.js";
import { fileQuota } from "../quota/quota.js";
import { ask, type Clock, clock, type Statement, type Work } from "../sql.js";
import { usageIdOf } from "./api-key.js";
import { answerMilliseconds, type NamedQuotaRow } from "./rules.js";

type Units = { readonly keyId: string; readonly units: number };
type HeldUnits = { readonly quota: string; readonly units: number; readonly period_start: number };
type SumOfDay = { readonly start: number; readonly units: number };

const unitsSince = (from: number): Statement => [
  `SELECT key_id AS "keyId", CAST(sum(units) AS bigint) AS units FROM {usage}
  WHERE hour >= ? AND status <> 'quota_exceeded' GROUP BY key_id`,
  from,
];

/** Of all keys together (`=`), or of each (`<>`). */
const sumsOfDays = (operator: "=" | "<>", oldest: number): Statement => [
  `SELECT start, CAST(sum(units) AS bigint) AS units FROM {usage_sum}
  WHERE span = ? AND start >= ? AND key_id ${operator} '' GROUP BY start`,
  ...[day, oldest],
];

/** Sums, and the hours that are not in them yet. */
const allUnits: Statement = [
  `SELECT key_id AS "keyId", CAST(sum(units) AS bigint) AS units FROM (
    SELECT key_id, units, status FROM {usage_sum} WHERE span = ? AND key_id <> ''
    UNION ALL SELECT key_id, units, status FROM {usage} WHERE hour >= (SELECT rolled FROM {usage_mark})
  ) AS part WHERE status <> 'quota_exceeded' GROUP BY key_id`,
  day,
];

const itemsInAnswer = `CASE WHEN statuses = '' THEN 0
  ELSE 1 + length(statuses) - length(replace(statuses, ',', ''))
    - (length(statuses) - length(replace(statuses, 'quota_exceeded', ''))) / 14 END`;

export function* checkState(): Work<readonly string[]> {
  const [quotas, keys, all, reserved, [{ now }]] = yield* ask<
    [NamedQuotaRow[], { id: string; quota_id: string }[], Units[], HeldUnits[], [Clock]]
  >(
    // The quota of a file has no usage.
    ["SELECT * FROM {quota} WHERE name IS NULL OR name <> ? ORDER BY id", fileQuota.quotaName],
    ["SELECT id, quota_id FROM {key}"],
    allUnits,
    ["SELECT quota, units, period_start FROM {reservation}"],
    clock,
  );
  const problems: string[] = [];
  const total = new Map(all.map(({ keyId, units }) => [keyId, units]));
  const starts = [...new Set(quotas.map(({ period_start }) => period_start))].filter((start) => start > 0);
  const since = new Map<number, ReadonlyMap<string, number>>();
  for (const start of starts) {
    const [units] = yield* ask<[Units[]]>(unitsSince(start));
    since.set(start, new Map(units.map(({ keyId, units }) => [keyId, units])));
  }
  for (const { id, name, used, period, period_start: start } of quotas) {
    const own = keys.filter(({ quota_id }) => quota_id === id).map(({ id }) => id);
    const ids = name === null ? own : [...own, usageIdOf({ quotaName: name })];
    const units = start > 0 ? since.get(start)! : total;
    const sum = ids.reduce((sum, id) => sum + (units.get(id) ?? 0), 0);
    // What runs have charged and not delivered is no usage yet.
    const held = reserved.filter((row) => row.quota === id && row.period_start === start);
    if (sum + held.reduce((units, row) => units + row.units, 0) === used) continue;
    const what = name === null ? `the quota of key ${own[0] ?? id}` : `the quota "${name}"`;
    const whole = period === "none" ? "" : ` since ${new Date(start).toISOString()}`;
    problems.push(`${what} has counted ${used} units, and the usage${whole} has ${sum}; was its period changed?`);
  }

  const oldest = now - 30 * day - (now % day);
  const [days, hours, totals, answers, used] = yield* ask<[SumOfDay[], SumOfDay[], SumOfDay[], Units[], Units[]]>(
    sumsOfDays("<>", oldest),
    [
      `SELECT hour - hour % ? AS start, CAST(sum(units) AS bigint) AS units FROM {usage}
      WHERE hour >= ? AND hour < (SELECT rolled FROM {usage_mark}) GROUP BY 1`,
      ...[day, oldest],
    ],
    sumsOfDays("=", oldest),
    [
      `SELECT key_id AS "keyId", CAST(sum(${itemsInAnswer}) AS bigint) AS units FROM {answer} WHERE created > ?
      GROUP BY key_id`,
      now - answerMilliseconds,
    ],
    unitsSince(now - answerMilliseconds - hour),
  );
  const byHours = new Map(hours.map(({ start, units }) => [start, units]));
  const ofAll = new Map(totals.map(({ start, units }) => [start, units]));
  for (const { start, units } of days) {
    const name = new Date(start).toISOString().slice(0, 10);
    if (byHours.get(start) !== units) {
      problems.push(`the sums of ${name} have ${units} units, and its hours ${byHours.get(start) ?? 0}`);
    }
    if (ofAll.get(start) !== units) {
      problems.push(`the sums of keys of ${name} have ${units} units, and that of all ${ofAll.get(start) ?? 0}`);
    }
  }
  const lately = new Map(used.map(({ keyId, units }) => [keyId, units]));
  for (const { keyId, units } of answers) {
    const sum = lately.get(keyId) ?? 0;
    if (units <= sum) continue;
    problems.push(`the stored answers of ${keyId} have ${units} units, and its usage of a day only ${sum}`);
  }
  return problems;
}
