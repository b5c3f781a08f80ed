/** `--dry-run`: an engine that validates nothing and counts what would be submitted. */
import type { Validator } from "../../validator/validator.js";
import type { Engine } from "./engine.js";

const noLimit = { left: null, renewsAt: null };

/**
 * Returns a validator that replaces the engine's own, with counts of the items and requests that would be sent. Engines
 * that send no requests count none.
 */
export function dryRunValidator({ validator, requests }: Engine) {
  const { name, batchSize, precheck, embedded } = validator;
  const counts = { items: 0, requests: 0 };
  const dry: Validator = {
    name,
    batchSize,
    ...(precheck && { precheck }),
    ...(embedded && {
      embedded: {
        ...embedded,
        // Granted, but not taken from the quota.
        charge: async (units: number) => {
          counts.items += units;
          return { charged: units, exhausted: false, quota: noLimit };
        },
      },
    }),
    async validate(_kind, items) {
      counts.items += items.length;
      if (requests) counts.requests++;
      return {
        verdicts: items.map(() => ({ status: "not validated" })),
        charged: 0,
        exhausted: false,
        quota: noLimit,
      };
    },
  };
  return { validator: dry, counts };
}
