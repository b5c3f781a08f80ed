/**
 * Reservations: units that a run has charged and not delivered. They count as used for everybody else, and are given
 * back when the run ends or is dead.
 */
import type { QuotaOwner } from "../service/api-key.js";
import { selectOwner, updateQuota, usableQuota } from "../service/database/statements.js";
import type { KeyRow, NamedQuotaRow } from "../service/rules.js";
import { ask, type Clock, clock, type Statement, tell, type Work } from "../sql.js";
import { deliveriesOf, type ItemDigests, sameUnits } from "./deliveries.js";
import { type Quota, takeUnits, toQuota } from "./quota.js";
import * as reservation from "./reservation-rows.js";

export type Other = Pick<reservation.Row, "id" | "owner" | "alive">;

export interface UnitRequest {
  readonly id: string;
  readonly owner: string;
  /** Units that the run is to hold, with those that it holds. A repetition changes nothing. */
  readonly holds: number;
  /** Up to `most` units that the name has charged for an input of this size are not charged again before the seal. */
  readonly lends?: (reservation.NamedPart & { readonly most: number }) | undefined;
  /** The run's name where its rows are out before the seal: it neither borrows nor lends, but wants the marks. */
  readonly remembers?: reservation.NamedPart | undefined;
  /** The items that are about to be delivered. */
  readonly seal?: (reservation.NamedPart & ItemDigests) | undefined;
  /** Undefined if another look is needed. */
  readonly isDead: (other: Other, now: number) => boolean | undefined;
}

export interface Reserved {
  /** Less than before if the reservation was given back, and the quota has too little to charge it again. */
  readonly holds: number;
  readonly quota: Quota;
  /** Units of the items to be delivered that another run of the same name has paid. */
  readonly paidBefore: number;
  /** Numbers of first items whose digests are wanted: runs of the name have delivered that many. */
  readonly marks: readonly number[];
  /** Units that are lent and not charged. */
  readonly loan: number;
  readonly isUnsure: boolean;
}

type Swept = { readonly others: readonly reservation.Row[]; readonly isUnsure: boolean };

function* sweep({ quota, rows, now }: reservation.Locked, isDead: UnitRequest["isDead"], own?: string): Work<Swept> {
  const found = new Map(rows.map((row) => [row, row.id !== own && isDead(row, now)]));
  const living = rows.filter((row) => found.get(row) !== true);
  for (const row of rows) if (!living.includes(row)) yield* leave(quota, row, living);
  const others = living.filter(({ id }) => id !== own);
  return { others, isUnsure: others.some((row) => found.get(row) === undefined && row.units > 0) };
}

/** Charges as far as the quota goes, with what was given back meanwhile, or gives back. */
export function* reserve(from: QuotaOwner, request: UnitRequest): Work<Reserved> {
  const { id, owner, holds, lends, remembers, seal, isDead } = request;
  const locked: reservation.Locked = yield* reservation.lock(from, true);
  const { quota, now } = locked;
  const found = locked.rows.find((each) => each.id === id);
  const named = seal ?? lends;
  const { name = null, part = null, bytes = null } = named ?? {};
  const { units: charged = 0, older = 0 } = found ?? {};
  // A loan may have to be charged.
  const isShort = (toQuota(quota).left ?? Number.POSITIVE_INFINITY) < holds - charged - older;
  const { others, isUnsure }: Swept =
    isShort || found === undefined
      ? yield* sweep(locked, isDead, id)
      : { others: locked.rows.filter((other) => other !== found), isUnsure: false };
  const own = { units: 0, older: 0, loan: 0, period_start: quota.period_start, ...found };
  const row = reservation.trim(quota, { ...own, id, owner, alive: now, name, part, bytes }, holds);
  const known = named ?? remembers;
  const paid = known === undefined ? [] : yield* deliveriesOf(quota.id, known, now);
  const paidBefore = seal === undefined ? 0 : Math.min(holds, sameUnits(paid, seal));
  const same = lends === undefined ? [] : others.filter((other) => isSamePart(other, lends));
  const likely = paid.filter(({ bytes, run }) => bytes > 0 && bytes <= (lends?.bytes ?? 0) && run !== id);
  // What the same items have cost before need not be charged; the rest of a loan has to be.
  const ofOthers = Math.max(0, ...same.map(reservation.sum)) - row.units - row.older;
  const lent = [row.loan, ofOthers, ...likely.map(({ units }) => units)];
  const rest = holds - row.units - row.older;
  const loan = Math.min(rest, seal === undefined ? Math.min(Math.max(...lent), lends?.most ?? 0) : paidBefore);
  const changes: Statement[] = [];
  let taken = takeUnits(quota, rest - loan);
  // Tries at once share what they have charged: the first one that delivers is the one that pays.
  for (const other of seal === undefined ? [] : same.filter(({ digest }) => digest === null)) {
    const moved = Math.min(other.units, rest - loan - taken);
    if (moved === 0) continue;
    taken += moved;
    changes.push(reservation.store(quota, { ...other, units: other.units - moved, loan: other.loan + moved }));
  }
  const isGranted = taken === rest - loan;
  const digest = (isGranted && seal?.digest) || null;
  const after = { ...row, units: row.units + taken, loan, digest, paid_before: paidBefore };
  yield* tell(updateQuota(quota), ...changes, reservation.store(quota, after));
  return {
    holds: reservation.sum(after),
    quota: toQuota(quota),
    paidBefore,
    marks: paid.map(({ units }) => units),
    loan,
    isUnsure: !isGranted && (isUnsure || (seal !== undefined && same.some((other) => other.digest !== null))),
  };
}

