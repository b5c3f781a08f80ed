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

/**
 * Sums of usage by days, and by hours for all keys together, under the key "". Hours before `rolled` are in them. The
 * time of the last charge of each key, so that it need not be looked for in its usage.
 */
const usageSums = `CREATE TABLE {usage_sum} (
    span {integer} NOT NULL,
    start {integer} NOT NULL,
    key_id text NOT NULL,
    kind text NOT NULL,
    status text NOT NULL,
    units {integer} NOT NULL,
    PRIMARY KEY (span, start, key_id, kind, status)
  );
  CREATE INDEX {usage_sum}_key ON {usage_sum} (key_id, span, start);
  CREATE TABLE {usage_mark} (rolled {integer} NOT NULL);
  INSERT INTO {usage_mark} VALUES (0);
  ALTER TABLE {key} ADD COLUMN last_used {integer};
  UPDATE {key} SET last_used =
    (SELECT max(hour) FROM {usage} WHERE {usage}.key_id = {key}.id AND kind <> 'unknown')`;

/** Rates of keys; see rates.ts. */
const rates = `ALTER TABLE {key} ADD COLUMN rate_requests {integer};
  ALTER TABLE {key} ADD COLUMN rate_milliseconds {integer};
  ALTER TABLE {key} ADD COLUMN rate_at {integer}`;

const people = `CREATE TABLE {person} (
    id text PRIMARY KEY,
    name text NOT NULL,
    role text NOT NULL,
    created {integer} NOT NULL
  );
  CREATE UNIQUE INDEX {person}_name ON {person} (lower(name));
  ALTER TABLE {sign_in} ADD COLUMN person text;
  ALTER TABLE {session} ADD COLUMN person text;
  ALTER TABLE {session} ADD COLUMN created {integer};
  ALTER TABLE {session} ADD COLUMN seen {integer}`;

/** Servers in a row that a list has outlived; see lists.ts. */
const lostServers = "ALTER TABLE {list} ADD COLUMN lost_servers {integer} NOT NULL DEFAULT 0";

export const sharedSteps: readonly string[] = [usedColumn, listTable, usageSums, rates, people, lostServers];
