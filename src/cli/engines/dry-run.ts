/** `--dry-run`: an engine that validates nothing and counts what would be submitted. */
import type { QuotaState, Validator } from "../../core/validator/validator.js";
import type { Engine } from "./engine.js";

const noLimit = { left: null, renewsAt: null };

export function dryRunOf(engine: Engine): Engine {
  const { name, batchSize, precheck, embedded } = engine.validator;
  let quota: Promise<QuotaState> | undefined;
  let items = 0;
  let requests = 0;
  const validator: Validator = {
    name,
    batchSize,
    ...(precheck && { precheck }),
    ...(embedded && {
      embedded: {
        ...embedded,
        charge: async (units: number) => {
          items += units;
          quota ??= engine.quota?.();
          return { charged: units, exhausted: false, quota: (await quota) ?? noLimit };
        },
      },
    }),
    async validate(_kind, batch) {
      items += batch.length;
      requests++;
      return { verdicts: batch.map(() => ({ status: "not validated" })), charged: 0, exhausted: false, quota: noLimit };
    },
  };
  return { ...engine, validator, dryRunItems: () => items, ...(engine.requests && { requests: () => requests }) };
}
