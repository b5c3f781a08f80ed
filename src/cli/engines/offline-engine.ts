/** The embedded classifier with its quota, ready for a run. */
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type ClassifierSource, loadClassifier } from "../../classifier/load-classifier.js";
import { processTag, stateOfTag } from "../../files/processes.js";
import { StoreError } from "../../store/errors.js";
import type { Reservation } from "../../store/quota/quota.js";
import { freshQuota, QuotaFile } from "../../store/quota/quota-file.js";
import {
  type Granted,
  type ReceiptCharge,
  type ReceiptStore,
  RunReceipts,
} from "../../store/quota/receipts.js";
import { offlineValidator, type UnitSource } from "../../validator/offline.js";
import type { Kind } from "../../validator/validator.js";
import type { QuotaLocation } from "../config/quota-location.js";
import { fromNow } from "../terminal/time.js";
import { type Engine, longestTimer, once } from "./engine.js";

export interface OfflineOptions {
  readonly kind: Kind;
  readonly quota: QuotaLocation;
  readonly isDry: boolean;
  readonly wait: number;
  readonly reason: string;
  readonly note: (text: string) => void;
}

/**
 * Opens the offline engine.
 *
 * @param signal ends the wait for a quota file that another process has locked, and for the renewal of the quota
 * @throws StoreError when the quota cannot be used
 * @throws UsageError when there is no such shared quota
 */
export async function openOfflineEngine(
  source: ClassifierSource,
  options: OfflineOptions,
  signal: AbortSignal,
): Promise<Engine> {
  const opening = openQuota(options, signal);
  opening.catch(() => {});
  const classifier = loadClassifier(source);
  const quota = await opening;
  const { receipts } = quota;
  const units: UnitSource = {
    receipts,
    reserve: (count, receipt) => quota.reserve(count, receipt && receipts?.charge(receipt)),
  };
  return {
    validator: offlineValidator({ classifier, source }, waiting(units, options, signal)),
    reason: options.reason,
    end: async () => receipts?.end(),
    leavesReceipts: () => receipts?.hasLeft === true && quota.isInPlace,
    close: once(async () => {
      await receipts?.release();
      await quota.close();
    }),
  };
}

interface OpenQuota {
  readonly receipts?: RunReceipts;
  /** Whether the quota file is still at its path. */
  readonly isInPlace: boolean;
  reserve(units: number, receipt?: ReceiptCharge): Promise<Reservation & Granted>;
  close(): Promise<void>;
}

/**
 * Opens the quota. Counts nothing if no limit can have been set: the quota file cannot be created, as without a home
 * folder, or machines can share it and it has no limit.
 *
 * @throws StoreError
 * @throws UsageError when there is no such shared quota
 */
async function openQuota(
  { kind, quota: location, isDry, note }: OfflineOptions,
  signal: AbortSignal,
): Promise<OpenQuota> {
  const receiptsIn = (store: ReceiptStore) =>
    new RunReceipts(store, kind, processTag(), stateOfTag, { name: process.env["IDV_RUN"], isDry });
  if ("state" in location) {
    const { openSharedQuota, retrying, sharedUnits } = await import("./shared-quota.js");
    const { store, receipts } = await openSharedQuota(location, process.env);
    const take: ReceiptStore["take"] = (run, isDead) =>
      retrying(() => receipts.take(run, isDead), note, signal);
    return {
      receipts: receiptsIn(withTake(receipts, take)),
      isInPlace: true,
      reserve: sharedUnits(store, location, kind, note, signal),
      close: () => store.close(),
    };
  }
  const { path, isNamed } = location;
  try {
    const file = await QuotaFile.open(path, Date.now, { signal });
    return {
      receipts: receiptsIn(await file.openReceipts()),
      get isInPlace() {
        return file.isInPlace;
      },
      reserve: (units, receipt) => file.reserve(units, receipt),
      close: () => file.close(),
    };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const isShared = error.isShared && (!existsSync(path) || (await hasNoLimit(path)));
    if (!isShared && (isNamed || existsSync(path))) throw error;
    const fault = isShared ? "is on a file system that machines share" : "cannot be created";
    note(`${path} ${fault}; nobody has set a limit, so nothing is counted`);
    return {
      isInPlace: true,
      reserve: async (units) => ({ granted: units, charged: units, quota: freshQuota }),
      close: async () => {},
    };
  }
}

const withTake = (receipts: ReceiptStore, take: ReceiptStore["take"]): ReceiptStore => ({
  secret: receipts.secret,
  take,
  stayAlive: (owner) => receipts.stayAlive(owner),
  end: (owner, used) => receipts.end(owner, used),
  release: (owner) => receipts.release(owner),
});

async function hasNoLimit(path: string): Promise<boolean> {
  try {
    return (await QuotaFile.peek(path)).limit === null;
  } catch {
    return false;
  }
}

/** Waits for the renewal of an exhausted quota, for `options.wait` in total. */
function waiting(quota: UnitSource, { wait, note }: OfflineOptions, signal: AbortSignal): UnitSource {
  let left = wait;
  return {
    receipts: quota.receipts,
    async reserve(units, receipt) {
      for (let granted = 0, charged = 0; ; ) {
        const reserved = await quota.reserve(units - granted, receipt);
        granted += reserved.granted;
        charged += reserved.charged;
        const { renewsAt } = reserved.quota;
        const until = renewsAt === null ? Number.POSITIVE_INFINITY : renewsAt - Date.now();
        // The clock of a shared quota may differ from ours.
        const pause = Math.max(leastPause, until);
        if (granted === units || pause > left) return { granted, charged, quota: reserved.quota };
        note(`quota exhausted; it renews ${fromNow(renewsAt!, Date.now())}`);
        left -= pause;
        await sleep(Math.min(pause, longestTimer), undefined, { signal });
      }
    },
  };
}

/** Shortest pause between two looks at a quota, in milliseconds. */
const leastPause = 1000;
