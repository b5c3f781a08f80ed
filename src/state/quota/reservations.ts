/**
 * Reservations: units that a run has charged and not delivered. They count as used for everybody else, and are given
 * back when the run ends or is dead. All work here locks the quota first. Times are by the clock of the state.
 */

import { type QuotaOwner, usageIdOf } from "../service/api-key.js";
import { addUsage, selectOwner, updateQuota, usableQuota } from "../service/database/statements.js";
import { hourMilliseconds, type KeyRow, type NamedQuotaRow } from "../service/rules.js";
import { ask, type Clock, clock, type Statement, tell, type Work } from "../sql.js";
import { type Quota, takeUnits, toQuota } from "./quota.js";
import { UnitsLost } from "./units-lost.js";

export const fileQuota = { quotaName: "" } as const satisfies QuotaOwner;
const isFileQuota = (from: QuotaOwner): boolean => "quotaName" in from && from.quotaName === "";

const keptMilliseconds = 604_800_000;

export const reservationTables = `CREATE TABLE {reservation} (
    id text PRIMARY KEY,
    quota text NOT NULL,
    owner text NOT NULL,
    alive {integer} NOT NULL,
    charge {integer} NOT NULL,
    granted {integer} NOT NULL,
    units {integer} NOT NULL CHECK (units >= 0),
    older {integer} NOT NULL CHECK (older >= 0),
    loan {integer} NOT NULL CHECK (loan >= 0),
    period_start {integer} NOT NULL,
    name {bytes},
    part text,
    bytes {integer},
    digest {bytes},
    same {integer}
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

export interface ItemDigests {
  readonly digest: Uint8Array;
  /** Digests of the sets of the first items, by their numbers. */
  readonly prefixes: ReadonlyMap<number, Uint8Array>;
}

/** A run with a name, and a part of it that another try repeats. */
interface NamedPart {
  readonly name: Uint8Array;
  readonly part: string;
  /** 0 if it is not known. An input of the same size is probably the same list. */
  readonly bytes: number;
}

interface ReservationRow {
  readonly id: string;
  readonly owner: string;
  readonly alive: number;
  /** Number of the last charge, and what it granted: a repetition is answered the same. */
  readonly charge: number;
  readonly granted: number;
  /** Charged in the period that begins at `period_start`, and in earlier ones. */
  readonly units: number;
  readonly older: number;
  /** Units that another run of the same name has paid. */
  readonly loan: number;
  readonly period_start: number;
  readonly name: Uint8Array | null;
  readonly part: string | null;
  readonly bytes: number | null;
  readonly digest: Uint8Array | null;
  readonly same: number | null;
}

type Charged = Pick<ReservationRow, "units" | "older" | "loan" | "period_start">;

export interface Other {
  readonly id: string;
  readonly owner: string;
  readonly alive: number;
}

export interface UnitRequest {
  readonly id: string;
  readonly owner: string;
  readonly charge: number;
  readonly units: number;
  /** Units that the run has charged before and not delivered. */
  readonly held: number;
  /** Units that the name has paid for an input of this size are not charged during the run. */
  readonly lends?: NamedPart | undefined;
  /** The items that are about to be delivered. */
  readonly seal?: (NamedPart & ItemDigests) | undefined;
  readonly isFinal?: boolean | undefined;
  /** Undefined if another look is needed. */
  readonly isDead: (other: Other, now: number) => boolean | undefined;
}

export interface Reserved {
  /** Negative if the reservation was given back, and the quota has too little to charge it again. */
  readonly granted: number;
  readonly quota: Quota;
  /** Units of the items to be delivered that another run of the same name has paid. */
  readonly paidBefore: number;
  /** Numbers of first items whose digests are wanted: runs of the name have delivered that many. */
  readonly marks: readonly number[];
  readonly isUnsure: boolean;
}

interface Locked {
  readonly quota: NamedQuotaRow;
  readonly rows: readonly ReservationRow[];
  readonly now: number;
}

/**
 * `isUsed` if the key has to be usable; what it has charged before is its own in any case. Charges do not share the lock
 * of the key: a delivery, which changes the key, would be a deadlock with them, and a change of the key would never come.
 */
function* lock(from: QuotaOwner, isUsed: boolean): Work<Locked> {
  const quotaId =
    "keyId" in from ? "(SELECT quota_id FROM {key} WHERE id = ?)" : "(SELECT id FROM {quota} WHERE name = ?)";
  const [keys, quotas, rows, [{ now }]] = yield* ask<[KeyRow[], NamedQuotaRow[], ReservationRow[], [Clock]]>(
    ...selectOwner(from, "{lock}", "{lock}"),
    [`SELECT * FROM {reservation} WHERE quota = ${quotaId}`, "keyId" in from ? from.keyId : from.quotaName],
    clock,
  );
  return { quota: usableQuota(from, isUsed ? keys : [], quotas, now), rows, now };
}

const remove = (id: string): Statement => ["DELETE FROM {reservation} WHERE id = ?", id];

function giveBack(quota: NamedQuotaRow, { units, period_start }: ReservationRow): void {
  if (period_start === quota.period_start) quota.used = Math.max(0, quota.used - units);
}

function* sweep(
  { quota, rows, now }: Locked,
  isDead: UnitRequest["isDead"],
  own?: string,
): Work<{ readonly isUnsure: boolean }> {
  let isUnsure = false;
  for (const row of rows) {
    if (row.id === own) continue;
    const found = isDead(row, now);
    if (found === undefined && row.units > 0) isUnsure = true;
    if (found !== true) continue;
    giveBack(quota, row);
    yield* tell(remove(row.id));
  }
  return { isUnsure };
}

/** Charges up to the requested units, and takes again what was given back meanwhile. */
export function* reserve(from: QuotaOwner, request: UnitRequest): Work<Reserved> {
  const { id, owner, charge, units, held, lends, seal, isDead } = request;
  const locked: Locked = yield* lock(from, true);
  const { quota, rows, now } = locked;
  const row = rows.find((each) => each.id === id);
  if (row?.charge === charge) {
    const paidBefore = row.same ?? 0;
    return { granted: row.granted, quota: toQuota(quota), paidBefore, marks: [], isUnsure: false };
  }
  const isSame = row?.period_start === quota.period_start;
  let fresh = isSame ? row.units : 0;
  const older = row === undefined ? 0 : row.older + (isSame ? 0 : row.units);
  let loan = row?.loan ?? 0;
  const lost = Math.max(0, held - fresh - older - loan);
  let wanted = units + lost;
  const named = seal ?? lends;
  const paid = named === undefined ? [] : yield* deliveriesOf(quota.id, named, now);
  const paidBefore = seal === undefined ? 0 : Math.min(held, sameUnits(paid, seal));
  if (seal !== undefined) {
    // What the same items have cost before need not be charged; the rest of a loan has to be.
    wanted = Math.max(0, held - paidBefore - fresh - older);
    loan = Math.max(0, held - fresh - older - wanted);
  } else if (lends !== undefined) {
    const likely = paid.filter(({ bytes, run }) => bytes > 0 && bytes === lends.bytes && run !== id);
    const most = Math.max(0, ...likely.map((delivery) => delivery.units));
    const lent = Math.min(wanted, Math.max(0, most - loan));
    loan += lent;
    wanted -= lent;
  }
  let taken = takeUnits(quota, wanted);
  let isUnsure = false;
  if (taken < wanted || charge === 1) {
    ({ isUnsure } = yield* sweep(locked, isDead, id));
    taken += takeUnits(quota, wanted - taken);
  }
  fresh += taken;
  const granted = units + taken - wanted;
  const values = [owner, now, charge, granted, fresh, older, loan, quota.period_start];
  const sealed =
    seal === undefined ? [null, null, null, null, null] : [seal.name, seal.part, seal.bytes, seal.digest, paidBefore];
  yield* tell(updateQuota(quota), remove(id), [
    `INSERT INTO {reservation}
    (id, quota, owner, alive, charge, granted, units, older, loan, period_start, name, part, bytes, digest, same)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[id, quota.id, ...values, ...sealed],
  ]);
  return {
    granted,
    quota: toQuota(quota),
    paidBefore,
    marks: paid.map((delivery) => delivery.units),
    isUnsure: isUnsure && taken < wanted,
  };
}

