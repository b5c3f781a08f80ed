/**
 * Tables of receipts in a SQLite file, which is a quota file or the state of the service. Released steps must never
 * change.
 */

/** A quota file whose receipts lack some of these columns gets them by a separate step. */
export const receiptTables = `CREATE TABLE receipt (
    id INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    start BLOB NOT NULL,
    created INTEGER NOT NULL,
    granted INTEGER NOT NULL,
    marks BLOB NOT NULL,
    name BLOB NOT NULL,
    quota TEXT NOT NULL
  ) STRICT;
  CREATE INDEX receipt_by_start ON receipt (start);
  CREATE INDEX receipt_by_owner ON receipt (owner);
  CREATE TABLE receipt_owner (owner TEXT PRIMARY KEY, alive INTEGER NOT NULL) STRICT, WITHOUT ROWID`;
