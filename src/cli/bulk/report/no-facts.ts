/** The facts of a run before its first file: what is the same for all files. */
import { type Facts, noFacts as startOf } from "../../../report/facts.js";
import type { Engine } from "../../engines/engine.js";
import { version } from "../../version.js";
import type { Plan } from "../plan/plan.js";

export const noFacts = (
  { kind, isDryRun, columns }: Plan,
  { engine, dataDays }: { readonly engine: Engine; readonly dataDays: number | null },
): Facts => ({
  ...startOf(kind, `idv ${version()}`),
  dryRun: isDryRun,
  engine: engine.validator.name,
  engineReason: engine.reason,
  dataDays,
  requests: engine.requests === undefined ? null : 0,
  explained: columns.withReasons,
  fixes: columns.fixes !== undefined,
});
