/** Sets and reads quotas of the offline engine, as `idv quota` does, and charges them, as a run does. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { processTag, stateOfTag } from "../../src/files/processes.js";
import type { Quota, QuotaChange } from "../../src/state/quota/quota.js";
import { openQuotaFile, type QuotaFile } from "../../src/state/quota/quota-file.js";
import type { Quotas } from "../../src/state/quota/quotas.js";
import { RunReservation } from "../../src/state/quota/run-reservation.js";

/** A quota file, and runs that deliver at once what they charge. */
export class TestQuota {
  readonly #file: QuotaFile;

  constructor(file: QuotaFile) {
    this.#file = file;
  }

  static async open(path: string, now: () => number = Date.now): Promise<TestQuota> {
    return new TestQuota(await openQuotaFile(path, now));
  }

  get quotas(): Quotas {
    return this.#file.quotas;
  }

  charge(units: number): Promise<{ readonly granted: number; readonly quota: Quota }> {
    return take(this.quotas, units);
  }

  read(): Promise<Quota> {
    return this.quotas.read(() => false);
  }

  configure(change: QuotaChange): Promise<Quota> {
    return this.quotas.configure(change);
  }

  reset(): Promise<Quota> {
    return this.quotas.reset();
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/** Returns the reservation of a run of this process. */
export const reservationIn = (quotas: Quotas): RunReservation =>
  new RunReservation(quotas, {
    ...{ kind: "email", owner: processTag(), stateOf: stateOfTag, secret: Buffer.from("s"), part: "", bytes: 0 },
    isWhole: true,
  });

/** Charges units, and delivers them. */
export async function take(quotas: Quotas, units: number, kind = "email") {
  const id = randomUUID();
  const { holds: granted, quota } = await quotas.reserve({ id, owner: "test", holds: units, isDead: () => false });
  await quotas.deliver({ id, kind, held: granted, holds: 0 });
  await quotas.release(id);
  return { granted, quota };
}

/** Changes the quota of a home, and sets its used units to 0. */
export async function setQuota(home: string, change: QuotaChange): Promise<void> {
  await withQuota(home, async (quota) => {
    await quota.configure(change);
    await quota.reset();
  });
}

/** Returns the quota of a home. */
export const readQuota = (home: string): Promise<Quota> => withQuota(home, (quota) => quota.read());

async function withQuota<Result>(home: string, work: (quota: TestQuota) => Promise<Result>): Promise<Result> {
  const quota = await TestQuota.open(join(home, "state/idv/quota.db"));
  try {
    return await work(quota);
  } finally {
    await quota.close();
  }
}
