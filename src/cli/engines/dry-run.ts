/** `--dry-run`: an engine that validates nothing and counts what would be submitted. */
import type { Validator } from "../../validator/validator.js";
import type { Engine } from "./engine.js";

/** Replaces an engine's validator by one that counts items, and requests where the engine sends any. */
export function dryRunValidator({ validator, requests }: Engine) {
  const { engine, batchSize, precheck } = validator;
  const counts = { items: 0, requests: 0 };
  const dry: Validator = {
    engine,
    batchSize,
    ...(precheck && { precheck }),
    async validate(_kind, items) {
      counts.items += items.length;
      if (requests) counts.requests++;
      return {
        verdicts: items.map(() => ({ status: "not validated" })),
        charged: 0,
        exhausted: false,
        quota: { left: null, renewsAt: null },
      };
    },
  };
  return { validator: dry, counts };
}
