/**
 * `idv data update`: installs newer lists of disposable domains without a new release of idv. Does not write to the
 * console; notices go to a callback.
 */
import { dirname } from "node:path";
import { DisposableTable } from "../classifier/disposable-table.js";
import { createFolder } from "../files/folders.js";
import { openOutputFile } from "../files/output.js";
import { ServiceError } from "../validator/errors.js";
import { findTable } from "./installed-table.js";
import { downloadFile, findLatest, type PackageVersion } from "./npm-packages.js";
import { compileLists, type ListVersion, listPackages } from "./sources.js";

/**
 * Downloads newer versions of the lists, compiles them and installs the table. Changes nothing unless every step succeeds.
 *
 * @param path path of the installed table
 * @param onNotice receives messages for the user
 * @returns a message that says what was done
 * @throws ServiceError when a list cannot be downloaded or is older than the one in use, or when a list or the table
 *   has shrunk to less than half
 * @throws FileError when the table cannot be written
 */
export async function updateTable(path: string, onNotice: (text: string) => void): Promise<string> {
  const { table } = findTable(path, onNotice);
  const latest = await Promise.all(listPackages.map(({ name }) => findLatest(name)));
  const inUse = (name: string) => table.sources.find((source) => source.name === name);
  const order = latest.map(({ name, version }) => compareVersions(version, inUse(name)?.version ?? "0"));
  const describe = ({ name, version }: PackageVersion) => `${name} ${version}`;
  latest.forEach((found, i) => {
    if (order[i]! >= 0) return;
    const newer = inUse(found.name)?.version;
    throw new ServiceError(
      `the registry has only ${describe(found)}, older than ${newer} in use; the data in use is unchanged`,
    );
  });
  if (order.every((difference) => difference === 0)) {
    return `up to date: ${latest.map(describe).join(", ")}`;
  }
  const versions = await Promise.all(
    latest.map(async (found, i): Promise<ListVersion> => {
      const list = readList(found, await downloadFile(found, listPackages[i]!.file));
      const before = inUse(found.name)?.domains ?? 0;
      if (list.length >= before / 2) return { ...found, list };
      const counts = `its list has shrunk from ${number(before)} domains to ${number(list.length)}`;
      throw new ServiceError(`${describe(found)}: ${counts}, less than half; the data in use is unchanged`);
    }),
  );
  const compiled = compileLists(versions);
  const { size } = new DisposableTable(compiled);
  if (size < table.size / 2) {
    const counts = `the table would shrink from ${number(table.size)} entries to ${number(size)}`;
    throw new ServiceError(`${latest.map(describe).join(", ")}: ${counts}; the data in use is unchanged`);
  }
  await install(path, compiled);
  return `updated: ${latest.map(describe).join(", ")}; ${number(size)} entries, ${number(table.size)} before`;
}

function readList(found: PackageVersion, bytes: Uint8Array): readonly string[] {
  try {
    const list: unknown = JSON.parse(Buffer.from(bytes).toString());
    if (Array.isArray(list) && list.every((name) => typeof name === "string")) return list as string[];
  } catch {
    // Invalid JSON gets the same error as JSON that is not a list of names.
  }
  throw new ServiceError(
    `${found.name} ${found.version}: contains no list of domains; the data in use is unchanged`,
  );
}

async function install(path: string, table: Uint8Array): Promise<void> {
  createFolder(dirname(path), 0o700);
  const file = await openOutputFile(path);
  try {
    await file.write(table);
  } catch (error) {
    await file.discard();
    throw error;
  }
  await file.commit();
}

/** Compares two versions of three numbers. Returns a negative number if `a` is older, 0 if equal, else a positive one. */
function compareVersions(a: string, b: string): number {
  const [left, right] = [a.split(".").map(Number), b.split(".").map(Number)];
  return [0, 1, 2].map((i) => (left[i] ?? 0) - (right[i] ?? 0)).find((difference) => difference !== 0) ?? 0;
}

const number = (value: number): string => value.toLocaleString("en");
