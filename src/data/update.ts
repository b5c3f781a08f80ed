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
import { downloadFile, findLatest, MissingPackage, type PackageVersion } from "./npm-packages.js";
import { compileLists, type ListVersion, listPackages, namesIn } from "./sources.js";

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
  const latest = await findAll(onNotice);
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
    latest.map(async (found): Promise<ListVersion> => {
      const list = readList(found, await downloadFile(found, found.file));
      const before = inUse(found.name)?.domains ?? 0;
      const { file: _, integrity: __, ...source } = found;
      if (list.length >= before / 2) return { ...source, list };
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

/**
 * Finds the newest version of each package. One that the registry does not have is left out.
 *
 * @throws ServiceError when npm fails otherwise, or no package is left that lists names
 */
async function findAll(onNotice: (text: string) => void) {
  const answers = await Promise.allSettled(
    listPackages.map(async (wanted) => ({ ...wanted, ...(await findLatest(wanted.name)) })),
  );
  const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
  const failures = answers.flatMap((answer) =>
    answer.status === "rejected" ? [answer.reason as Error] : [],
  );
  const fatal = failures.find((error) => !(error instanceof MissingPackage));
  if (fatal !== undefined) throw fatal;
  if (!found.some(({ role }) => role === "list")) throw failures[0]!;
  for (const { message } of failures) onNotice(message.replace(/;[^;]*$/, "; going on without it"));
  return found;
}

function readList(found: PackageVersion, bytes: Uint8Array): readonly string[] {
  const list = namesIn(Buffer.from(bytes).toString());
  if (list !== undefined) return list;
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
