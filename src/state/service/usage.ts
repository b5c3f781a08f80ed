/**
 * Usage, which charges count by hours. Hours that are over are added to sums by days and of all keys: a month of a
 * thousand keys is millions of rows, and one sum for each charge would lock one row for all keys. Times are in
 * milliseconds since the epoch. Units used before usage was kept are `unknown`, so that the sum is what quotas have
 * counted.
 */

import { setImmediate } from "node:timers/promises";
import { day, hour } from "../../time.js";
import { ask, insertion, type Parameter, type Statement, tell, type Work } from "../sql.js";

export interface Usage {
  /** See `usageIdOf` for runs on a shared quota. */
  readonly keyId: string;
  readonly hour: number;
  readonly kind: string;
  readonly status: string;
  readonly units: number;
}

export interface UsageQuery {
  readonly from: number;
  readonly to: number;
  /** An hour or a day; spans start at multiples of it. */
  readonly span: number;
  readonly keyId?: string;
}

export interface KeyUsageSum extends Omit<Usage, "hour"> {
  readonly start: number;
}

export type UsageSum = Pick<KeyUsageSum, "start" | "status" | "units">;

export type KeyTotal = Pick<KeyUsageSum, "keyId" | "status" | "units">;

export const hoursKept = 35 * day;
/** Wait after the end of an hour: charges that began in it are stored by then. */
const settling = hour;
const allKeys = "";
const rowsAtOnce = 5000;

type Part = readonly [text: string, ...parameters: readonly Parameter[]];

function partsOf({ from, to, span, keyId }: UsageQuery, by: "status" | "key"): readonly Part[] {
  const isOfKey = keyId === undefined ? "" : "AND key_id = ?";
  const key = keyId === undefined ? [] : [keyId];
  // Both ends are one value each, so that indexes apply.
  const hours = (from: number, to: number, least = "?", end = "?"): Part => [
    `SELECT hour AS time, key_id, kind, status, units FROM {usage} WHERE hour >= ${least} AND hour < ${end} ${isOfKey}`,
    ...[from, to, ...key],
  ];
  const rolled = "(SELECT rolled FROM {usage_mark})";
  // By hours, only the sum of all keys is stored.
  if (span !== day && (by === "key" || keyId !== undefined)) return [hours(from, to)];
  const first = Math.ceil(from / span) * span;
  const last = Math.floor(to / span) * span;
  const sums: Part = [
    `SELECT start AS time, key_id, kind, status, units FROM {usage_sum} WHERE span = ? AND start >= ? AND start < ?
    AND ${by === "key" && keyId === undefined ? "key_id <> ?" : "key_id = ?"}`,
    ...[span, first, last, keyId ?? allKeys],
  ];
  const edges = [
    ...(from < first ? [[from, Math.min(first, to)] as const] : []),
    ...(last < to && last >= first ? [[last, to] as const] : []),
  ];
  return [
    sums,
    hours(from, to, `{greatest}(?, ${rolled})`),
    ...edges.map(([from, to]) => hours(from, to, "?", `{least}(?, ${rolled})`)),
  ];
}

/** One statement, so that all of its parts are as of one moment. */
function sumsOf(query: UsageQuery, by: "status" | "key" | "total"): Statement {
  const names = {
    status: "time - time % ? AS start, status",
    key: 'time - time % ? AS start, key_id AS "keyId", kind, status',
    total: 'key_id AS "keyId", status',
  };
  const groups = { status: "1, 2", key: "1, 2, 3, 4", total: "1, 2" };
  const parts = partsOf(query, by === "status" ? "status" : "key");
  return [
    `SELECT ${names[by]}, CAST(sum(units) AS bigint) AS units
    FROM (${parts.map(([text]) => text).join(" UNION ALL ")}) AS part
    GROUP BY ${groups[by]} ORDER BY ${groups[by]}`,
    ...(by === "total" ? [] : [query.span]),
    ...parts.flatMap(([, ...parameters]) => parameters),
  ];
}

type UsageDatabase = { read<Result>(work: () => Work<Result>): Promise<Result> };

export async function readSums(database: UsageDatabase, query: UsageQuery): Promise<readonly UsageSum[]> {
  const [rows] = await database.read(() => ask<[UsageSum[]]>(sumsOf(query, "status")));
  return rows;
}

export async function readTotals(database: UsageDatabase, query: UsageQuery): Promise<readonly KeyTotal[]> {
  const [rows] = await database.read(() => ask<[KeyTotal[]]>(sumsOf(query, "total")));
  return rows;
}

export async function* readByKey(database: UsageDatabase, query: UsageQuery): AsyncGenerator<readonly KeyUsageSum[]> {
  const { span } = query;
  for (let from: number | undefined = await firstTime(database, query); from !== undefined; ) {
    await setImmediate();
    const to = Math.min(from - (from % span) + span, query.to);
    const part = { ...query, from: Math.max(from - (from % span), query.from), to };
    const [rows] = await database.read(() => ask<[KeyUsageSum[]]>(sumsOf(part, "key")));
    if (rows.length > 0) yield rows;
    const rest = { ...query, from: to };
    from = rows.length > 0 && to < query.to ? to : await firstTime(database, rest);
  }
}

