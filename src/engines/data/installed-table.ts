/** Chooses the table of disposable domains: the one installed by `idv data update`, or the one that comes with idv. */
import { existsSync, readFileSync } from "node:fs";
import { DisposableTable, newestOf } from "../../core/classifier/tables/disposable-table.js";
import type { ClassifierSource } from "../../core/classifier/tables/load-classifier.js";
import { readBuilt } from "../../package/own-files.js";

type Notice = (text: string) => void;

/** Ignores an installed table that is missing, older than the one that comes with idv, or (with a notice) broken. */
export function tableSource(path: string, onNotice: Notice): Pick<ClassifierSource, "table"> {
  if (!existsSync(path)) return {};
  return findTable(path, onNotice).path === undefined ? {} : { table: path };
}

export function findTable(path: string, onNotice: Notice) {
  const installed = readInstalled(path, onNotice);
  const builtIn = { path: undefined, table: new DisposableTable(readBuilt("classifier/disposable.bin")) };
  if (installed === undefined || newestOf(installed.sources) < newestOf(builtIn.table.sources)) return builtIn;
  return { path, table: installed };
}

function readInstalled(path: string, onNotice: Notice): DisposableTable | undefined {
  try {
    return new DisposableTable(readFileSync(path));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ENOTDIR")
      onNotice(`${path}: ${message}; using the data that came with idv; to replace the table, run: idv data update`);
    return undefined;
  }
}
