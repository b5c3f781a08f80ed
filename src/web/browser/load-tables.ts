/** Loads the tables of the library for browsers. */
import { DisposableTable } from "../../core/classifier/tables/disposable-table.js";
import { useSuffixes } from "../../core/classifier/tables/suffix-table.js";
import { fetchFile, loadOnce } from "./loaded-table.js";

/** The bytes of the files beside this module, `disposable.bin` and `suffixes.bin`. */
export interface Tables {
  readonly disposable: Uint8Array<ArrayBuffer>;
  readonly suffixes: Uint8Array<ArrayBuffer>;
  /** `kernel.wasm`, which `validateTable` fetches from beside this module if it is missing. */
  readonly kernel?: Uint8Array<ArrayBuffer>;
}

let kernel: Uint8Array<ArrayBuffer> | string | undefined;

/** The kernel that was passed, or where it is, if that is known. */
export const kernelSource = (): Uint8Array<ArrayBuffer> | string | undefined => kernel;

/**
 * Loads the tables that the other functions need, once: 1.4 MB. They are passed, or fetched from a folder, whose URL ends with
 * a slash and may be relative to the page; by default that of this module.
 * @throws TypeError when they cannot be fetched; Error when they are not tables of this version
 */
export function loadTables(from?: Tables | URL | string): Promise<void> {
  return loadOnce(async () => {
    const tables = typeof from === "object" && "disposable" in from ? from : await fetchTables(from);
    // The bytes may lie anywhere in their memory; words start at multiples of four.
    useSuffixes(new Int32Array(Uint8Array.from(tables.suffixes).buffer));
    const table = new DisposableTable(tables.disposable);
    if (table.suffixes?.slots) useSuffixes(table.suffixes.slots);
    ({ kernel } = tables);
    return table;
  });
}

async function fetchTables(folder: URL | string | undefined) {
  // Bundlers look for URLs of this form, and copy the files.
  const urls = folder
    ? [`${folder}disposable.bin`, `${folder}suffixes.bin`]
    : [new URL("./disposable.bin", import.meta.url), new URL("./suffixes.bin", import.meta.url)];
  const [disposable, suffixes] = await Promise.all(urls.map(fetchFile));
  return { disposable: disposable!, suffixes: suffixes!, kernel: folder && `${folder}kernel.wasm` };
}
