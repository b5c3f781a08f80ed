/** `--dry-run`: an engine that validates nothing and counts what would be submitted. */
import type { Validator } from "../../validator/validator.js";
import type { Engine } from "./engine.js";

const noLimit = { left: null, renewsAt: null };

/** Returns an engine that validates and charges nothing, and counts the items and requests that would be sent. */
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
        // Granted, but not taken from the quota.
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
    // Engines that send no requests count none.
    ...(engine.requests && { requests: () => requests }),
  };
}
