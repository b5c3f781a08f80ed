/** The offline engine: the embedded classifier, charged to a quota. Does no I/O of its own. */
import type { Charge, Delivery, EmbeddedEngine, QuotaState, Validator } from "./validator.js";
import { notChecked } from "./validator.js";

export interface UnitSource {
  readonly delivery?: Delivery | undefined;
  charge(units: number): Promise<{ readonly granted: number; readonly quota: QuotaState }>;
}

/** Large, because a charge takes as long as several hundred verdicts. */
const batchSize = 10_000;

export function offlineValidator(
  { classifier, source }: Pick<EmbeddedEngine, "classifier" | "source">,
  units: UnitSource,
): Validator {
  async function charge(wanted: number): Promise<Charge> {
    const { granted, quota } = await units.charge(wanted);
    return { charged: granted, exhausted: granted < wanted, quota };
  }
  return {
    name: "offline",
    batchSize,
    async validate(kind, items) {
      const charged = await charge(items.length);
      const verdicts = items.map((item, i) => (i < charged.charged ? classifier.classify(kind, item) : notChecked));
      return { ...charged, verdicts };
    },
    embedded: { classifier, source, charge, delivery: units.delivery },
    explain: classifier.classify,
  };
}
