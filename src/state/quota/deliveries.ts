/** Deliveries turn a run's reserved units into used ones once its output is delivered. */
import { type QuotaOwner, usageIdOf } from "../service/api-key.js";
import { addUsage, noteUse, updateQuota } from "../service/database/statements.js";
import { hourMilliseconds } from "../service/rules.js";
import { addEarlier } from "../service/usage.js";
import { ask, insertion, type Statement, tell, type Work } from "../sql.js";
import { isFileQuota } from "./quota.js";
import * as reservation from "./reservation-rows.js";
import { UnitsLost } from "./units-lost.js";

const keptMilliseconds = 604_800_000;

export interface ItemDigests {
  readonly digest: Uint8Array;
  /** Digests of the sets of the first items, by their numbers. */
  readonly prefixes: ReadonlyMap<number, Uint8Array>;
}

interface DeliveryRow {
  readonly bytes: number;
  readonly run: string;
  readonly digest: Uint8Array;
  readonly units: number;
}

export function* deliveriesOf(
  quota: string,
  { name, part }: Omit<reservation.NamedPart, "bytes">,
  now: number,
): Work<readonly DeliveryRow[]> {
  const [rows] = yield* ask<[DeliveryRow[]]>([
    "SELECT bytes, run, digest, units FROM {delivery} WHERE quota = ? AND name = ? AND part = ? AND created > ?",
    ...[quota, name, part, now - keptMilliseconds],
  ]);
  return rows;
}

export function sameUnits(deliveries: readonly DeliveryRow[], { digest, prefixes }: ItemDigests): number {
  const same = deliveries.filter((delivery) => {
    const own = [digest, prefixes.get(delivery.units)];
    return own.some((each) => each !== undefined && Buffer.from(each).equals(delivery.digest));
  });
  return Math.max(0, ...same.map(({ units }) => units));
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
  const locked: reservation.Locked = yield* reservation.lock(from, false);
  const found = locked.rows.find((each) => each.id === id);
  if (found === undefined) return;
  const row = reservation.trim(locked.quota, found, held);
  const delivered = Math.max(0, reservation.sum(row) - holds);
  yield* pay(from, locked, row, kind, delivered);
  const older = Math.min(row.older, delivered);
  const loan = Math.min(row.loan, delivered - older);
  const units = row.units - (delivered - older - loan);
  // The row stays, so that a repetition finds it, until the run ends.
  const rest = { ...row, older: row.older - older, loan: row.loan - loan, units, digest: null, paid_before: 0 };
  yield* tell(reservation.store(locked.quota, { ...rest, alive: locked.now }));
}

/** @throws UnitsLost if they were given back: which items they were is not known any more, so another try charges them */
export function* deliverAll(from: { readonly keyId: string }, id: string, kind: string, units: number): Work<void> {
  if (!(yield* reservation.isKey(from.keyId))) return;
  const locked: reservation.Locked = yield* reservation.lock(from, false);
  const row = locked.rows.find((each) => each.id === id);
  if (row !== undefined) {
    yield* pay(from, locked, row, kind, reservation.sum(row));
    yield* tell(reservation.remove(id));
  } else if (units > 0) throw new UnitsLost(false);
}

function* pay(from: QuotaOwner, locked: reservation.Locked, row: reservation.Row, kind: string, delivered: number) {
  const { quota, now } = locked;
  const changes: Statement[] = [];
  let paid = delivered;
  const { id, name, part, bytes, digest, paid_before } = row;
  if (name !== null && part !== null && bytes !== null && digest !== null) {
    const all = yield* deliveriesOf(quota.id, { name, part }, now);
    // Another run of the name may have delivered the same since.
    paid = Math.max(0, delivered - Math.max(paid_before, sameUnits(all, { digest, prefixes: new Map() })));
    quota.used = Math.max(0, quota.used - Math.min(row.units, Math.max(0, row.units + row.older - paid)));
    changes.push(
      ["DELETE FROM {delivery} WHERE created < ?", now - keptMilliseconds],
      insertion(
        "{delivery} (quota, name, part, bytes, digest, run, units, created)",
        [[quota.id, name, part, bytes, digest, id, delivered, now]],
        // The items may have come with those of other files, which had their part of the bytes: the least counts.
        `ON CONFLICT (quota, name, part, digest) DO UPDATE SET run = excluded.run, created = excluded.created,
        units = {greatest}({delivery}.units, excluded.units),
        bytes = CASE WHEN excluded.bytes = 0 OR ({delivery}.bytes > 0 AND {delivery}.bytes < excluded.bytes)
          THEN {delivery}.bytes ELSE excluded.bytes END`,
      ),
    );
  }
  if ("keyId" in from) changes.push(noteUse(from.keyId, now));
  yield* tell(updateQuota(quota), ...changes);
  if (isFileQuota(from)) return;
  const older = Math.min(row.older, paid);
  const usage = { keyId: usageIdOf(from), kind, status: "unknown" };
  const hour = now - (now % hourMilliseconds);
  if (paid > older) yield* tell(...addUsage([{ ...usage, hour, units: paid - older }]));
  const earlier = quota.period_start === 0 ? hour : quota.period_start - hourMilliseconds;
  if (older > 0) yield* addEarlier({ ...usage, hour: earlier, units: older });
}
