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

export interface UnitSource {
  readonly receipts?: ReceiptPort | undefined;
  /**
   * Charges up to `units`, and stores a receipt. Durable when it resolves.
   *
   * @returns the units charged, and the items granted, which include items that another run of the same name has paid
   *   for
   */
  reserve(
    units: number,
    receipt?: ReceiptMarks,
  ): Promise<{ readonly granted: number; readonly charged: number; readonly quota: QuotaState }>;
}

/**
 * Large, because a durable transaction takes as long as several hundred verdicts. Not larger, because a crash loses the
 * units of one batch.
 */
const batchSize = 10_000;

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

function grantedVerdicts(
  classifier: EmbeddedEngine["classifier"],
  kind: Kind,
  items: readonly string[],
  granted: number,
): readonly Verdict[] {
  return items.map((item, i) => (i < granted ? classifier.classify(kind, item) : notChecked));
}
