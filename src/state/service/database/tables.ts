/** The tables of the service, in a SQLite file and in PostgreSQL, in the words of sql.ts. */
import { quotaColumns } from "../../quota/quota.js";
import { reservationTables } from "../../quota/reservation-rows.js";

const keys = `CREATE TABLE {quota} (id text PRIMARY KEY, name text UNIQUE, ${quotaColumns}{version}) {often_changed};
  CREATE TABLE {key} (
    id text PRIMARY KEY,
    name text NOT NULL,
    permissions text NOT NULL,
    is_sandbox {integer} NOT NULL,
    created {integer} NOT NULL,
    expires {integer},
    revoked {integer},
    quota_id text NOT NULL REFERENCES {quota},
    last_used {integer},
    rate_requests {integer},
    rate_milliseconds {integer},
    rate_at {integer}
  ) {strict};
  CREATE TABLE {secret} (
    id text PRIMARY KEY,
    key_id text NOT NULL REFERENCES {key},
    hash {bytes} NOT NULL UNIQUE,
    hint text NOT NULL,
    created {integer} NOT NULL,
    ends {integer}
  ) {strict};
  CREATE INDEX {secret}_key ON {secret} (key_id)`;

const answers = `CREATE TABLE {answer} (
    key_id text NOT NULL,
    idempotency_key_hash {bytes} NOT NULL,
    body_hash {bytes} NOT NULL,
    statuses text NOT NULL,
    created {integer} NOT NULL,
    PRIMARY KEY (key_id, idempotency_key_hash)
  ) {by_key};
  CREATE INDEX {answer}_created ON {answer} (created)`;

/** Usage in order of time, so that a range of all keys is contiguous. The sums have the hours before `rolled`. */
const usage = `CREATE TABLE {usage} (
    key_id text NOT NULL,
    hour {integer} NOT NULL,
    kind text NOT NULL,
    status text NOT NULL,
    units {integer} NOT NULL,
    PRIMARY KEY (hour, key_id, kind, status)
  ) {by_key_often_changed};
  CREATE INDEX {usage}_key ON {usage} (key_id, hour);
  CREATE TABLE {usage_sum} (
    span {integer} NOT NULL,
    start {integer} NOT NULL,
    key_id text NOT NULL,
    kind text NOT NULL,
    status text NOT NULL,
    units {integer} NOT NULL,
    PRIMARY KEY (span, start, key_id, kind, status)
  ) {by_key};
  CREATE INDEX {usage_sum}_key ON {usage_sum} (key_id, span, start);
  CREATE TABLE {usage_mark} (rolled {integer} NOT NULL) {strict};
  INSERT INTO {usage_mark} VALUES (0)`;

const sessions = `CREATE TABLE {sign_in} (hash {bytes} PRIMARY KEY, expires {integer} NOT NULL, name text) {by_key};
  CREATE TABLE {session} (
    hash {bytes} PRIMARY KEY,
    id text NOT NULL,
    expires {integer} NOT NULL,
    name text,
    created {integer} NOT NULL,
    seen {integer} NOT NULL
  ) {by_key};
  CREATE TABLE {audit} (
    number {numbered_key},
    at {integer} NOT NULL,
    who text NOT NULL,
    what text NOT NULL,
    key_id text NOT NULL
  ) {strict}`;

/** Their files are in a folder that the servers share. `choices`, `found`, `progress` and `result` are JSON. */
const lists = `CREATE TABLE {list} (
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
    lost_servers {integer} NOT NULL DEFAULT 0,
    choices text NOT NULL,
    found text,
    progress text,
    result text,
    once {bytes} UNIQUE,
    body_hash {bytes}
  ) {strict};
  CREATE INDEX {list}_key ON {list} ((coalesce(key_id, '')), state)`;

const runs = `${reservationTables};
  CREATE TABLE {run_secret} (secret {bytes} NOT NULL) {strict};
  INSERT INTO {run_secret} {random_bytes}`;

export const tables = [keys, answers, usage, sessions, lists, runs].join(";\n");
