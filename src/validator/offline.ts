/** The offline engine: the embedded classifier, charged to a local quota. Does no I/O of its own. */
import {
  type Charge,
  type EmbeddedEngine,
  type Kind,
  notChecked,
  type QuotaState,
  type ReceiptMarks,
  type ReceiptPort,
  type Validator,
  type Verdict,
} from "./validator.js";

/** Source of the units that the offline engine charges. */
export interface UnitSource {
  readonly receipts?: ReceiptPort | undefined;
  /**
   * Takes up to `units` from the quota, and leaves a receipt. Durable when it resolves.
   *
   * @returns the units charged, and the number of items granted, with those that another run of the name has paid for
   */
  reserve(
    units: number,
    receipt?: ReceiptMarks,
  ): Promise<{ readonly granted: number; readonly charged: number; readonly quota: QuotaState }>;
}

/**
 * Number of items in a batch. Large, because a durable transaction takes as long as several hundred verdicts. Not
 * larger, because a crash loses the units of one batch.
 */
const batchSize = 10_000;

/** Returns the offline engine. It takes units from the quota before it gives verdicts. */
export function offlineValidator(
  { classifier, source }: Pick<EmbeddedEngine, "classifier" | "source">,
  quotaFile: UnitSource,
): Validator {
  async function charge(units: number, receipt?: ReceiptMarks): Promise<Charge> {
    const { granted, charged, quota } = await quotaFile.reserve(units, receipt);
    return { charged, exhausted: granted < units, quota };
  }
  return {
    name: "offline",
    batchSize,
    async validate(kind, items) {
      const charged = await charge(items.length);
      return { ...charged, verdicts: grantedVerdicts(classifier, kind, items, charged.charged) };
    },
    embedded: { classifier, source, charge, receipts: quotaFile.receipts },
    explain: classifier.classify,
  };
}

/** Returns the verdicts on a batch. Only the first `granted` items are checked; the others are `quota_exceeded`. */
function grantedVerdicts(
  classifier: EmbeddedEngine["classifier"],
  kind: Kind,
  items: readonly string[],
  granted: number,
): readonly Verdict[] {
  return items.map((item, i) => (i < granted ? classifier.classify(kind, item) : notChecked));
}
