import { runBatched } from "./batched/batched-run.js";
import { runEmbedded } from "./embedded/embedded-run.js";
import type { RunOptions, RunReport } from "./run-options.js";

/**
 * Reads the table, submits every distinct item once, in input order, and writes every row with its verdict. When
 * the quota ends, no further batch is sent and the rest of the rows is written as `quota_exceeded`.
 *
 * @throws what the table, the validator and the sink throw, and the signal's reason
 */
export function validateTable(options: RunOptions): Promise<RunReport> {
  const { scanned } = options.table;
  const { embedded } = options.validator;
  return scanned && embedded ? runEmbedded(options, scanned, embedded) : runBatched(options);
}
