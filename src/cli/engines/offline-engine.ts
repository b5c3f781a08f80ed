/** The embedded classifier with its quota, ready for a run. */
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type ClassifierSource, loadClassifier } from "../../classifier/classifier.js";
import { isTagAlive, processTag } from "../../files/processes.js";
import { StoreError } from "../../store/errors.js";
import { QuotaFile } from "../../store/quota-file.js";
import type { RunReceipts } from "../../store/receipts.js";
import { offlineValidator, type UnitSource } from "../../validator/offline.js";
import type { Kind, QuotaState } from "../../validator/validator.js";
import type { QuotaPlace } from "../config/quota-place.js";
import { fromNow } from "../terminal/time.js";
import { type Engine, once } from "./engine.js";

/** Options of the offline engine. */
export interface OfflineOptions {
  readonly kind: Kind;
  readonly quota: QuotaPlace;
  /** Longest wait for the renewal of the quota, in milliseconds. */
  readonly wait: number;
  /** Why this engine was chosen. */
  readonly reason: string;
  /** Tells the user something. */
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
  const classifier = loadClassifier(source);
  const quota = await openQuota(options, signal);
  const units =
    options.wait > 0
      ? { ...waiting(quota, options, signal), ready: quota.ready, receipts: quota.receipts }
      : quota;
  return {
    validator: offlineValidator({ classifier, source }, units),
    reason: options.reason,
    end: async () => quota.receipts?.end(),
    leavesReceipts: () => quota.leavesReceipts?.() === true,
    close: once(async () => {
      await quota.receipts?.release();
      await quota.close();
    }),
  };
}

/** A source of units that can be closed. */
type QuotaSource = UnitSource & {
  readonly receipts?: RunReceipts;
  leavesReceipts?(): boolean;
  close(): Promise<void>;
};

/**
 * Opens the quota. A user without a home cannot have a quota file and has set no limit: then nothing is counted.
 *
 * @throws StoreError
 * @throws UsageError when there is no such shared quota
 */
async function openQuota(
  { kind, quota: place, note }: OfflineOptions,
  signal: AbortSignal,
): Promise<QuotaSource> {
  if ("state" in place) {
    const { openSharedQuota, sharedUnits } = await import("./shared-quota.js");
    // A database far away takes as long to reach as half a million verdicts, so the run begins meanwhile.
    const opening = openSharedQuota(place, process.env);
    const units = opening.then((store) => sharedUnits(store, place, kind, note, signal));
    units.catch(() => {});
    return {
      ready: units,
      reserve: async (count) => (await units).reserve(count),
      close: async () => (await opening.catch(() => undefined))?.close(),
    };
  }
  const { path, isNamed } = place;
  try {
    const file = await QuotaFile.open(path, Date.now, { signal });
    const receipts = await file.openReceipts(kind, processTag(), isTagAlive);
    return {
      receipts,
      leavesReceipts: () => file.leavesReceipts,
      reserve: (units, receipt) => file.reserve(units, receipt),
      close: () => file.close(),
    };
  } catch (error) {
    if (!(error instanceof StoreError) || isNamed || existsSync(path)) throw error;
    note(`${path} cannot be created; nobody has set a limit, so nothing is counted`);
    const quota: QuotaState = { left: null, renewsAt: null };
    return { reserve: async (granted) => ({ granted, quota }), close: async () => {} };
  }
}

/** Waits for the renewal of a quota that is used up, for `options.wait` altogether. */
function waiting(quota: QuotaSource, { wait, note }: OfflineOptions, signal: AbortSignal): UnitSource {
  let left = wait;
  return {
    async reserve(units, receipt) {
      for (let granted = 0; ; ) {
        const reserved = await quota.reserve(units - granted, receipt);
        granted += reserved.granted;
        const { renewsAt } = reserved.quota;
        const until = renewsAt === null ? Number.POSITIVE_INFINITY : renewsAt - Date.now();
        // The clock of a shared quota may be behind ours.
        const pause = Math.max(leastPause, until);
        if (granted === units || pause > left) return { granted, quota: reserved.quota };
        note(`quota exhausted; it renews ${fromNow(renewsAt!, Date.now())}`);
        left -= pause;
        await sleep(Math.min(pause, longestTimer), undefined, { signal });
      }
    },
  };
}

/** Shortest pause between two looks at a quota, in milliseconds. */
const leastPause = 1000;

/** Longest time of a timer of Node.js, in milliseconds. */
const longestTimer = 2_147_483_647;
