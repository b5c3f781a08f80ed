/** The embedded classifier with its quota file, ready for a run. */
import { type ClassifierSource, loadClassifier } from "../../classifier/classifier.js";
import { QuotaFile } from "../../store/quota-file.js";
import { offlineValidator } from "../../validator/offline.js";
import { type Engine, once } from "./engine.js";

/**
 * Opens the offline engine.
 *
 * @param signal ends the wait for a quota file that another process has locked
 * @throws StoreError when the quota file cannot be used
 */
export async function openOfflineEngine(
  source: ClassifierSource,
  quotaPath: string,
  reason: string,
  signal: AbortSignal,
): Promise<Engine> {
  const classifier = loadClassifier(source);
  const quotaFile = await QuotaFile.open(quotaPath, Date.now, { signal });
  return {
    validator: offlineValidator({ classifier, source }, quotaFile),
    reason,
    close: once(() => quotaFile.close()),
  };
}
