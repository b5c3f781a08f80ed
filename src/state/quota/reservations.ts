/**
 * Reservations: units that a run has charged and not delivered. They count as used for everybody else, and are given
 * back when the run ends or is dead. All work here locks the quota first. Times are by the clock of the state.
 */

import { type QuotaOwner, usageIdOf } from "../service/api-key.js";
import { addUsage, selectOwner, updateQuota, usableQuota } from "../service/database/statements.js";
import { hourMilliseconds, type KeyRow, type NamedQuotaRow } from "../service/rules.js";
import { addEarlier } from "../service/usage.js";
import { ask, type Clock, clock, insertion, type Statement, tell, type Work } from "../sql.js";
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

export interface ItemDigests {
  readonly digest: Uint8Array;
  /** Digests of the sets of the first items, by their numbers. */
  readonly prefixes: ReadonlyMap<number, Uint8Array>;
}

/** A run with a name, and a part of it that another try repeats. */
export interface NamedPart {
  readonly name: Uint8Array;
  readonly part: string;
  /** 0 if it is not known. An input of the same size is probably the same list. */
  readonly bytes: number;
}

interface Units {
  /** Charged in the period that begins at `period_start`, and in earlier ones. */
  readonly units: number;
  readonly older: number;
  /** Units that another run of the same name has charged. */
  readonly loan: number;
}

