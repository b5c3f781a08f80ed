/** The embedded classifier with its quota, ready for a run. */

import { existsSync } from "node:fs";
import type { Classifier } from "../../core/classifier/classifier.js";
import { type ClassifierSource, loadClassifier } from "../../core/classifier/tables/load-classifier.js";
import { offlineValidator, type UnitSource } from "../../core/validator/offline.js";
import type { Kind } from "../../core/validator/validator.js";
import { tableSource } from "../../engines/data/installed-table.js";
import { isAbsent } from "../../files/found.js";
import { processTag, stateOfTag } from "../../files/processes.js";
import { StoreError } from "../../state/errors.js";
import { freshQuota, openQuotaFile, peekQuota } from "../../state/quota/quota-file.js";
import { type RunIdentity, RunReservation } from "../../state/quota/run-reservation.js";
import { sleepFor } from "../../time.js";
import { dataTablePath } from "../config/paths.js";
import type { QuotaLocation } from "../config/quota-location.js";
import { say } from "../terminal/terminal.js";
import { fromNow } from "../terminal/time.js";
import { type Engine, once } from "./engine.js";

interface OfflineOptions {
  readonly kind: Kind;
  readonly quota: QuotaLocation;
  readonly wait: number;
  readonly reason: string;
  readonly run: string | undefined;
  readonly part: string;
  readonly bytes: number;
  readonly isWhole: boolean;
  readonly note: (text: string) => void;
}

/** `signal` ends the waits for a locked quota file and for the quota's renewal. @throws StoreError, UsageError */
export async function openOfflineEngine(source: ClassifierSource, options: OfflineOptions, signal: AbortSignal) {
  const opening = openQuota(options, signal);
  opening.catch(() => {});
  const classifier = loadClassifier(source);
  const { reservation, close } = await opening;
  const units: UnitSource = reservation
    ? { delivery: reservation, charge: (count) => reservation.charge(count) }
    : { charge: async (count) => ({ granted: count, quota: freshQuota }) };
  const engine: Engine = {
    validator: offlineValidator({ classifier, source }, waiting(units, options, signal)),
    reason: options.reason,
    ...(reservation && {
      secure: () => reservation.secure(),
      deliver: () => reservation.deliver(),
      takePaidBefore: () => reservation.takePaidBefore(),
      quota: () => reservation.quota(),
    }),
    close: once(async () => {
      await reservation?.end();
      await close();
    }),
  };
  return engine;
}

type OpenQuota = { readonly reservation?: RunReservation; close(): Promise<void> };

/** Counts nothing where nobody can have set a limit: without a home or SQLite, or where machines share the file. */
async function openQuota(options: OfflineOptions, signal: AbortSignal): Promise<OpenQuota> {
  const { kind, quota: location, run: name, part, bytes, isWhole, note } = options;
  const run = { kind, stateOf: stateOfTag, name, part, bytes, isWhole };
  if ("state" in location) {
    const { guestOf, openSharedQuota, retrying } = await import("./shared-quota.js");
    const { store, quotas, secret } = await openSharedQuota(location, process.env);
    const { id, owner = processTag() } = guestOf(process.env);
    const shared: RunIdentity = { ...run, id, owner, secret, retrying: (work) => retrying(work, note, signal) };
    return { reservation: new RunReservation(quotas, shared), close: () => store.close() };
  }
  const { path, isNamed } = location;
  const isNew = isNamed && isAbsent(path);
  try {
    const file = await openQuotaFile(path, Date.now, { signal });
    // Also with --quiet: the limit may be in another file.
    if (isNew) say(`${path}: a new quota file, without a limit`);
    const own: RunIdentity = { ...run, owner: processTag(), secret: await file.quotas.secret() };
    return { reservation: new RunReservation(file.quotas, own), close: () => file.close() };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const isShared = error.obstacle === "shared" && (!existsSync(path) || (await hasNoLimit(path)));
    if (!isShared && (isNamed || existsSync(path))) throw error;
    const fault = isShared ? `${path} is on a shared file system` : error.message;
    note(`${fault}; no limit is set, so units are not counted`);
    return { close: async () => {} };
  }
}

const hasNoLimit = (path: string): Promise<boolean> =>
  peekQuota(path).then(
    ({ limit }) => limit === null,
    () => false,
  );

function waiting(source: UnitSource, { wait, note }: OfflineOptions, signal: AbortSignal): UnitSource {
  let left = wait;
  return {
    ...source,
    async charge(units) {
      for (let granted = 0; ; ) {
        const charged = await source.charge(units - granted);
        granted += charged.granted;
        const { renewsAt } = charged.quota;
        if (granted === units || renewsAt === null) return { granted, quota: charged.quota };
        // The clock of a shared quota may differ from ours.
        const pause = Math.max(leastPause, renewsAt - Date.now());
        if (pause > left) return { granted, quota: charged.quota };
        note(`quota exhausted; it renews ${fromNow(renewsAt, Date.now())}`);
        left -= pause;
        await sleepFor(pause, signal);
      }
    },
  };
}

/** Shortest pause between two looks at a quota, in milliseconds. */
const leastPause = 1000;

/** Loads the rules without the user's own lists, which explain the verdicts of a service. */
export const loadOfflineRules = (): Classifier => loadClassifier(tableSource(dataTablePath(process.env), say));
