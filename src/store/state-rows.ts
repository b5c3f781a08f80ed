/**
 * The state of the service as rows that can be moved between stores: texts, numbers and nulls, with bytes in hexadecimal. The
 * tables are listed in the order in which they have to be written.
 */
import { StoreError } from "./errors.js";

/** A table of the state. */
interface StateTable {
  /** Columns in order, those of the primary key first. */
  readonly columns: readonly string[];
  /** Number of columns of the primary key. */
  readonly keyLength: number;
  /** Columns that hold bytes. */
  readonly bytes: readonly string[];
}

export const stateTables = {
  quota: {
    columns: ["id", "name", "unit_limit", "period", "used", "period_start"],
    keyLength: 1,
    bytes: [],
  },
  key: {
    columns: ["id", "name", "permissions", "is_sandbox", "created", "expires", "revoked", "quota_id"],
    keyLength: 1,
    bytes: [],
  },
  secret: {
    columns: ["id", "key_id", "hash", "hint", "created", "ends"],
    keyLength: 1,
    bytes: ["hash"],
  },
  answer: {
    columns: ["key_id", "idempotency_key_hash", "body_hash", "statuses", "created"],
    keyLength: 2,
    bytes: ["idempotency_key_hash", "body_hash"],
  },
  usage: {
    columns: ["hour", "key_id", "kind", "status", "units"],
    keyLength: 4,
    bytes: [],
  },
  audit: {
    columns: ["number", "at", "who", "what", "key_id"],
    keyLength: 1,
    bytes: [],
  },
} as const satisfies Record<string, StateTable>;

export type StateTableName = keyof typeof stateTables;
export const stateTableNames = Object.keys(stateTables) as StateTableName[];

/** Values of a row by its columns. */
export type StateValues = Readonly<Record<string, string | number | null>>;

/** Some rows of one table. */
export interface StateRows {
  readonly table: StateTableName;
  readonly rows: readonly StateValues[];
}

/** Most rows that are moved at a time. */
export const rowsAtOnce = 1000;

/**
 * Returns the statement that reads the next rows of a table, in the order of its key.
 *
 * @param source name of the table in the database
 * @param parameter returns the placeholder of a parameter, from 1
 * @param isFirst whether there is no row to start after
 */
export function pageStatement(
  table: StateTableName,
  source: string,
  parameter: (index: number) => string,
  isFirst: boolean,
): string {
  const { columns, keyLength } = stateTables[table];
  const key = columns.slice(0, keyLength);
  const after = `WHERE (${key.join(", ")}) > (${key.map((_, i) => parameter(i + 1)).join(", ")})`;
  return `SELECT ${columns.join(", ")} FROM ${source} ${isFirst ? "" : after} ORDER BY ${key.join(", ")} LIMIT ${rowsAtOnce}`;
}

/** Returns the key of a row, as it was read. */
export const keyOf = <Value>(table: StateTableName, row: Readonly<Record<string, Value>>): Value[] =>
  stateTables[table].columns.slice(0, stateTables[table].keyLength).map((column) => row[column]!);

/** Returns a row as it was read from a database, with its bytes in hexadecimal. */
export const toValues = (row: Readonly<Record<string, unknown>>): StateValues =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? Buffer.from(value).toString("hex") : (value as string | number | null),
    ]),
  );

/** Returns whether a column holds bytes. */
export const holdsBytes = (table: StateTableName, column: string): boolean =>
  (stateTables[table].bytes as readonly string[]).includes(column);

/** Returns the error for rows that are to be added to a state that is not empty. */
export const stateInUse = (name: string): StoreError =>
  new StoreError(`${name}: the state has keys or quotas already; import into a new one`);
