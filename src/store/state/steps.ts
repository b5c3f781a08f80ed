/** Steps of the state's tables, in the words of sql.ts. Released steps must never change. */

/** The number of first items of a receipt that are used up. */
export const usedColumn = "ALTER TABLE {receipt} ADD COLUMN used {integer} NOT NULL DEFAULT 0";

/** The steps behind those that each database has of its own, for SQLite and PostgreSQL alike. */
export const sharedSteps: readonly string[] = [usedColumn];
