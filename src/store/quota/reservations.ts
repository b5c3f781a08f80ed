/**
 * Reservations: the units that a run has charged and not delivered. They count as used for everybody else. A run that has
 * not delivered owes nothing: its reservation is given back by itself or, once it is dead, by whoever charges next.
 *
 * All work here locks the quota first. Times are in milliseconds since the epoch, by the clock of the state.
 */
import { ask, type Clock, clock, type Statement, tell, type Work } from "../sql.js";
import { hourMilliseconds, type KeyRow, type NamedQuotaRow } from "../state/rules.js";
import { type QuotaOwner, usageIdOf } from "../state/service-store.js";
import { addUsage, selectOwner, updateQuota, usableQuota } from "../state/statements.js";
import { type Quota, takeUnits, toQuota } from "./quota.js";

/** The quota of a file that has no other: nobody asks for its usage. */
export const fileQuota = { quotaName: "" } as const satisfies QuotaOwner;
const isFileQuota = (from: QuotaOwner): boolean => "quotaName" in from && from.quotaName === "";

/** Time for which the deliveries of runs with a name are stored, in milliseconds: 7 days. */
const keptMilliseconds = 604_800_000;

/** In the words of sql.ts. */
export const reservationTables = `CREATE TABLE {reservation} (
    id text PRIMARY KEY,
    quota text NOT NULL,
    owner text NOT NULL,
    alive {integer} NOT NULL,
    charge {integer} NOT NULL,
    granted {integer} NOT NULL,
    units {integer} NOT NULL,
    older {integer} NOT NULL,
    loan {integer} NOT NULL,
    period_start {integer} NOT NULL,
    name {bytes},
    part text,
    bytes {integer},
    digest {bytes}
  ) {by_key_often_changed};
  CREATE TABLE {delivery} (
    quota text NOT NULL,
    name {bytes} NOT NULL,
    part text NOT NULL,
    bytes {integer} NOT NULL,
    digest {bytes} NOT NULL,
    units {integer} NOT NULL,
    created {integer} NOT NULL,
    PRIMARY KEY (quota, name, part, digest)
  ) {by_key}`;

/** A run and a part of it that another try repeats. */
interface NamedPart {
  /** HMAC of the name. */
  readonly name: Uint8Array;
  readonly part: string;
  /** Size of the input, 0 if it is not known: what has the same size is probably the same list. */
  readonly bytes: number;
}

interface ReservationRow {
  readonly id: string;
  /** Identifies the process. */
  readonly owner: string;
  /** Time of the last sign of life. */
  readonly alive: number;
  /** Number of the last charge, and what it granted: a repetition is answered the same. */
  readonly charge: number;
  readonly granted: number;
  /** Units charged in the period that begins at `period_start`, and in earlier ones, which count no more. */
  readonly units: number;
  readonly older: number;
  /** Units that another run of the same name has paid. */
  readonly loan: number;
  readonly period_start: number;
  readonly name: Uint8Array | null;
  readonly part: string | null;
  readonly bytes: number | null;
  /** Of all items of the part, once they are known. */
  readonly digest: Uint8Array | null;
}

export interface Other {
  readonly id: string;
  readonly owner: string;
  readonly alive: number;
}

export interface UnitRequest {
  readonly id: string;
  readonly owner: string;
  /** Number of the charge, from 1. */
  readonly charge: number;
  readonly units: number;
  /** Units that the run has charged before and not delivered. */
  readonly held: number;
  /** Units that the name has paid for an input of this size are not charged during the run. */
  readonly lends?: NamedPart | undefined;
  /** Digest of all items of the part: it is about to be delivered. */
  readonly seal?: (NamedPart & { readonly digest: Uint8Array }) | undefined;
  /** Whether the units are about to be delivered. */
  readonly isFinal?: boolean | undefined;
  /** Returns whether a run is dead; undefined if another look is needed. Asked when units are missing, and at first. */
  readonly isDead: (other: Other, now: number) => boolean | undefined;
}

export interface Reserved {
  /** Negative if the reservation was given back meanwhile, and the quota does not allow what the run has charged before. */
  readonly granted: number;
  readonly quota: Quota;
  /** Units of the items to be delivered that another run of the same name has paid. */
  readonly paidBefore: number;
  /** Whether units are missing that a run holds which may be dead. */
  readonly isUnsure: boolean;
}

interface Locked {
  readonly quota: NamedQuotaRow;
  readonly rows: readonly ReservationRow[];
  readonly now: number;
}

