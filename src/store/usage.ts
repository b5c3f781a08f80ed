/**
 * Sums of the usage: which, and the statements that both databases answer them with. A month of a thousand keys is millions of
 * rows, so that only sums leave the database.
 */

/** Units by key, hour, kind and status, as they are stored. */
export interface Usage {
  /** Id of the key; see `usageIdOf` for the runs on a shared quota. */
  readonly keyId: string;
  /** Start of the hour in milliseconds since the epoch. */
  readonly hour: number;
  readonly kind: string;
  readonly status: string;
  readonly units: number;
}

/** A question for sums of usage. Times are in milliseconds since the epoch. */
export interface UsageQuery {
  readonly from: number;
  /** End, which is not part of it. */
  readonly to: number;
  /** Length of a span in milliseconds, an hour or a day; spans start at its multiples. */
  readonly span: number;
  /** Id of the only key to look at. */
  readonly keyId?: string;
}

/** Units of a status in a span. */
export interface UsageSum {
  /** Start of the span in milliseconds since the epoch. */
  readonly start: number;
  readonly status: string;
  readonly units: number;
}

/** Units of a key, a kind and a status in a span. */
export interface KeyUsageSum extends UsageSum {
  readonly keyId: string;
  readonly kind: string;
}

/** A statement and its parameters. */
export type Statement = readonly [sql: string, ...parameters: readonly (string | number)[]];

/** How a database names the table of the usage, and marks the parameters of a statement. */
export interface UsageTable {
  readonly name: string;
  readonly mark: "$" | "?";
}

/** Returns the statement for {@link UsageSum}s or {@link KeyUsageSum}s, in order of time. */
export function sumsOf(
  { name, mark }: UsageTable,
  { from, to, span, keyId }: UsageQuery,
  by: "status" | "key",
): Statement {
  const names = by === "status" ? "status" : 'key_id AS "keyId", kind, status';
  const groups = by === "status" ? "start, status" : "start, key_id, kind, status";
  const isOfKey = keyId === undefined ? "" : `AND key_id = ${mark}4`;
  return [
    `SELECT hour - hour % ${mark}1 AS start, ${names}, CAST(sum(units) AS bigint) AS units FROM ${name}
    WHERE hour >= ${mark}2 AND hour < ${mark}3 ${isOfKey} GROUP BY ${groups} ORDER BY ${groups}`,
    ...[span, from, to],
    ...(keyId === undefined ? [] : [keyId]),
  ];
}

/** Returns the statement for the first hour with usage, as `hour`: null if there is none. */
export function firstHourOf({ name, mark }: UsageTable, { from, to, keyId }: UsageQuery): Statement {
  const isOfKey = keyId === undefined ? "" : `AND key_id = ${mark}3`;
  return [
    `SELECT min(hour) AS hour FROM ${name} WHERE hour >= ${mark}1 AND hour < ${mark}2 ${isOfKey}`,
    ...[from, to],
    ...(keyId === undefined ? [] : [keyId]),
  ];
}

/**
 * Cuts a question into parts of at most some length, and leaves out those without usage.
 *
 * @param length milliseconds; parts start at its multiples
 * @param firstHour returns the first hour with usage; undefined if there is none
 */
export async function* partsOf<Query extends UsageQuery>(
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