interface DeliveryRow {
  readonly bytes: number;
  readonly run: string;
  readonly digest: Uint8Array;
  readonly units: number;
}

function* deliveriesOf(
  quota: string,
  { name, part }: Omit<NamedPart, "bytes">,
  now: number,
): Work<readonly DeliveryRow[]> {
  const [rows] = yield* ask<[DeliveryRow[]]>([
    "SELECT bytes, run, digest, units FROM {delivery} WHERE quota = ? AND name = ? AND part = ? AND created > ?",
    ...[quota, name, part, now - keptMilliseconds],
  ]);
  return rows;
}

export interface DeliveredUnits {
  readonly id: string;
  readonly kind: string;
  readonly holds: number;
}

/** Moves delivered units to the quota. Units that were given back meanwhile are free. */
export function* deliver(from: QuotaOwner, { id, kind, holds }: DeliveredUnits): Work<void> {
  const locked: Locked = yield* lock(from, false);
  const row = locked.rows.find((each) => each.id === id);
  if (row === undefined) return;
  const delivered = Math.max(0, row.units + row.older + row.loan - holds);
  yield* pay(from, locked, row, kind, delivered);
  // The row stays, so that a repetition finds it, until the run ends.
  yield* tell(without(row, delivered, locked.now));
}

function* isKey(id: string): Work<boolean> {
  const [keys] = yield* ask(["SELECT id FROM {key} WHERE id = ?", id]);
  return keys!.length > 0;
}