async function firstTime(database: UsageDatabase, { from, to, keyId }: UsageQuery): Promise<number | undefined> {
  const isOfKey = keyId === undefined ? "" : "AND key_id = ?";
  const key = keyId === undefined ? [] : [keyId];
  const ofDays = `SELECT min(start) AS time FROM {usage_sum} WHERE span = ? AND start >= ? AND start < ? ${isOfKey}`;
  const firsts = await database.read(() =>
    ask<{ time: number | null }[][]>(
      [`SELECT min(hour) AS time FROM {usage} WHERE hour >= ? AND hour < ? ${isOfKey}`, from, to, ...key],
      [ofDays, day, from, to, ...key],
    ),
  );
  const times = firsts.flatMap(([row]) => row?.time ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}

const addUnits = (table: string): string => `SET units = ${table}.units + excluded.units`;

/** Adds the oldest hour that is not in the sums. Returns whether more may be left. */
export function* rollUpHour(now: number): Work<boolean> {
  const [[{ rolled }]] = yield* ask<[[{ rolled: number }]]>(["SELECT rolled FROM {usage_mark} {lock}"]);
  const oldest: Statement = ["SELECT min(hour) AS hour FROM {usage} WHERE hour >= ?", rolled];
  const [[{ hour: next }]] = yield* ask<[[{ hour: number | null }]]>(oldest);
  if (next === null || next + hour + settling > now) return false;
  const today = next - (next % day);
  const add = (span: number, start: number, key: string, groups: string): Statement => [
    `INSERT INTO {usage_sum} (span, start, key_id, kind, status, units)
    SELECT CAST(? AS bigint), CAST(? AS bigint), ${key}, kind, status, sum(units) FROM {usage} WHERE hour = ?
    GROUP BY ${groups}kind, status
    ON CONFLICT (span, start, key_id, kind, status) DO UPDATE ${addUnits("{usage_sum}")}`,
    ...[span, start, next],
  ];
  yield* tell(
    add(hour, next, `'${allKeys}'`, ""),
    add(day, today, `'${allKeys}'`, ""),
    add(day, today, "key_id", "key_id, "),
    ["UPDATE {usage_mark} SET rolled = ?", next + hour],
  );
  return true;
}

/** Adds units of an hour that is over, also to the sums if it is in them. */
export function* addEarlier({ keyId, hour: time, kind, status, units }: Usage): Work<void> {
  const [[{ rolled }]] = yield* ask<[[{ rolled: number }]]>(["SELECT rolled FROM {usage_mark} {lock}"]);
  const today = time - (time % day);
  const sums = [
    [hour, time, allKeys, kind, status, units],
    [day, today, allKeys, kind, status, units],
    [day, today, keyId, kind, status, units],
  ];
  const add = (name: string, key: string, rows: readonly (readonly Parameter[])[]) =>
    insertion(`${name} (${key}, units)`, rows, `ON CONFLICT (${key}) DO UPDATE ${addUnits(name)}`);
  yield* tell(
    add("{usage}", "hour, key_id, kind, status", [[time, keyId, kind, status, units]]),
    ...(time < rolled ? [add("{usage_sum}", "span, start, key_id, kind, status", sums)] : []),
  );
}

export interface NamedUnits {
  readonly keyId: string;
  readonly kind: string;
  readonly statuses: Readonly<Record<string, number>>;
  readonly notChecked: number;
}

export function* deleteHours(now: number): Work<boolean> {
  const [rows] = yield* ask([
    `DELETE FROM {usage} WHERE (hour, key_id, kind, status) IN (
      SELECT hour, key_id, kind, status FROM {usage}
      WHERE hour < ? AND hour < (SELECT rolled FROM {usage_mark}) ORDER BY hour LIMIT ${rowsAtOnce})
    RETURNING hour`,
    now - hoursKept,
  ]);
  return rows!.length === rowsAtOnce;
}

/** Folds the oldest day into the sums at time 0, so that the total stays. Returns whether more may be left. */
export function* foldDay(until: number): Work<boolean> {
  // Another server may do the same.
  yield* ask(["SELECT rolled FROM {usage_mark} {lock}"]);
  const [[row]] = yield* ask<[[{ start: number | null }]]>([
    "SELECT min(start) AS start FROM {usage_sum} WHERE span = ? AND start > 0 AND start < ?",
    ...[day, until],
  ]);
  if (row.start === null) return false;
  yield* tell(
    [
      `INSERT INTO {usage_sum} (span, start, key_id, kind, status, units)
      SELECT span, 0, key_id, kind, status, units FROM {usage_sum} WHERE span = ? AND start = ?
      ON CONFLICT (span, start, key_id, kind, status) DO UPDATE ${addUnits("{usage_sum}")}`,
      ...[day, row.start],
    ],
    ["DELETE FROM {usage_sum} WHERE span = ? AND start = ?", day, row.start],
    ["DELETE FROM {usage_sum} WHERE span = ? AND start < ?", hour, row.start + day],
  );
  return true;
}
