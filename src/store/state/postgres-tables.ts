/**
 * The tables of the service in PostgreSQL: the statements of each version, the oldest first. Released steps must never
 * change; new ones go into steps.ts.
 */
import { translate } from "../postgres/dialect.js";
import { sharedSteps } from "./steps.js";

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
  `CREATE TABLE idv_sign_in (hash bytea PRIMARY KEY, expires bigint NOT NULL);
  CREATE TABLE idv_session (hash bytea PRIMARY KEY, id text NOT NULL, expires bigint NOT NULL);
  CREATE TABLE idv_audit (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at bigint NOT NULL,
    who text NOT NULL,
    what text NOT NULL,
    key_id text NOT NULL
  )`,
  // Several secrets per key, each with its own end; the first has the id of the key.
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
  // Usage in order of time, so that a time range of all keys is contiguous.
  `DROP INDEX idv_usage_hour;
  ALTER TABLE idv_usage DROP CONSTRAINT idv_usage_pkey, ADD PRIMARY KEY (hour, key_id, kind, status);
  CREATE INDEX idv_usage_key ON idv_usage (key_id, hour)`,
  // Receipts of runs, and the secret of their digests: two random UUIDs, since older versions have no other random
  // bytes.
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
  ...sharedSteps.map(translate),
];