/** Takes `units` again if they were given back. @throws UnitsLost when the quota has too few for that */
export function* deliverAll(from: { readonly keyId: string }, id: string, kind: string, units: number): Work<void> {
  if (!(yield* isKey(from.keyId))) return;
  const locked: Locked = yield* lock(from, false);
  const { quota, rows } = locked;
  const found = rows.find((each) => each.id === id);
  if (found === undefined && takeUnits(quota, units) < units) throw new UnitsLost(false);
  const row = found ?? { units, older: 0, loan: 0, period_start: quota.period_start };
  yield* pay(from, locked, row, kind, row.units + row.older + row.loan);
  yield* tell(remove(id));
}

function* pay(
  from: QuotaOwner,
  { quota, now }: Locked,
  row: Charged & Partial<ReservationRow>,
  kind: string,
  delivered: number,
): Work<void> {
  const isOfNow = row.period_start === quota.period_start;
  const changes: Statement[] = [];
  let paid = delivered;
  const { id, name, part, bytes, digest, same } = row;
  if (id && name && typeof part === "string" && typeof bytes === "number" && digest) {
    const all = yield* deliveriesOf(quota.id, { name, part }, now);
    // Another run of the name may have delivered the same since.
    paid = Math.max(0, delivered - Math.max(same ?? 0, sameUnits(all, { digest, prefixes: new Map() })));
    const refund = Math.min(row.units, Math.max(0, row.units + row.older - paid));
    if (isOfNow) quota.used = Math.max(0, quota.used - refund);
    changes.push(
      ["DELETE FROM {delivery} WHERE created < ?", now - keptMilliseconds],
      [
        `INSERT INTO {delivery} (quota, name, part, bytes, digest, run, units, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (quota, name, part, digest) DO UPDATE
        SET bytes = excluded.bytes, run = excluded.run, created = excluded.created,
          units = {greatest}({delivery}.units, excluded.units)`,
        ...[quota.id, name, part, bytes, digest, id, delivered, now],
      ],
    );
  }
  if ("keyId" in from) {
    changes.push([
      "UPDATE {key} SET last_used = ? WHERE id = ? AND (last_used IS NULL OR last_used < ?)",
      ...[now, from.keyId, now],
    ]);
  }
  const ofOlder = isOfNow ? Math.min(row.older, paid) : paid;
  const usage = [
    { time: quota.period_start - hourMilliseconds, units: ofOlder },
    { time: now, units: paid - ofOlder },
  ]
    .filter(({ units }) => units > 0 && !isFileQuota(from))
    .map(({ time, units }) => {
      return { keyId: usageIdOf(from), hour: time - (time % hourMilliseconds), kind, status: "unknown", units };
    });
  yield* tell(updateQuota(quota), ...changes, ...addUsage(usage));
}

