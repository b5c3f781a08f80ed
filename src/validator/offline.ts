import type { Classifier } from "../classifier/classifier.js";
import type { QuotaFile } from "../store/quota-file.js";
import type { Validator, Verdict } from "./validator.js";

/** A durable transaction costs as much as some hundred verdicts; a crash costs at most this many units. */
const batchSize = 10_000;

const notChecked: Verdict = { status: "quota_exceeded" };

/** The embedded engine: no network; units come out of the quota file before the verdicts are given. */
export function offlineValidator(classify: Classifier, quotaFile: QuotaFile): Validator {
  return {
    engine: "offline",
    batchSize,
    async validate(kind, items) {
      const { granted, quota } = quotaFile.reserve(items.length);
      return {
        verdicts: items.map((item, i) => (i < granted ? classify(kind, item) : notChecked)),
        charged: granted,
        exhausted: granted < items.length,
        quota,
      };
    },
    explain: classify,
  };
}
