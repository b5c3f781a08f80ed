/** Validates tables in browsers; the code for that is loaded by the first call. */
import { createClassifier } from "../../core/classifier/classifier.js";
import { compileLists } from "../../core/classify-in.js";
import { kernelSource } from "./load-tables.js";
import { fetchFile, loadedTable } from "./loaded-table.js";
import type { TableOptions } from "./table.js";

/**
 * Validates a table as the command line does, in all of its formats; the only compression is gzip. The checked table is
 * a stream of bytes, which drives the run. Call it in a worker: it is one long computation.
 * @throws TypeError when an entry of `allow` or `deny` is invalid, or the kernel cannot be fetched
 * @throws TableFault when the source is not a table, or has no such column
 * @throws Error when the tables are not loaded
 */
export async function validateTable(source: Blob | ReadableStream<Uint8Array>, options: TableOptions = {}) {
  const classifier = createClassifier(loadedTable(), compileLists(options));
  const { openCheck, useKernelBytes } = await import("./table.js");
  const kernel = kernelSource() ?? new URL("./kernel.wasm", import.meta.url);
  await useKernelBytes(kernel instanceof Uint8Array ? kernel : await fetchFile(kernel));
  return openCheck(source, classifier, options);
}
