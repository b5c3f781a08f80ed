/**
 * Steps of the state's tables for SQLite and PostgreSQL, after the separate steps of each, in the words of sql.ts.
 * Released steps must never change.
 */

/** The number of a receipt's first items that are used up. */
export const usedColumn = "ALTER TABLE {receipt} ADD COLUMN used {integer} NOT NULL DEFAULT 0";

/**
 * Lists that are checked for people and for clients of the service. Their files are in a folder that the servers share.
 * `choices`, `found`, `progress` and `result` are JSON.
 */
const listTable = `CREATE TABLE {list} (
    id text PRIMARY KEY,
    name text NOT NULL,
    kind text NOT NULL,
    key_id text,
    who text NOT NULL,
    created {integer} NOT NULL,
    changed {integer} NOT NULL,
    state text NOT NULL,
    server text NOT NULL,
    alive {integer} NOT NULL,
    attempt {integer} NOT NULL,
    choices text NOT NULL,
    found text,
    progress text,
    result text,
    once {bytes} UNIQUE,
    body_hash {bytes}
  )`;

export const sharedSteps: readonly string[] = [usedColumn, listTable];
