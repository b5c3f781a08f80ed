/** Tables of receipts in a quota file and in the state of the service, in the words of sql.ts. */
export const receiptTables = `CREATE TABLE {receipt} (
    id {numbered_key},
    run text NOT NULL,
    owner text NOT NULL,
    kind text NOT NULL,
    start {bytes} NOT NULL,
    created {integer} NOT NULL,
    granted {integer} NOT NULL,
    used {integer} NOT NULL DEFAULT 0,
    marks {bytes} NOT NULL,
    name {bytes} NOT NULL,
    quota text NOT NULL
  ) {strict};
  CREATE INDEX {receipt}_by_start ON {receipt} (start);
  CREATE INDEX {receipt}_by_owner ON {receipt} (owner);
  CREATE TABLE {receipt_owner} (owner text PRIMARY KEY, alive {integer} NOT NULL) {by_key}`;
