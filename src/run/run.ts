/** A bulk run: reads a table, gets a verdict for every distinct item once, and writes every row with its status. */
import type { RunOptions, RunReport } from "./run-options.js";

/**
 * Runs the bulk validation. Items are submitted in input order, and rows are written in input order. When the quota ends, no
 * further batch is sent, and the rest of the rows is written as `quota_exceeded`.
 *
 * The embedded way is for the offline engine and tables that the scanner reads; the batched way takes everything else.
 *
 * @throws what the table, the validator and the sink throw, and the signal's reason
 */
export async function validateTable(options: RunOptions): Promise<RunReport> {
  const { scanned } = options.table;
  const { embedded } = options.validator;
  // Each way is loaded only when it is taken.
  if (scanned && embedded) {
    const { runEmbedded } = await import("./embedded/embedded-run.js");
    return runEmbedded(options, scanned, embedded);
  }
  const { runBatched } = await import("./batched/batched-run.js");
  return runBatched(options);
}
