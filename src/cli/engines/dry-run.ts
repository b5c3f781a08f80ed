/** `--dry-run`: an engine that validates nothing and counts what would be submitted. */
import type { Validator } from "../../core/validator/validator.js";
import type { Engine } from "./engine.js";

const noLimit = { left: null, renewsAt: null };

export function dryRunOf(engine: Engine): Engine {
  const { name, batchSize, precheck, embedded } = engine.validator;
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
          return { charged: units, exhausted: false, quota: noLimit };
        },
      },
    }),
    async validate(_kind, batch) {
      items += batch.length;
      requests++;
      return {
        verdicts: batch.map(() => ({ status: "not validated" })),
        charged: 0,
        exhausted: false,
        quota: noLimit,
      };
    },
  };
  return {
    ...engine,
    validator,
    dryRunItems: () => items,
    ...(engine.requests && { requests: () => requests }),
  };
}