/** @param isUsed whether the key has to be usable; what it has charged before is its own in any case */
function* lock(from: QuotaOwner, isUsed: boolean): Work<Locked> {
  const quotaId =
    "keyId" in from ? "(SELECT quota_id FROM {key} WHERE id = ?)" : "(SELECT id FROM {quota} WHERE name = ?)";
  const [keys, quotas, rows, [{ now }]] = yield* ask<[KeyRow[], NamedQuotaRow[], ReservationRow[], [Clock]]>(
    ...selectOwner(from, "{share}", "{lock}"),
    [`SELECT * FROM {reservation} WHERE quota = ${quotaId}`, "keyId" in from ? from.keyId : from.quotaName],
    clock,
  );
  return { quota: usableQuota(from, isUsed ? keys : [], quotas, now), rows, now };
}

const remove = (id: string): Statement => ["DELETE FROM {reservation} WHERE id = ?", id];

/** Returns the units of a reservation to the quota. */
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

/** Charges up to the requested units, fewer if fewer are left, and takes again what was given back meanwhile. */
export function* reserve(from: QuotaOwner, request: UnitRequest): Work<Reserved> {
  const { id, owner, charge, units, held, lends, seal, isDead } = request;
  const locked: Locked = yield* lock(from, true);
  const { quota, rows, now } = locked;
  const row = rows.find((each) => each.id === id);
  if (row?.charge === charge) {
    return { granted: row.granted, quota: toQuota(quota), paidBefore: row.loan, isUnsure: false };
  }
  const isSame = row?.period_start === quota.period_start;
  let fresh = isSame ? row.units : 0;
  const older = row === undefined ? 0 : row.older + (isSame ? 0 : row.units);
  let loan = row?.loan ?? 0;
  const lost = Math.max(0, held - fresh - older - loan);
  let wanted = units + lost;
  const named = seal ?? lends;
  const paid = named === undefined ? [] : yield* deliveriesOf(quota.id, named, now);
  if (seal !== undefined) {
    // What the same items have cost before, and what is there, need not be charged; the rest of a loan has to be.
    wanted = Math.max(0, held - unitsOf(paid, seal.digest) - fresh - older);
    loan = held - fresh - older - wanted;
  } else if (lends !== undefined) {
    const same = paid.filter(({ bytes }) => bytes > 0 && bytes === lends.bytes);
    const most = Math.max(0, ...same.map((delivery) => delivery.units));
    const lent = Math.min(wanted, Math.max(0, most - loan));
    loan += lent;
    wanted -= lent;
  }
  const due = wanted;
  let taken = takeUnits(quota, wanted);
  const paidBefore = seal === undefined ? 0 : Math.min(held, unitsOf(paid, seal.digest));
  let isUnsure = false;
  if (taken < wanted || charge === 1) {
    ({ isUnsure } = yield* sweep(locked, isDead, id));
    taken += takeUnits(quota, wanted - taken);
  }
  fresh += taken;
  const granted = seal === undefined ? units + taken - due : taken - due;
  const values = [owner, now, charge, granted, fresh, older, loan, quota.period_start];
  const sealed = [seal?.name ?? null, seal?.part ?? null, seal?.bytes ?? null, seal?.digest ?? null];
  yield* tell(updateQuota(quota), remove(id), [
    `INSERT INTO {reservation}
    (id, quota, owner, alive, charge, granted, units, older, loan, period_start, name, part, bytes, digest)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[id, quota.id, ...values, ...sealed],
  ]);
  return { granted, quota: toQuota(quota), paidBefore, isUnsure: isUnsure && taken < due };
}

interface DeliveryRow {
  readonly bytes: number;
  readonly digest: Uint8Array;
  readonly units: number;
}

function* deliveriesOf(
  quota: string,
  { name, part }: Omit<NamedPart, "bytes">,
  now: number,
): Work<readonly DeliveryRow[]> {
  const [rows] = yield* ask<[DeliveryRow[]]>([
    "SELECT bytes, digest, units FROM {delivery} WHERE quota = ? AND name = ? AND part = ? AND created > ?",
    ...[quota, name, part, now - keptMilliseconds],
  ]);
  return rows;
}

export interface DeliveredUnits {
  readonly id: string;
  readonly kind: string;
  readonly units: number;
  /** Units that the run holds afterwards, so that a repetition changes nothing. */
  readonly holds: number;
  readonly isEnd: boolean;
}

/** Makes units that were delivered those of the quota. What was given back meanwhile is taken again, as far as it can be. */
export function* deliver(from: QuotaOwner, delivered: DeliveredUnits): Work<void> {
  yield* deliverIn(from, yield* lock(from, false), delivered);
}

/** Delivers all of a reservation, and ends it. Does nothing if it was given back. */
export function* deliverAll(from: QuotaOwner, id: string, kind: string): Work<void> {
  const [found] = yield* ask(["SELECT id FROM {reservation} WHERE id = ?", id]);
  if (found!.length === 0) return;
  const locked: Locked = yield* lock(from, false);
  yield* deliverIn(from, locked, { id, kind, units: 0, holds: 0, isEnd: true });
}

function* deliverIn(
  from: QuotaOwner,
  { quota, rows, now }: Locked,
  { id, kind, units, holds, isEnd }: DeliveredUnits,
): Work<void> {
  const row = rows.find((each) => each.id === id);
  const all = row === undefined ? units : row.units + row.older + row.loan;
  const delivered = row === undefined ? takeUnits(quota, units) : Math.max(0, all - holds);
  const isOfNow = row === undefined || row.period_start === quota.period_start;
  const changes: Statement[] = [];
  let paid = delivered;
  if (row?.name && row.part !== null && row.digest) {
    const { name, part, bytes, digest } = row;
    const same = unitsOf(yield* deliveriesOf(quota.id, { name, part }, now), digest);
    paid = Math.max(0, delivered - same);
    const refund = Math.min(row.units, Math.max(0, row.units + row.older - paid));
    if (isOfNow) quota.used = Math.max(0, quota.used - refund);
    changes.push(
      ["DELETE FROM {delivery} WHERE created < ?", now - keptMilliseconds],
      [
        `INSERT INTO {delivery} (quota, name, part, bytes, digest, units, created) VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (quota, name, part, digest) DO UPDATE
        SET bytes = excluded.bytes, units = {greatest}({delivery}.units, excluded.units), created = excluded.created`,
        ...[quota.id, name, part, bytes, digest, delivered, now],
      ],
    );
  }
  if (row !== undefined) changes.push(isEnd ? remove(id) : without(row, delivered, now));
  if ("keyId" in from) {
    changes.push([
      "UPDATE {key} SET last_used = ? WHERE id = ? AND (last_used IS NULL OR last_used < ?)",
      ...[now, from.keyId, now],
    ]);
  }
  // Units of an earlier period are not of this one.
  const time = isOfNow ? now : quota.period_start - hourMilliseconds;
  const usage = { keyId: usageIdOf(from), hour: time - (time % hourMilliseconds), kind, status: "unknown" };
  const isCounted = paid > 0 && !isFileQuota(from);
  yield* tell(updateQuota(quota), ...changes, ...addUsage(isCounted ? [{ ...usage, units: paid }] : []));
}

const unitsOf = (deliveries: readonly DeliveryRow[], digest: Uint8Array): number =>
  deliveries.find((delivery) => Buffer.from(delivery.digest).equals(digest))?.units ?? 0;

/** Takes units out of a reservation: those of earlier periods first, then loans. */
function without({ id, units, older, loan }: ReservationRow, taken: number, now: number): Statement {
  const ofOlder = Math.min(older, taken);
  const ofLoan = Math.min(loan, taken - ofOlder);
  return [
    `UPDATE {reservation} SET older = ?, loan = ?, units = ?, alive = ?, name = NULL, part = NULL, bytes = NULL, digest = NULL
    WHERE id = ?`,
    ...[older - ofOlder, loan - ofLoan, units - (taken - ofOlder - ofLoan), now, id],
  ];
}

/** Gives back units that a run has charged and does not deliver; all of them, and the reservation ends, if undefined. */
export function* release(from: QuotaOwner, id: string, units?: number): Work<void> {
  const { quota, rows, now }: Locked = yield* lock(from, false);
  const row = rows.find((each) => each.id === id);
  if (row === undefined) return;
  const given = Math.min(row.units, units ?? row.units);
  giveBack(quota, { ...row, units: given });
  const rest = { ...row, units: row.units - given };
  yield* tell(updateQuota(quota), units === undefined ? remove(id) : without(rest, units - given, now));
}

/** Gives a sign of life. Returns whether the reservation is there. */
export function* beat(id: string): Work<boolean> {
  const [[{ now }]] = yield* ask<[[Clock]]>(clock);
  const [found] = yield* ask(["UPDATE {reservation} SET alive = ? WHERE id = ? RETURNING id", now, id]);
  return found!.length > 0;
}

/** Returns the quota, after giving back what dead runs held. */
export function* readQuota(from: QuotaOwner, isDead: UnitRequest["isDead"]): Work<Quota> {
  const locked: Locked = yield* lock(from, true);
  yield* sweep(locked, isDead);
  yield* tell(updateQuota(locked.quota));
  return toQuota(locked.quota);
}
