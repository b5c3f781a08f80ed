/** The part of the library for browsers that validates tables; the code for them is loaded by the first call. */
import { createClassifier } from "../../core/classifier/classifier.js";
import { compileLists } from "../../core/library.js";
import { fetchFile, loadedTable } from "./items.js";
import { passedKernel } from "./load-tables.js";
import type { CheckedTable, TableOptions } from "./table.js";

/**
 * Validates a table as the command line does, in all of its formats; what is compressed has to be so by gzip.
 * The checked table is a stream of bytes; nothing is read ahead of it.
 *
 * Call it in a worker: it is one long computation.
 *
 * @param source a `File` or `Blob`, or a stream of bytes
 * @throws TypeError when an entry of `allow` or `deny` is neither a domain nor an address, or the kernel cannot be fetched
 * @throws TableFault when the source is not a table, or has no such column
 * @throws Error when the tables are not loaded
 */
export async function validateTable(
  source: Blob | ReadableStream<Uint8Array>,
  options: TableOptions = {},
): Promise<CheckedTable> {
  const classifier = createClassifier(loadedTable(), compileLists(options));
  const { openCheck, useKernelBytes } = await import("./table.js");
  await useKernelBytes(passedKernel() ?? (await fetchFile(new URL("./kernel.wasm", import.meta.url))));
  return openCheck(source, classifier, options);
}
