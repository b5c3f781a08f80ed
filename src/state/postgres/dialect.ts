/** The words of sql.ts in PostgreSQL. */
import { translator } from "../sql.js";

export const clock = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now";

export const translate = translator({
  placeholder: (index) => `$${index}`,
  tableOf: (word) => `idv_${word}`,
  words: {
    clock,
    // The order in which JavaScript sorts IDs, whatever the language of the database.
    by_bytes: 'COLLATE "C"',
    lock: "FOR NO KEY UPDATE",
    change: "FOR UPDATE",
    skip: "FOR UPDATE SKIP LOCKED",
    bump: ", version = version + 1",
    overriding: "OVERRIDING SYSTEM VALUE",
    greatest: "greatest",
    least: "least",
    integer: "bigint",
    bytes: "bytea",
    numbered_key: "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    // Counts the changes of a quota and of its keys, so that a charge notices them in the row that it locks.
    version: ", version bigint NOT NULL DEFAULT 0",
    strict: "",
    often_changed: "WITH (fillfactor = 50)",
    by_key: "",
    by_key_often_changed: "WITH (fillfactor = 50)",
    // Two random UUIDs: PostgreSQL 13 has no other random bytes.
    random_bytes: "SELECT sha256((gen_random_uuid()::text || gen_random_uuid()::text)::bytea)",
    numbered: `SELECT setval(pg_get_serial_sequence('idv_audit', 'number'), max(number)) FROM idv_audit
      HAVING max(number) > 0`,
  },
});
