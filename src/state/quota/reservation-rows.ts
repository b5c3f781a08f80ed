/**
 * The rows of reservations and deliveries, and what changes them. All work on them locks the quota first. Times are by
 * the clock of the state.
 */
import type { QuotaOwner } from "../service/api-key.js";
import { selectOwner, usableQuota } from "../service/database/statements.js";
import type { KeyRow, NamedQuotaRow } from "../service/rules.js";
import { ask, type Clock, clock, insertion, type Statement, type Work } from "../sql.js";

export const reservationTables = `CREATE TABLE {reservation} (
    id text PRIMARY KEY,
    quota text NOT NULL,
    owner text NOT NULL,
    alive {integer} NOT NULL,
    units {integer} NOT NULL CHECK (units >= 0),
    older {integer} NOT NULL CHECK (older >= 0),
    loan {integer} NOT NULL CHECK (loan >= 0),
    period_start {integer} NOT NULL,
    name {bytes},
    part text,
    bytes {integer},
    digest {bytes},
    paid_before {integer} NOT NULL
  ) {by_key_often_changed};
  CREATE TABLE {delivery} (
    quota text NOT NULL,
    name {bytes} NOT NULL,
    part text NOT NULL,
    bytes {integer} NOT NULL,
    digest {bytes} NOT NULL,
    run text NOT NULL,
    units {integer} NOT NULL,
    created {integer} NOT NULL,
    PRIMARY KEY (quota, name, part, digest)
  ) {by_key}`;

/** A run with a name, and a part of it that another try repeats. */
export interface NamedPart {
  readonly name: Uint8Array;
  readonly part: string;
  /** 0 if it is not known. An input of the same size is probably the same list. */
  readonly bytes: number;
}

export interface Units {
  /** Charged in the period that begins at `period_start`, and in earlier ones. */
  readonly units: number;
  readonly older: number;
  /** Units that another run of the same name has charged. */
  readonly loan: number;
}

export interface Row extends Units {
  readonly id: string;
  readonly owner: string;
  readonly alive: number;
  readonly period_start: number;
  readonly name: Uint8Array | null;
  readonly part: string | null;
  readonly bytes: number | null;
  /** The items that are about to be delivered, and what another run of the name has paid for them. */
  readonly digest: Uint8Array | null;
  readonly paid_before: number;
}

export interface Locked {
  readonly quota: NamedQuotaRow;
  readonly rows: readonly Row[];
  readonly now: number;
}

/**
 * `isUsed` if the key has to be usable; what it has charged before is its own in any case. Charges do not share the lock
 * of the key: a delivery, which changes the key, would be a deadlock with them, and a change of the key would never come.
 */
export function* lock(from: QuotaOwner, isUsed: boolean): Work<Locked> {
  const quotaId =
    "keyId" in from ? "(SELECT quota_id FROM {key} WHERE id = ?)" : "(SELECT id FROM {quota} WHERE name = ?)";
  const [keys, quotas, rows, [{ now }]] = yield* ask<[KeyRow[], NamedQuotaRow[], Row[], [Clock]]>(
    ...selectOwner(from, "{lock}", "{lock}"),
    [`SELECT * FROM {reservation} WHERE quota = ${quotaId}`, "keyId" in from ? from.keyId : from.quotaName],
    clock,
  );
  const quota = usableQuota(from, isUsed ? keys : [], quotas, now);
  const { period_start } = quota;
  const ofNow = (row: Row): Row =>
    row.period_start === period_start ? row : { ...row, units: 0, older: row.older + row.units, period_start };
  return { quota, rows: rows.map(ofNow), now };
}

/** Whether the key is there still: what its runs hold went with it. */
export function* isKey(id: string): Work<boolean> {
  const [keys] = yield* ask(["SELECT id FROM {key} WHERE id = ?", id]);
  return keys!.length > 0;
}

export const remove = (id: string): Statement => ["DELETE FROM {reservation} WHERE id = ?", id];

const columns = [
  ...(["id", "quota", "owner", "alive", "units", "older", "loan", "period_start"] as const),
  ...(["name", "part", "bytes", "digest", "paid_before"] as const),
];
const stored = columns.map((name) => `${name} = excluded.${name}`).join(", ");

export function store({ id: quota, period_start }: NamedQuotaRow, row: Row): Statement {
  const values = { ...row, quota, period_start };
  const all = columns.map((name) => values[name]);
  return insertion(`{reservation} (${columns.join(", ")})`, [all], `ON CONFLICT (id) DO UPDATE SET ${stored}`);
}

export const sum = ({ units, older, loan }: Units): number => units + older + loan;

/** Gives back what is more than `most`: what was charged last first, as it is free for others then. */
export function trim<Row extends Units>(quota: NamedQuotaRow, row: Row, most: number): Row {
  let over = Math.max(0, sum(row) - most);
  const take = (units: number): number => {
    const left = Math.max(0, units - over);
    over -= units - left;
    return left;
  };
  const units = take(row.units);
  quota.used = Math.max(0, quota.used - (row.units - units));
  return { ...row, units, loan: take(row.loan), older: take(row.older) };
}
