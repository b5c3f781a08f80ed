import type { QuotaFile } from "../store/quota-file.js";
import {
  type Charge,
  type EmbeddedEngine,
  type Kind,
  notChecked,
  type Validator,
  type Verdict,
} from "./validator.js";

/** A durable transaction costs as much as some hundred verdicts; a crash costs at most this many units. */
const batchSize = 10_000;

/** The embedded engine: no network; units come out of the quota file before the verdicts are given. */
export function offlineValidator(
  { classifier, source }: Pick<EmbeddedEngine, "classifier" | "source">,
  quotaFile: QuotaFile,
): Validator {
  async function charge(units: number): Promise<Charge> {
    const { granted, quota } = await quotaFile.reserve(units);
    return { charged: granted, exhausted: granted < units, quota };
  }
  return {
    engine: "offline",
    batchSize,
    async validate(kind, items) {
      const charged = await charge(items.length);
      return { ...charged, verdicts: grantedVerdicts(classifier, kind, items, charged.charged) };
    },
    embedded: { classifier, source, charge },
    explain: classifier.classify,
  };
}

/** The verdicts on a batch of which the first `granted` items may be checked. */
export function grantedVerdicts(
  classifier: EmbeddedEngine["classifier"],
  kind: Kind,
  items: readonly string[],
  granted: number,
): readonly Verdict[] {
  return items.map((item, i) => (i < granted ? classifier.classify(kind, item) : notChecked));
}
