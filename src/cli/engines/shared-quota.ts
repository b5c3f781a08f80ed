/** Takes units from a shared quota, for runs of the offline engine. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { StoreError } from "../../store/errors.js";
import type { Reservation } from "../../store/quota/quota.js";
import type { Granted, ReceiptCharge, ReceiptStore } from "../../store/quota/receipts.js";
import { type ServiceStore, UnknownKeyError } from "../../store/state/service-store.js";
import type { Kind } from "../../validator/validator.js";
import type { SharedQuota } from "../config/quota-location.js";
import { UsageError } from "../errors.js";
import { openState } from "./service-state.js";

/** Longest time for retries, and pauses between two tries, in milliseconds. */
const longestOutage = 120_000;
const firstPause = 250;
const longestPause = 5000;

/**
 * Opens the state with a shared quota, and its receipts.
 *
 * @throws StoreError when it cannot be opened
 * @throws UsageError when there is no such quota, or the option holds a password
 */
export async function openSharedQuota(
  { state, isOption, from }: SharedQuota,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly store: ServiceStore; readonly receipts: ReceiptStore }> {
  const store = await openState(state, isOption ? "--quota" : undefined, env);
  try {
    return { store, receipts: await store.openReceipts(from) };
  } catch (error) {
    await store.close();
    throw error instanceof UnknownKeyError ? new UsageError(error.message) : error;
  }
}

/** Repeats failed work on a database for up to two minutes. `signal` ends the retries. */
export async function retrying<Result>(
  work: () => Promise<Result>,
  note: (text: string) => void,
  signal: AbortSignal,
): Promise<Result> {
  const end = performance.now() + longestOutage;
  for (let pause = firstPause; ; pause = Math.min(2 * pause, longestPause)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreError) || performance.now() + pause > end) throw error;
      if (pause === firstPause) note(`${error.message}; trying again for up to 2 min`);
      await sleep(pause, undefined, { signal });
    }
  }
}

/**
 * Returns a function that takes units. A failed request is repeated with the same text, so that it is charged once,
 * even if the connection broke after the charge.
 */
export const sharedUnits =
  (
    store: Pick<ServiceStore, "takeUnits">,
    { from }: Pick<SharedQuota, "from">,
    kind: Kind,
    note: (text: string) => void,
    signal: AbortSignal,
  ) =>
  (units: number, receipt?: ReceiptCharge): Promise<Reservation & Granted> => {
    const request = { from, kind, units, once: randomUUID(), receipt };
    return retrying(() => store.takeUnits(request), note, signal).catch((error: unknown) => {
      // The key was revoked, or has expired.
      throw error instanceof UnknownKeyError ? new UsageError(error.message) : error;
    });
  };
