/**
 * The library for forms in browsers: it classifies e-mail addresses and domains with the 20,000 disposable domains that the
 * most lists have, in a table of 150 kB.
 *
 * @packageDocumentation
 */
import { leftOut, readSmallTable } from "../../core/classifier/tables/small-table.js";
import { useSuffixes } from "../../core/classifier/tables/suffix-table.js";
import { fetchFile, loadOnce } from "./loaded-table.js";

export * from "./items.js";

/**
 * Loads the table that the other functions need, once: from bytes, or a URL, by default that of `small.bin` beside this
 * module. @throws TypeError when it cannot be fetched; Error when it is not a small table of this version
 */
export function loadTables(from: Uint8Array | URL | string = new URL("./small.bin", import.meta.url)): Promise<void> {
  return loadOnce(async () => {
    const table = readSmallTable(from instanceof Uint8Array ? from : await fetchFile(from));
    useSuffixes(table.suffixSlots, leftOut);
    return table;
  });
}
