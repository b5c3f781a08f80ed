/**
 * Sums of usage, and the statements that compute them in both databases. A month of a thousand keys is millions of
 * rows, so that only sums leave the database. Times are in milliseconds since the epoch.
 */

import { setImmediate } from "node:timers/promises";
import { ask, type Statement, type Work } from "../sql.js";

export interface Usage {
  /** Id of the key; see `usageIdOf` for runs on a shared quota. */
  readonly keyId: string;
  readonly hour: number;
  readonly kind: string;
  readonly status: string;
  readonly units: number;
}

/** Range and grouping of sums: from `from` up to, but not including, `to`. */
export interface UsageQuery {
  readonly from: number;
  readonly to: number;
  /** Length of a span in milliseconds, an hour or a day; spans start at multiples of it. */
  readonly span: number;
  readonly keyId?: string;
}

export interface UsageSum {
  readonly start: number;
  readonly status: string;
  readonly units: number;
}

export interface KeyUsageSum extends UsageSum {
  readonly keyId: string;
  readonly kind: string;
}

function sumsOf({ from, to, span, keyId }: UsageQuery, by: "status" | "key"): Statement {
  const names = by === "status" ? "status" : 'key_id AS "keyId", kind, status';
  const groups = by === "status" ? "start, status" : "start, key_id, kind, status";
  const isOfKey = keyId === undefined ? "" : "AND key_id = ?";
  return [
    `SELECT hour - hour % ? AS start, ${names}, CAST(sum(units) AS bigint) AS units FROM {usage}
    WHERE hour >= ? AND hour < ? ${isOfKey} GROUP BY ${groups} ORDER BY ${groups}`,
    ...[span, from, to],
    ...(keyId === undefined ? [] : [keyId]),
  ];
}

const firstHourOf = ({ from, to, keyId }: UsageQuery): Statement => [
  `SELECT min(hour) AS hour FROM {usage} WHERE hour >= ? AND hour < ? ${keyId === undefined ? "" : "AND key_id = ?"}`,
  ...[from, to],
  ...(keyId === undefined ? [] : [keyId]),
];

/**
 * Cuts a query into parts of at most `length`, and skips times without usage.
 *
 * @param length milliseconds; parts start at multiples of it
 * @param firstHour returns the first hour with usage; undefined if there is none
 */
async function* partsOf<Query extends UsageQuery>(
  query: Query,
  length: number,
  firstHour: (rest: Query) => Promise<number | undefined>,
): AsyncGenerator<Query> {
  for (let { from } = query; ; ) {
    const hour = await firstHour({ ...query, from });
    if (hour === undefined) return;
    const start = hour - (hour % length);
    const to = Math.min(start + length, query.to);
    yield { ...query, from: Math.max(start, query.from), to };
    from = to;
  }
}

interface UsageDatabase {
  readonly usagePart?: number;
  read<Result>(work: () => Work<Result>): Promise<Result>;
}

export async function readSums(
  database: UsageDatabase,
  query: UsageQuery,
  by: "status" | "key",
): Promise<readonly KeyUsageSum[]> {
  const [rows] = await database.read(() => ask<[KeyUsageSum[]]>(sumsOf(query, by)));
  return rows;
}

/** Yields the sums of one span at a time. Other work can run between parts. */
export async function* readUsage(
  database: UsageDatabase,
  query: UsageQuery,
  by: "status" | "key",
): AsyncGenerator<readonly UsageSum[]> {
  const firstHour = async (rest: UsageQuery) => {
    await setImmediate();
    const [[row]] = await database.read(() => ask<[{ hour: number | null }[]]>(firstHourOf(rest)));
    return row?.hour ?? undefined;
  };
  let sums = new Map<string, UsageSum>();
  let start: number | undefined;
  const length = Math.min(query.span, database.usagePart ?? query.span);
  for await (const part of partsOf(query, length, firstHour)) {
    const rows = await readSums(database, part, by);
    if (start !== undefined && rows[0]?.start !== start) {
      yield [...sums.values()];
      sums = new Map();
    }
    start = rows[0]?.start;
    for (const row of rows) {
      const id = `${row.status} ${row.kind} ${row.keyId}`;
      sums.set(id, { ...row, units: row.units + (sums.get(id)?.units ?? 0) });
    }
  }
  if (sums.size > 0) yield [...sums.values()];
}
