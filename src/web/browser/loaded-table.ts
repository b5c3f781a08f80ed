/** The table of the library for browsers, which is loaded before anything is classified. */
import type { ClassifierTable } from "../../core/classifier/classifier.js";

let table: ClassifierTable | undefined;
let loading: Promise<void> | undefined;

/** Loads a table once; after a failure, the next call loads again. */
export function loadOnce(load: () => Promise<ClassifierTable>): Promise<void> {
  loading ??= load().then(
    (loaded) => {
      table = loaded;
    },
    (error: unknown) => {
      loading = undefined;
      throw error;
    },
  );
  return loading;
}

/** @param url absolute, or in a page also relative to it */
export async function fetchFile(url: URL | string): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(url);
  if (!response.ok) throw new TypeError(`${url}: HTTP ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

export function loadedTable(): ClassifierTable {
  if (table === undefined) throw new Error("no tables: await loadTables() first");
  return table;
}