const sameUnits = (deliveries: readonly DeliveryRow[], { digest, prefixes }: ItemDigests): number =>
  Math.max(
    0,
    ...deliveries
      .filter((delivery) =>
        [digest, prefixes.get(delivery.units)].some(
          (own) => own !== undefined && Buffer.from(own).equals(delivery.digest),
        ),
      )
      .map(({ units }) => units),
  );

function without(row: ReservationRow, taken: number, now: number): Statement {
  const ofOlder = Math.min(row.older, taken);
  const ofLoan = Math.min(row.loan, taken - ofOlder);
  const units = Math.max(0, row.units - (taken - ofOlder - ofLoan));
  return changed({ ...row, older: row.older - ofOlder, loan: row.loan - ofLoan, units }, now);
}

const changed = ({ id, units, older, loan }: ReservationRow, now: number): Statement => [
  `UPDATE {reservation} SET older = ?, loan = ?, units = ?, alive = ?,
    name = NULL, part = NULL, bytes = NULL, digest = NULL, same = NULL WHERE id = ?`,
  ...[older, loan, units, now, id],
];

/** Gives back all, and ends the reservation, if `units` is undefined. */
export function* release(from: QuotaOwner, id: string, units?: number): Work<void> {
  const { quota, rows, now }: Locked = yield* lock(from, false);
  const row = rows.find((each) => each.id === id);
  if (row === undefined) return;
  const ofUnits = Math.min(row.units, units ?? row.units);
  giveBack(quota, { ...row, units: ofUnits });
  const ofLoan = Math.min(row.loan, (units ?? 0) - ofUnits);
  const ofOlder = Math.min(row.older, (units ?? 0) - ofUnits - ofLoan);
  const rest = { ...row, units: row.units - ofUnits, loan: row.loan - ofLoan, older: row.older - ofOlder };
  yield* tell(updateQuota(quota), units === undefined ? remove(id) : changed(rest, now));
}

/** Gives back all that a run of a key holds, if there is such a key. */
export function* releaseAll({ keyId }: { readonly keyId: string }, id: string): Work<void> {
  if (yield* isKey(keyId)) yield* release({ keyId }, id);
}

export function* hasDead(isDead: UnitRequest["isDead"]): Work<boolean> {
  const [others, [{ now }]] = yield* ask<[Other[], [Clock]]>(["SELECT id, owner, alive FROM {reservation}"], clock);
  return others.some((other) => isDead(other, now) === true);
}

export function* heldQuotas(): Work<readonly QuotaOwner[]> {
  const [held] = yield* ask<[{ name: string | null; key: string | null }[]]>([
    `SELECT q.name AS name, (SELECT min(k.id) FROM {key} k WHERE k.quota_id = q.id) AS key
    FROM {quota} q WHERE q.id IN (SELECT quota FROM {reservation})`,
  ]);
  return held.map(({ name, key }) => (name !== null ? { quotaName: name } : { keyId: key ?? "" }));
}

export function* sweepQuota(from: QuotaOwner, isDead: UnitRequest["isDead"]): Work<void> {
  const locked: Locked = yield* lock(from, false);
  yield* sweep(locked, isDead);
  yield* tell(updateQuota(locked.quota));
}

/** Reservations go along with a quota whose period was changed. Those of earlier periods are in no `used` any more. */
export const movedReservations = (quota: NamedQuotaRow, before: number): readonly Statement[] => [
  [
    "UPDATE {reservation} SET older = older + units, units = 0 WHERE quota = ? AND period_start <> ?",
    ...[quota.id, before],
  ],
  [
    "UPDATE {reservation} SET period_start = ? WHERE quota = ? AND period_start = ?",
    ...[quota.period_start, quota.id, before],
  ],
];

export function* beat(id: string): Work<boolean> {
  const [[{ now }]] = yield* ask<[[Clock]]>(clock);
  const [found] = yield* ask(["UPDATE {reservation} SET alive = ? WHERE id = ? RETURNING id", now, id]);
  return found!.length > 0;
}

export function* readQuota(from: QuotaOwner): Work<Quota> {
  const [keys, quotas, [{ now }]] = yield* ask<[KeyRow[], NamedQuotaRow[], [Clock]]>(
    ...selectOwner(from, "", ""),
    clock,
  );
  return toQuota(usableQuota(from, keys, quotas, now));
}
