/** A bulk run: reads a table, gets a verdict for every distinct item once, and writes every row with its status. */
import type { RunOptions, RunReport } from "./run-options.js";

/**
 * Runs the bulk validation. Rows are written in input order. When the quota ends, no further batch is sent, and rows
 * whose item was not checked are written as `quota_exceeded`.
 *
 * Tables take the embedded way if the engine is the offline one, DNS is not asked, and nothing else {@link needsBatches}. All others
 * take the batched way: there, many chunks wait for answers at the same time.
 *
 * @throws any error of the table, the validator or the sink; the signal's reason when aborted
 */
export async function validateTable(options: RunOptions): Promise<RunReport> {
  const { embedded } = options.validator;
  const { scanned } = options.table;
  const isBatched = options.session?.isBatched || options.mailCheck !== undefined || needsBatches(options);
  // Each way is loaded only when it is taken.
  if (scanned && embedded && !isBatched) {
    const { runEmbedded } = await import("./embedded/embedded-run.js");
    return runEmbedded(options, scanned, embedded);
  }
  const { runBatched } = await import("./batched/batched-run.js");
  return runBatched(options);
}

/**
 * Returns whether a table has to go in batches: the scanner does not read it, items are needed of rows that keep the statuses of an
 * earlier run, or the items of a row may be in different shards.
 */
export const needsBatches = ({
  table,
  columns,
  shard,
  filter,
}: Pick<RunOptions, "table" | "columns" | "filter"> & { readonly shard?: unknown }): boolean =>
  table.scanned === undefined ||
  (columns.places.some((place) => place !== undefined) && (shard ?? filter?.dedupe) !== undefined) ||
  (table.scanned.shape.otherColumns.length > 0 && shard !== undefined);
