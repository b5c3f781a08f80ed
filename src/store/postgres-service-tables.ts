/** The tables of the service in PostgreSQL, by version, and the statements that the store and its charges share. */
import type { Query } from "./postgres.js";
import type { AnswerRow, KeyRow, NamedQuotaRow, SecretRow } from "./service-rules.js";
import type { QuotaOwner } from "./service-store.js";
import type { Usage } from "./usage.js";

/** Statements of each version of the tables, the oldest first. Released steps must never change. */
export const steps: readonly string[] = [
  `CREATE TABLE idv_quota (
    id text PRIMARY KEY,
    name text UNIQUE,
    unit_limit bigint CHECK (unit_limit >= 0),
    period text NOT NULL CHECK (period IN ('none', 'hour', 'day', 'month')),
    used bigint NOT NULL CHECK (used >= 0),
    period_start bigint NOT NULL
  ) WITH (fillfactor = 50);
  CREATE TABLE idv_key (
    id text PRIMARY KEY,
    name text NOT NULL,
    hash bytea NOT NULL UNIQUE,
    previous_hash bytea UNIQUE,
    previous_until bigint,
    hint text NOT NULL,
    permissions text NOT NULL,
    is_sandbox integer NOT NULL,
    created bigint NOT NULL,
    expires bigint,
    revoked bigint,
    quota_id text NOT NULL REFERENCES idv_quota
  );
  CREATE TABLE idv_answer (
    key_id text NOT NULL,
    idempotency_key_hash bytea NOT NULL,
    body_hash bytea NOT NULL,
    statuses text NOT NULL,
    created bigint NOT NULL,
    PRIMARY KEY (key_id, idempotency_key_hash)
  );
  CREATE INDEX idv_answer_created ON idv_answer (created);
  CREATE TABLE idv_usage (
    key_id text NOT NULL,
    hour bigint NOT NULL,
    kind text NOT NULL,
    status text NOT NULL,
    units bigint NOT NULL,
    PRIMARY KEY (key_id, hour, kind, status)
  ) WITH (fillfactor = 50);
  CREATE INDEX idv_usage_hour ON idv_usage (hour)`,
  // Counts the changes of the quota and of its keys, so that a charge notices them in the row that it locks.
  `ALTER TABLE idv_quota ADD COLUMN version bigint NOT NULL DEFAULT 0`,
  // Access to the dashboard.
  `CREATE TABLE idv_sign_in (hash bytea PRIMARY KEY, expires bigint NOT NULL);
  CREATE TABLE idv_session (hash bytea PRIMARY KEY, id text NOT NULL, expires bigint NOT NULL);
  CREATE TABLE idv_audit (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at bigint NOT NULL,
    who text NOT NULL,
    what text NOT NULL,
    key_id text NOT NULL
  )`,
  // Several secrets a key, each with its own end; the first has the id of the key.
  `CREATE TABLE idv_secret (
    id text PRIMARY KEY,
    key_id text NOT NULL REFERENCES idv_key,
    hash bytea NOT NULL UNIQUE,
    hint text NOT NULL,
    created bigint NOT NULL,
    ends bigint
  );
  CREATE INDEX idv_secret_key ON idv_secret (key_id);
  INSERT INTO idv_secret SELECT id, id, hash, hint, created, NULL FROM idv_key;
  INSERT INTO idv_secret SELECT id || '-old', id, previous_hash, '', created, previous_until
    FROM idv_key WHERE previous_until IS NOT NULL;
  ALTER TABLE idv_key DROP COLUMN hash, DROP COLUMN previous_hash, DROP COLUMN previous_until, DROP COLUMN hint`,
  // Usage in order of time, so that a span of all keys is read in one go.
  `DROP INDEX idv_usage_hour;
  ALTER TABLE idv_usage DROP CONSTRAINT idv_usage_pkey, ADD PRIMARY KEY (hour, key_id, kind, status);
  CREATE INDEX idv_usage_key ON idv_usage (key_id, hour)`,
  // Receipts of runs, and the secret of their digests: two random UUIDs, since older versions have no other random bytes.
  `CREATE TABLE idv_receipt (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run text NOT NULL,
    owner text NOT NULL,
    name bytea NOT NULL,
    kind text NOT NULL,
    start bytea NOT NULL,
    created bigint NOT NULL,
    granted bigint NOT NULL,
    marks bytea NOT NULL,
    quota text NOT NULL
  );
  CREATE INDEX idv_receipt_by_start ON idv_receipt (start);
  CREATE INDEX idv_receipt_by_owner ON idv_receipt (owner);
  CREATE INDEX idv_receipt_by_created ON idv_receipt (created);
  CREATE TABLE idv_receipt_owner (owner text PRIMARY KEY, alive bigint NOT NULL);
  CREATE TABLE idv_receipt_secret (secret bytea NOT NULL);
  INSERT INTO idv_receipt_secret SELECT sha256((gen_random_uuid()::text || gen_random_uuid()::text)::bytea)`,
  // The number of first items of a receipt that are used up.
  "ALTER TABLE idv_receipt ADD COLUMN used bigint NOT NULL DEFAULT 0",
];

