/** The words of sql.ts in SQLite. */
import { translator } from "../sql.js";

/** Translates a text of sql.ts. SQLite has no row locks: a transaction excludes all other writers. */
export const translate = translator({
  placeholder: () => "?",
  words: {
    quota: "quota",
    key: "api_key",
    secret: "secret",
    answer: "answer",
    usage: "usage",
    audit: "audit",
    sign_in: "sign_in",
    session: "session",
    list: "list",
    usage_sum: "usage_sum",
    usage_mark: "usage_mark",
    receipt: "receipt",
    receipt_owner: "receipt_owner",
    receipt_secret: "receipt_secret",
    // Clamp damaged numbers to the range of JavaScript.
    receipt_columns: `id, run, owner, min(max(created, 0), 8.64e15) AS created,
      min(max(granted, 0), 9e15) AS granted, min(max(used, 0), 9e15) AS used, marks`,
    share: "",
    lock: "",
    change: "",
    skip: "",
    bump: "",
    overriding: "",
    numbered: "SELECT 1",
    greatest: "max",
    least: "min",
    integer: "INTEGER",
    bytes: "BLOB",
    numbered_key: "INTEGER PRIMARY KEY",
    version: "",
    strict: "STRICT",
    often_changed: "STRICT",
    by_key: "STRICT, WITHOUT ROWID",
    by_key_often_changed: "STRICT, WITHOUT ROWID",
    random_bytes: "VALUES (randomblob(32))",
  },
});
