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
import {
  answerTime,
  downloadFiles,
  findLatest,
  MissingPackage,
  type PackageVersion,
} from "./npm-packages.js";
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
  const names = latest.map(describe).join(", ");
  if (!hasNewer(latest, table)) return `up to date: ${names}`;
  const files = await downloadFiles(latest);
  const lists = latest.map((found, i) => ({ ...found, bytes: files[i]! }));
  const compiled = compileDownloads(lists, table);
  await install(path, compiled);
  const { size } = new DisposableTable(compiled);
  return `updated: ${names}; ${number(size)} entries, ${number(table.size)} before`;
}

/**
 * Whether one of the versions is newer than that in the table in use.
 *
 * @throws ServiceError when one is older
 */
export function hasNewer(latest: readonly PackageVersion[], inUse: DisposableTable): boolean {
  const order = latest.map((found) => {
    const used = sourceIn(inUse, found)?.version ?? "0";
    const difference = compareVersions(found.version, used);
    if (difference >= 0) return difference;
    throw new ServiceError(
      `the registry has only ${describe(found)}, older than ${used} in use; the data in use is unchanged`,
    );
  });
  return order.some((difference) => difference > 0);
}

/** A package, what its list is for, and the file with the list. */
export interface Download extends PackageVersion {
  readonly role: ListVersion["role"];
  readonly bytes: Uint8Array;
}

/**
 * Compiles downloaded lists.
 *
 * @param inUse the table that they would replace
 * @throws ServiceError when a file holds no list, or when a list or the table has shrunk to less than half
 */
export function compileDownloads(downloads: readonly Download[], inUse: DisposableTable): Uint8Array {
  const lists = downloads.map((download): ListVersion => {
    const list = readList(download);
    const before = sourceIn(inUse, download)?.domains ?? 0;
    const { name, role, version, licence, published } = download;
    if (list.length >= before / 2) return { name, role, version, licence, published, list };
    const counts = `its list has shrunk from ${number(before)} domains to ${number(list.length)}`;
    throw new ServiceError(`${describe(download)}: ${counts}, less than half; the data in use is unchanged`);
  });
  const compiled = compileLists(lists);
  const { size } = new DisposableTable(compiled);
  if (size >= inUse.size / 2) return compiled;
  const counts = `the table would shrink from ${number(inUse.size)} entries to ${number(size)}`;
  throw new ServiceError(`${downloads.map(describe).join(", ")}: ${counts}; the data in use is unchanged`);
}

const describe = ({ name, version }: PackageVersion): string => `${name} ${version}`;

const sourceIn = ({ sources }: DisposableTable, { name }: PackageVersion) =>
  sources.find((source) => source.name === name);

/**
 * Finds the newest version of each package. One that the registry does not have is left out. Gives up a registry that
 * answers nothing at all within {@link answerTime}.
 *
 * @throws ServiceError when npm fails otherwise, or no package is left that lists names
 */
async function findAll(onNotice: (text: string) => void) {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), answerTime);
  const find = (name: string) => findLatest(name, silence.signal).finally(() => clearTimeout(timer));
  const answers = await Promise.allSettled(
    listPackages.map(async (wanted) => ({ ...wanted, ...(await find(wanted.name)) })),
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

function readList(download: Download): readonly string[] {
  const list = namesIn(Buffer.from(download.bytes).toString());
  if (list !== undefined) return list;
  throw new ServiceError(`${describe(download)}: contains no list of domains; the data in use is unchanged`);
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