/** Without a name, or the size of its input, a run is alone. */
function isSamePart(row: reservation.Row, { name, part, bytes }: reservation.NamedPart | reservation.Row): boolean {
  if (!row.name || !name || !bytes) return false;
  return row.bytes === bytes && row.part === part && Buffer.from(name).equals(row.name);
}

/** Gives back all, and ends the reservation. */
export function* release(from: QuotaOwner, id: string): Work<void> {
  const { quota, rows }: reservation.Locked = yield* reservation.lock(from, false);
  const row = rows.find((each) => each.id === id);
  if (row === undefined) return;
  yield* leave(quota, row, rows);
  yield* tell(updateQuota(quota));
}

/** Ends a reservation: what it has lent goes to tries of its name that count on it, and the rest is given back. */
function* leave(quota: NamedQuotaRow, row: reservation.Row, rows: readonly reservation.Row[]): Work<void> {
  let { units } = row;
  for (const other of rows) {
    const isLent = other.id !== row.id && other.digest === null && isSamePart(other, row);
    const moved = isLent ? Math.min(units, other.loan) : 0;
    if (moved === 0) continue;
    units -= moved;
    Object.assign(other, { units: other.units + moved, loan: other.loan - moved });
    yield* tell(reservation.store(quota, other));
  }
  reservation.trim(quota, { ...row, units }, 0);
  yield* tell(reservation.remove(row.id));
}

/** Gives back all that a run of a key holds, if there is such a key. */
export function* releaseAll({ keyId }: { readonly keyId: string }, id: string): Work<void> {
  if (yield* reservation.isKey(keyId)) yield* release({ keyId }, id);
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
  const locked: reservation.Locked = yield* reservation.lock(from, false);
  yield* sweep(locked, isDead);
  yield* tell(updateQuota(locked.quota));
}

/** Reservations go along with a quota whose period was changed. Those of earlier periods are in no `used` any more. */
export function movedReservations({ id, period_start }: NamedQuotaRow, before: number): readonly Statement[] {
  const older = "UPDATE {reservation} SET older = older + units, units = 0 WHERE quota = ? AND period_start <> ?";
  const moved = "UPDATE {reservation} SET period_start = ? WHERE quota = ? AND period_start = ?";
  return [
    [older, id, before],
    [moved, period_start, id, before],
  ];
}

export function* beat(id: string): Work<boolean> {
  const [[{ now }]] = yield* ask<[[Clock]]>(clock);
  const [found] = yield* ask(["UPDATE {reservation} SET alive = ? WHERE id = ? RETURNING id", now, id]);
  return found!.length > 0;
}

export function* readQuota(from: QuotaOwner): Work<Quota> {
  const statements = [...selectOwner(from, "", ""), clock];
  const [keys, quotas, [{ now }]] = yield* ask<[KeyRow[], NamedQuotaRow[], [Clock]]>(...statements);
  return toQuota(usableQuota(from, keys, quotas, now));
}