/** The clock of the database, in milliseconds since the epoch. */
export const clock = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now";

/** Stores a quota after a charge or a change. */
export const updateQuota = (query: Query, { id, unit_limit, period, used, period_start }: NamedQuotaRow) =>
  query(
    "UPDATE idv_quota SET unit_limit = $2, period = $3, used = $4, period_start = $5 WHERE id = $1",
    ...[id, unit_limit, period, used, period_start],
  );

/** The key whose quota a run draws from; undefined for a shared quota. */
export type LockedKey = KeyRow | undefined;

/** Locks the key, if there is one, and the quota of a run, in this order. */
export const lockQuota = (query: Query, owner: QuotaOwner) => {
  const first = (rows: unknown[]) => rows[0];
  if ("quotaName" in owner) {
    const sql = "SELECT * FROM idv_quota WHERE name = $1 FOR NO KEY UPDATE";
    return [undefined, query(sql, owner.quotaName).then(first)] as const;
  }
  const sql =
    "SELECT * FROM idv_quota WHERE id = (SELECT quota_id FROM idv_key WHERE id = $1) FOR NO KEY UPDATE";
  return [
    query("SELECT * FROM idv_key WHERE id = $1 FOR SHARE", owner.keyId).then(first),
    query(sql, owner.keyId).then(first),
  ] as const;
};

/** Inserts a quota. Returns no row if there is one with this name. */
export const insertQuota = (
  query: Query,
  { id, name, unit_limit, period, used, period_start }: NamedQuotaRow,
) =>
  query(
    "INSERT INTO idv_quota VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (name) DO NOTHING RETURNING id",
    ...[id, name, unit_limit, period, used, period_start],
  );

/** Inserts a secret. */
export const insertSecret = (query: Query, { id, key_id, hash, hint, created, ends }: SecretRow) =>
  query("INSERT INTO idv_secret VALUES ($1, $2, $3, $4, $5, $6)", id, key_id, hash, hint, created, ends);

/** Adds answers for Idempotency-Keys, which replace older ones. */
export const insertAnswers = (query: Query, answers: readonly AnswerRow[], now: number) =>
  query(
    `INSERT INTO idv_answer SELECT *, $5 FROM unnest($1::text[], $2::bytea[], $3::bytea[], $4::text[])
    ON CONFLICT (key_id, idempotency_key_hash) DO UPDATE
    SET body_hash = excluded.body_hash, statuses = excluded.statuses, created = excluded.created`,
    answers.map(({ key_id }) => key_id),
    answers.map(({ idempotency_key_hash }) => idempotency_key_hash),
    answers.map(({ body_hash }) => body_hash),
    answers.map(({ statuses }) => statuses),
    now,
  );

/** Adds units to the usage. */
export const addUsage = (query: Query, usage: readonly Usage[]) =>
  query(
    `INSERT INTO idv_usage SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bigint[])
    ON CONFLICT (key_id, hour, kind, status) DO UPDATE SET units = idv_usage.units + excluded.units`,
    usage.map(({ keyId }) => keyId),
    usage.map(({ hour }) => hour),
    usage.map(({ kind }) => kind),
    usage.map(({ status }) => status),
    usage.map(({ units }) => units),
  );
