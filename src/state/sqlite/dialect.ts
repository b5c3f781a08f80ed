/** The words of sql.ts in SQLite. */
import { translator } from "../sql.js";

const notNeeded = { by_bytes: "", lock: "", change: "", skip: "", bump: "", overriding: "", version: "" };

/** SQLite has no row locks: a transaction excludes all other writers. */
export const translate = translator({
  placeholder: () => "?",
  // KEY is a word of SQL.
  tableOf: (word) => (word === "key" ? "api_key" : word),
  words: {
    ...notNeeded,
    numbered: "SELECT 1",
    greatest: "max",
    least: "min",
    integer: "INTEGER",
    bytes: "BLOB",
    numbered_key: "INTEGER PRIMARY KEY",
    strict: "STRICT",
    often_changed: "STRICT",
    by_key: "STRICT, WITHOUT ROWID",
    by_key_often_changed: "STRICT, WITHOUT ROWID",
    random_bytes: "VALUES (randomblob(32))",
  },
});
