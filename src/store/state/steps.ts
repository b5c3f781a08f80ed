/**
 * Steps of the state's tables for SQLite and PostgreSQL, after the separate steps of each, in the words of sql.ts.
 * Released steps must never change.
 */

/** The number of a receipt's first items that are used up. */
export const usedColumn = "ALTER TABLE {receipt} ADD COLUMN used {integer} NOT NULL DEFAULT 0";

export const sharedSteps: readonly string[] = [usedColumn];
