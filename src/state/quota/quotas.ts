/** One quota and the reservations in it. All methods throw StoreError, and UnknownKeyError without a usable quota. */

import type { QuotaOwner } from "../service/api-key.js";
import type { ServiceDatabase } from "../service/database/database.js";
import { insertQuota, selectOwner, updateQuota, usableQuota } from "../service/database/statements.js";
import type { NamedQuotaRow } from "../service/rules.js";
import { newId } from "../service/secrets.js";
import { ask, type Clock, clock, tell, type Work } from "../sql.js";
import { type DeliveredUnits, deliver } from "./deliveries.js";
import { changeQuota, freshRow, type Quota, type QuotaChange, renewed, toQuota } from "./quota.js";
import {
  beat,
  hasDead,
  heldQuotas,
  movedReservations,
  type Reserved,
  readQuota,
  release,
  reserve,
  sweepQuota,
  type UnitRequest,
} from "./reservations.js";

type QuotaDatabase = Pick<ServiceDatabase, "name" | "isServer" | "read" | "write" | "writeFast">;

export class Quotas {
  constructor(
    private readonly database: QuotaDatabase,
    private readonly from: QuotaOwner,
  ) {}

  get isServer(): boolean {
    return this.database.isServer;
  }

  async secret(): Promise<Uint8Array> {
    const from = this.from;
    return this.database.read(function* () {
      const [keys, quotas, [{ now }], [row]] = yield* ask<
        [Parameters<typeof usableQuota>[1], NamedQuotaRow[], [Clock], { secret: Uint8Array }[]]
      >(...selectOwner(from, "", ""), clock, ["SELECT secret FROM {run_secret}"]);
      usableQuota(from, keys, quotas, now);
      return row!.secret;
    });
  }

  /** Gives back what dead runs held; if there is nothing, no lock is needed. */
  async read(isDead: UnitRequest["isDead"]): Promise<Quota> {
    await clearDead(this.database, isDead);
    return this.database.read(() => readQuota(this.from));
  }

  configure(change: QuotaChange): Promise<Quota> {
    return this.database.write(() => configure(this.from, change));
  }

  /** Runs that have charged and not delivered charge again. */
  reset(): Promise<Quota> {
    const from = this.from;
    return this.database.write(function* () {
      const [[row], [{ now }]] = yield* ask<[[NamedQuotaRow], [Clock]]>(selectOwner(from, "", "{lock}")[1], clock);
      const quota = { ...renewed(row, now), used: 0 };
      yield* tell(
        updateQuota(quota, "{bump}"),
        ["DELETE FROM {reservation} WHERE quota = ?", quota.id],
        ["DELETE FROM {delivery} WHERE quota = ?", quota.id],
      );
      return toQuota(quota);
    });
  }

  reserve(request: UnitRequest): Promise<Reserved> {
    return this.#write(() => reserve(this.from, request));
  }

  deliver(delivered: DeliveredUnits): Promise<void> {
    return this.#write(() => deliver(this.from, delivered));
  }

  release(id: string, isDurable?: boolean): Promise<void> {
    return this.#write(() => release(this.from, id), isDurable);
  }

  beat(id: string, isDurable?: boolean): Promise<boolean> {
    return this.#write(() => beat(id), isDurable);
  }

  /**
   * A power failure ends all runs on a file, which owe nothing then; a durable change makes those before it durable. A
   * database may crash while they go on.
   */
  #write<Result>(work: () => Work<Result>, isDurable = this.isServer): Promise<Result> {
    return isDurable ? this.database.write(work) : this.database.writeFast(work);
  }
}

export async function clearDead(
  database: Pick<QuotaDatabase, "read" | "writeFast">,
  isDead: UnitRequest["isDead"],
): Promise<void> {
  if (!(await database.read(() => hasDead(isDead)))) return;
  // One at a time: who holds the lock of a quota must not wait for another key.
  for (const from of await database.read(heldQuotas)) await database.writeFast(() => sweepQuota(from, isDead));
}

function* configure(from: QuotaOwner, change: QuotaChange): Work<Quota> {
  if ("quotaName" in from) yield* ask(insertQuota({ ...freshRow, id: newId(), name: from.quotaName }));
  const [[row], [{ now }]] = yield* ask<[[NamedQuotaRow], [Clock]]>(selectOwner(from, "", "{lock}")[1], clock);
  const quota = renewed(row, now);
  const before = quota.period_start;
  changeQuota(quota, change, now);
  yield* tell(updateQuota(quota, "{bump}"), ...movedReservations(quota, before));
  return toQuota(quota);
}
