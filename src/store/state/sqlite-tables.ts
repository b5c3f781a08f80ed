/**
 * The tables of the service in a SQLite file, the state file of `idv serve`, by version. Released steps must never
 * change; new ones go into steps.ts.
 */
import { quotaColumns } from "../quota/quota.js";
import { receiptTables } from "../quota/receipt-tables.js";
import type { Schema } from "../sqlite/database.js";
import { translate } from "../sqlite/dialect.js";
import { sharedSteps } from "./steps.js";

export const schema: Schema = {
  name: "state file",
  // "idvs"
  applicationId: 0x69647673,
  steps: [
    `CREATE TABLE api_key (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      hash BLOB NOT NULL UNIQUE,
      permissions TEXT NOT NULL,
      is_sandbox INTEGER NOT NULL,
      created INTEGER NOT NULL,
      expires INTEGER,
      revoked INTEGER,
      ${quotaColumns}
    ) STRICT;
    CREATE TABLE answer (
      key_id TEXT NOT NULL,
      idempotency_key_hash BLOB NOT NULL,
      body_hash BLOB NOT NULL,
      statuses TEXT NOT NULL,
      created INTEGER NOT NULL,
      PRIMARY KEY (key_id, idempotency_key_hash)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX answer_created ON answer (created)`,
    // Quotas apart from keys, so that keys may share one; usage; the old secret of a rotated key. Units used before
    // become usage without a status, so that the sums agree.
    `CREATE TABLE quota (id TEXT PRIMARY KEY, name TEXT UNIQUE, ${quotaColumns}) STRICT;
    INSERT INTO quota SELECT id, NULL, unit_limit, period, used, period_start FROM api_key;
    CREATE TABLE key (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      hash BLOB NOT NULL UNIQUE,
      previous_hash BLOB UNIQUE,
      previous_until INTEGER,
      hint TEXT NOT NULL,
      permissions TEXT NOT NULL,
      is_sandbox INTEGER NOT NULL,
      created INTEGER NOT NULL,
      expires INTEGER,
      revoked INTEGER,
      quota_id TEXT NOT NULL REFERENCES quota
    ) STRICT;
    INSERT INTO key SELECT id, name, hash, NULL, NULL, '', permissions, is_sandbox, created, expires, revoked, id
      FROM api_key;
    CREATE TABLE usage (
      key_id TEXT NOT NULL,
      hour INTEGER NOT NULL,
      kind TEXT NOT NULL,
      status TEXT NOT NULL,
      units INTEGER NOT NULL,
      PRIMARY KEY (key_id, hour, kind, status)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX usage_hour ON usage (hour);
    INSERT INTO usage
      SELECT id, iif(period = 'none', created, period_start) / 3600000 * 3600000, 'unknown', 'unknown', used
      FROM api_key WHERE used > 0;
    DROP TABLE api_key;
    ALTER TABLE key RENAME TO api_key`,
    `CREATE TABLE sign_in (hash BLOB PRIMARY KEY, expires INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE session (hash BLOB PRIMARY KEY, id TEXT NOT NULL, expires INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE audit (at INTEGER NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL, key_id TEXT NOT NULL) STRICT;
    CREATE INDEX audit_at ON audit (at)`,
    // Several secrets per key, each with its own end; the first has the id of the key. Audit entries get numbers.
    `CREATE TABLE secret (
      id TEXT PRIMARY KEY,
      key_id TEXT NOT NULL,
      hash BLOB NOT NULL UNIQUE,
      hint TEXT NOT NULL,
      created INTEGER NOT NULL,
      ends INTEGER
    ) STRICT;
    CREATE INDEX secret_key ON secret (key_id);
    INSERT INTO secret SELECT id, id, hash, hint, created, NULL FROM api_key;
    INSERT INTO secret SELECT id || '-old', id, previous_hash, '', created, previous_until
      FROM api_key WHERE previous_until IS NOT NULL;
    CREATE TABLE key (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      permissions TEXT NOT NULL,
      is_sandbox INTEGER NOT NULL,
      created INTEGER NOT NULL,
      expires INTEGER,
      revoked INTEGER,
      quota_id TEXT NOT NULL REFERENCES quota
    ) STRICT;
    INSERT INTO key SELECT id, name, permissions, is_sandbox, created, expires, revoked, quota_id FROM api_key;
    DROP TABLE api_key;
    ALTER TABLE key RENAME TO api_key;
    CREATE TABLE numbered (
      number INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,
      who TEXT NOT NULL,
      what TEXT NOT NULL,
      key_id TEXT NOT NULL
    ) STRICT;
    INSERT INTO numbered SELECT rowid, at, who, what, key_id FROM audit;
    DROP TABLE audit;
    ALTER TABLE numbered RENAME TO audit`,
    // Usage in order of time, so that a time range of all keys is contiguous.
    `CREATE TABLE usage_by_hour (
      key_id TEXT NOT NULL,
      hour INTEGER NOT NULL,
      kind TEXT NOT NULL,
      status TEXT NOT NULL,
      units INTEGER NOT NULL,
      PRIMARY KEY (hour, key_id, kind, status)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO usage_by_hour SELECT key_id, hour, kind, status, units FROM usage ORDER BY hour, key_id, kind, status;
    DROP TABLE usage;
    ALTER TABLE usage_by_hour RENAME TO usage;
    CREATE INDEX usage_key ON usage (key_id, hour)`,
    `${receiptTables};
    CREATE TABLE receipt_secret (secret BLOB NOT NULL) STRICT;
    INSERT INTO receipt_secret VALUES (randomblob(32))`,
    ...sharedSteps.map(translate),
  ],
};