interface ReservationRow extends Units {
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

export type Other = Pick<ReservationRow, "id" | "owner" | "alive">;

export interface UnitRequest {
  readonly id: string;
  readonly owner: string;
  /** Units that the run is to hold, with those that it holds. A repetition changes nothing. */
  readonly holds: number;
  /** Units that the name has charged for an input of this size are not charged again before the seal. */
  readonly lends?: NamedPart | undefined;
  /** The items that are about to be delivered. */
  readonly seal?: (NamedPart & ItemDigests) | undefined;
  readonly isFinal?: boolean | undefined;
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
  const quota = usableQuota(from, isUsed ? keys : [], quotas, now);
  const { period_start } = quota;
  const ofNow = (row: ReservationRow): ReservationRow =>
    row.period_start === period_start ? row : { ...row, units: 0, older: row.older + row.units, period_start };
  return { quota, rows: rows.map(ofNow), now };
}

const remove = (id: string): Statement => ["DELETE FROM {reservation} WHERE id = ?", id];

const store = (quota: NamedQuotaRow, row: ReservationRow): Statement =>
  insertion(
    "{reservation} (id, quota, owner, alive, units, older, loan, period_start, name, part, bytes, digest, paid_before)",
    [
      [
        ...[row.id, quota.id, row.owner, row.alive, row.units, row.older, row.loan],
        ...[quota.period_start, row.name, row.part, row.bytes, row.digest, row.paid_before],
      ],
    ],
    `ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, alive = excluded.alive, units = excluded.units,
    older = excluded.older, loan = excluded.loan, period_start = excluded.period_start, name = excluded.name,
    part = excluded.part, bytes = excluded.bytes, digest = excluded.digest, paid_before = excluded.paid_before`,
  );

const sum = ({ units, older, loan }: Units): number => units + older + loan;

/** Gives back what is more than `most`: what was charged last first, as it is free for others then. */
function trim<Row extends Units>(quota: NamedQuotaRow, row: Row, most: number): Row {
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

interface Swept {
  readonly others: readonly ReservationRow[];
  readonly isUnsure: boolean;
}

function* sweep({ quota, rows, now }: Locked, isDead: UnitRequest["isDead"], own?: string): Work<Swept> {
  const others: ReservationRow[] = [];
  let isUnsure = false;
  for (const row of rows) {
    if (row.id === own) continue;
    const found = isDead(row, now);
    if (found === true) {
      trim(quota, row, 0);
      yield* tell(remove(row.id));
    } else {
      others.push(row);
      if (found === undefined && row.units > 0) isUnsure = true;
    }
  }
  return { others, isUnsure };
}

/** Charges as far as the quota goes, with what was given back meanwhile, or gives back. */
export function* reserve(from: QuotaOwner, { id, owner, holds, lends, seal, isDead }: UnitRequest): Work<Reserved> {
  const locked: Locked = yield* lock(from, true);
  const { quota, now } = locked;
  const found = locked.rows.find((each) => each.id === id);
  const named = seal ?? lends;
  const { name = null, part = null, bytes = null } = named ?? {};
  const own = { units: 0, older: 0, loan: 0, period_start: quota.period_start, ...found };
  const row = trim(quota, { ...own, id, owner, alive: now, name, part, bytes }, holds);
  const isShort = (toQuota(quota).left ?? Number.POSITIVE_INFINITY) < holds - sum(row);
  const { others, isUnsure }: Swept =
    isShort || found === undefined
      ? yield* sweep(locked, isDead, id)
      : { others: locked.rows.filter((other) => other !== found), isUnsure: false };
  const paid = named === undefined ? [] : yield* deliveriesOf(quota.id, named, now);
  const paidBefore = seal === undefined ? 0 : Math.min(holds, sameUnits(paid, seal));
  const same = lends === undefined ? [] : others.filter((other) => isSamePart(other, lends));
  const likely = paid.filter(({ bytes, run }) => bytes > 0 && bytes === lends?.bytes && run !== id);
  // What the same items have cost before need not be charged; the rest of a loan has to be.
  const shared = same.reduce((units, other) => units + other.units + other.older, 0);
  const lent = [row.loan, shared, ...likely.map(({ units }) => units)];
  const rest = holds - row.units - row.older;
  const loan = Math.min(rest, seal === undefined ? Math.max(...lent) : paidBefore);
  const changes: Statement[] = [];
  let taken = takeUnits(quota, rest - loan);
  // Tries at once share what they have charged: the first one that delivers is the one that pays.
  for (const other of seal === undefined ? [] : same.filter(({ digest }) => digest === null)) {
    const moved = Math.min(other.units, rest - loan - taken);
    taken += moved;
    changes.push(store(quota, { ...other, units: other.units - moved, loan: other.loan + moved }));
  }
  const digest = seal?.digest ?? null;
  const after = { ...row, units: row.units + taken, loan, digest, paid_before: paidBefore };
  yield* tell(updateQuota(quota), ...changes, store(quota, after));
  return {
    holds: sum(after),
    quota: toQuota(quota),
    paidBefore,
    marks: paid.map(({ units }) => units),
    isUnsure: isUnsure && taken < rest - loan,
  };
}

const isSamePart = (row: ReservationRow, { name, part, bytes }: NamedPart): boolean =>
  bytes > 0 && row.bytes === bytes && row.part === part && row.name !== null && Buffer.from(name).equals(row.name);

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
  /** Units that the run holds before and after the delivery. What is stored beyond those before is given back. */
  readonly held: number;
  readonly holds: number;
}

/** Moves delivered units to the quota. Units that were given back meanwhile are free. */
export function* deliver(from: QuotaOwner, { id, kind, held, holds }: DeliveredUnits): Work<void> {
  const locked: Locked = yield* lock(from, false);
  const found = locked.rows.find((each) => each.id === id);
  if (found === undefined) return;
  const row = trim(locked.quota, found, held);
  const delivered = Math.max(0, sum(row) - holds);
  yield* pay(from, locked, row, kind, delivered);
  const older = Math.min(row.older, delivered);
  const loan = Math.min(row.loan, delivered - older);
  const units = row.units - (delivered - older - loan);
  // The row stays, so that a repetition finds it, until the run ends.
  const rest = { ...row, older: row.older - older, loan: row.loan - loan, units, digest: null, paid_before: 0 };
  yield* tell(store(locked.quota, { ...rest, alive: locked.now }));
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
  const row = found ?? { units, older: 0, loan: 0 };
  yield* pay(from, locked, row, kind, sum(row));
  yield* tell(remove(id));
}

function* pay(
  from: QuotaOwner,
  { quota, now }: Locked,
  row: Units & Partial<ReservationRow>,
  kind: string,
  delivered: number,
): Work<void> {
  const changes: Statement[] = [];
  let paid = delivered;
  const { id, name, part, bytes, digest, paid_before = 0 } = row;
  if (id && name && digest && typeof part === "string" && typeof bytes === "number") {
    const all = yield* deliveriesOf(quota.id, { name, part }, now);
    // Another run of the name may have delivered the same since.
    paid = Math.max(0, delivered - Math.max(paid_before, sameUnits(all, { digest, prefixes: new Map() })));
    quota.used = Math.max(0, quota.used - Math.min(row.units, Math.max(0, row.units + row.older - paid)));
    changes.push(
      ["DELETE FROM {delivery} WHERE created < ?", now - keptMilliseconds],
      insertion(
        "{delivery} (quota, name, part, bytes, digest, run, units, created)",
        [[quota.id, name, part, bytes, digest, id, delivered, now]],
        `ON CONFLICT (quota, name, part, digest) DO UPDATE SET bytes = excluded.bytes, run = excluded.run,
        created = excluded.created, units = {greatest}({delivery}.units, excluded.units)`,
      ),
    );
  }
  if ("keyId" in from) {
    changes.push([
      "UPDATE {key} SET last_used = ? WHERE id = ? AND (last_used IS NULL OR last_used < ?)",
      ...[now, from.keyId, now],
    ]);
  }
  yield* tell(updateQuota(quota), ...changes);
  if (isFileQuota(from)) return;
  const older = Math.min(row.older, paid);
  const usage = { keyId: usageIdOf(from), kind, status: "unknown" };
  if (paid > older) yield* tell(...addUsage([{ ...usage, hour: now - (now % hourMilliseconds), units: paid - older }]));
  if (older > 0) yield* addEarlier({ ...usage, hour: quota.period_start - hourMilliseconds, units: older });
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

/** Gives back all, and ends the reservation. */
export function* release(from: QuotaOwner, id: string): Work<void> {
  const { quota, rows }: Locked = yield* lock(from, false);
  const row = rows.find((each) => each.id === id);
  if (row === undefined) return;
  trim(quota, row, 0);
  yield* tell(updateQuota(quota), remove(id));
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
