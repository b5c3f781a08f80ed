import { existsSync, readFileSync } from "node:fs";
import { builtInTable, type ClassifierSource } from "../classifier/classifier.js";
import { type DataSource, DisposableTable } from "../classifier/disposable-table.js";
import { dataTablePath } from "../cli/config/paths.js";
import { say } from "../cli/terminal/terminal.js";

/** The table of disposable domains that is in use. */
interface TableInUse {
  /** Its file; undefined for the one that comes with the program. */
  readonly path: string | undefined;
  readonly table: DisposableTable;
}

/**
 * Which table is in use: the one that `idv data update` installed, unless it is broken, which is said, or older than the
 * one that comes with the program.
 */
export function tableSource(env: NodeJS.ProcessEnv): Pick<ClassifierSource, "table"> {
  const path = dataTablePath(env);
  // Most often there is none, and then nothing needs to be read twice.
  if (!existsSync(path)) return {};
  return findTable(env).path === undefined ? {} : { table: path };
}

/** The table that {@link tableSource} names. */
export function findTable(env: NodeJS.ProcessEnv): TableInUse {
  const path = dataTablePath(env);
  const installed = readInstalled(path);
  const builtIn = { path: undefined, table: new DisposableTable(readFileSync(builtInTable)) };
  if (installed === undefined || newest(installed.sources) < newest(builtIn.table.sources)) return builtIn;
  return { path, table: installed };
}

function readInstalled(path: string): DisposableTable | undefined {
  try {
    return new DisposableTable(readFileSync(path));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") say(`${path}: ${message}; the data that came with idv is used: idv data update`);
    return undefined;
  }
}

const newest = (sources: readonly DataSource[]): string =>
  sources.map(({ published }) => published).reduce((a, b) => (a > b ? a : b), "");
