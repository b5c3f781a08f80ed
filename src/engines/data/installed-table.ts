/**
 * Chooses the table of disposable domains: the one installed by `idv data update`, or the one that comes with idv. Does
 * not write to the console; notices go to a callback.
 */
import { existsSync, readFileSync } from "node:fs";
import { DisposableTable, newestOf } from "../../core/classifier/tables/disposable-table.js";
import type { ClassifierSource } from "../../core/classifier/tables/load-classifier.js";
import { readBuilt } from "../../package/own-files.js";

type Notice = (text: string) => void;

interface TableInUse {
  /** Undefined for the table that comes with idv. */
  readonly path: string | undefined;
  readonly table: DisposableTable;
}

/**
 * Returns the table in use as an input for `loadClassifier`. Ignores an installed table that is older than the one that
 * comes with idv. Also ignores a broken one, and reports it to `onNotice`.
 *
 * @param path path of the installed table, which need not exist
 */
export function tableSource(path: string, onNotice: Notice): Pick<ClassifierSource, "table"> {
  // Usually no table is installed: return early, so that only the classifier reads the one that comes with idv.
  if (!existsSync(path)) return {};
  return findTable(path, onNotice).path === undefined ? {} : { table: path };
}

export function findTable(path: string, onNotice: Notice): TableInUse {
  const installed = readInstalled(path, onNotice);
  const builtIn = { path: undefined, table: new DisposableTable(readBuilt("classifier/disposable.bin")) };
  if (installed === undefined || newestOf(installed.sources) < newestOf(builtIn.table.sources))
    return builtIn;
  return { path, table: installed };
}

function readInstalled(path: string, onNotice: Notice): DisposableTable | undefined {
  try {
    return new DisposableTable(readFileSync(path));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ENOTDIR")
      onNotice(
        `${path}: ${message}; using the data that came with idv; to replace the table, run: idv data update`,
      );
    return undefined;
  }
}
