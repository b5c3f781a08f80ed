/** `idv data update`: installs newer lists of disposable domains without a new release. Notices go to a callback. */
import { dirname } from "node:path";
import { registrableIn } from "../../core/classifier/rules/domain/public-suffix.js";
import type { DataSource, SuffixPart } from "../../core/classifier/tables/disposable-table.js";
import { DisposableTable, ownBit } from "../../core/classifier/tables/disposable-table.js";
import { compileSuffixTable } from "../../core/classifier/tables/suffix-table.js";
import { ServiceError } from "../../core/validator/errors.js";
import { createFolder } from "../../files/folders.js";
import { openOutputFile } from "../../files/output.js";
import { writeWhole } from "../../files/table-sink.js";
import { withFolderLock } from "../../state/sqlite/folder-lock.js";
import { grouped } from "../../text.js";
import type { HttpOptions } from "../api/http.js";
import { type Days, daysPath, findDays, listOfDays, textOfDays, withDay } from "./daily-list.js";
import { type FetchedList, fetchList } from "./fetch-list.js";
import { findTable } from "./installed-table.js";
import type { PackageVersion, Registry, RegistryOptions } from "./npm-packages.js";
import { answerTime, MissingPackage, openRegistry } from "./npm-packages.js";
import { loadPopular } from "./popular-domains.js";
import type { ListVersion } from "./sources.js";
import { addsNames, compileLists, dailyList, dateIn, listPackages, namesIn, publicList } from "./sources.js";
import { suffixPackage, suffixRulesIn } from "./suffix-rules.js";

export type UpdateOptions = { readonly force: boolean; readonly onNotice: (text: string) => void };

export interface UpdateSources {
  readonly registry: Pick<RegistryOptions, "url" | "authorization">;
  readonly listUrl: string | undefined;
  readonly dailyUrl: string | undefined;
  readonly proxiesFor: (url: string) => HttpOptions["proxies"];
}

/** In milliseconds. Another update may take 2 minutes for the versions, and as long for the lists. */
const lockMilliseconds = 300_000;

/** Changes nothing unless every step succeeds. @throws ServiceError or FileError; only reports a missing public list */
export async function updateTable(path: string, sources: UpdateSources, options: UpdateOptions): Promise<string> {
  const folder = dirname(path);
  createFolder(folder, 0o700);
  const registry = openRegistry({ ...sources.registry, proxiesFor: sources.proxiesFor });
  try {
    return await withFolderLock(folder, { milliseconds: lockMilliseconds }, () =>
      update(path, registry, sources, options),
    );
  } finally {
    await registry.close();
  }
}

async function update(path: string, registry: Registry, sources: UpdateSources, options: UpdateOptions) {
  const { onNotice } = options;
  const { table } = findTable(path, onNotice);
  const fetchNew = async (
    { name }: { readonly name: string },
    url: string | undefined,
    isNeeded = false,
  ): Promise<FetchedList | undefined | "missing"> => {
    if (url === undefined) return "missing";
    const known = sourceIn(table, { name });
    const etag = isNeeded || known?.missing ? undefined : known?.etag;
    return fetchList(url, etag, sources.proxiesFor(url)).catch((error: Error) => {
      onNotice(`${error.message}; continuing with its names in the data in use`);
      return "missing";
    });
  };
  const [{ latest, suffixes }, changed, today] = await Promise.all([
    findAll(registry, onNotice),
    fetchNew(publicList, sources.listUrl),
    fetchNew(dailyList, sources.dailyUrl),
  ]);
  const isNew = (found: typeof changed): found is FetchedList => found !== undefined && found !== "missing";
  const all = [...latest, ...(suffixes ? [suffixes] : [])];
  const areSuffixesNewer =
    suffixes !== undefined && compareVersions(suffixes.version, table.suffixes?.version ?? "0") > 0;
  if (!hasNewer(latest, table) && !areSuffixesNewer && !isNew(changed) && !isNew(today)) {
    const others = [changed, today].map((found, i) =>
      found === "missing" ? undefined : sourceIn(table, [publicList, dailyList][i]!),
    );
    return `up to date: ${[...all, ...others.filter((source) => source !== undefined)].map(describe).join(", ")}`;
  }
  const files = await registry.downloadFiles(all);
  const lists = latest.map((found, i): Download => ({ ...found, bytes: files[i]! }));
  // Only its hashes are in the table, so a list that has not changed is needed again.
  const fetched = changed ?? (await fetchNew(publicList, sources.listUrl, true));
  if (isNew(fetched)) {
    const { text, ...version } = fetched;
    lists.push({ ...publicList, version: version.published, ...version, bytes: Buffer.from(text) });
  }
  const days = isNew(today) ? withToday(findDays(path), today, options) : findDays(path);
  const known = sourceIn(table, dailyList);
  const etag = isNew(today) ? today.etag : known?.etag;
  // Without the file of the days, the table in use has more of them.
  if (isNew(today) || (today === undefined && days.lastDay === known?.version)) {
    const { lastDay: version } = days;
    lists.push({ ...dailyList, version, published: version, ...(etag && { etag }), days });
  }
  const newer = suffixes && areSuffixesNewer && compileSuffixes(suffixes, files.at(-1)!, table, options);
  const compiled = compileDownloads(lists, table, options, newer || undefined);
  await install(path, compiled);
  if (isNew(today)) await install(daysPath(path), Buffer.from(textOfDays(days)));
  const { size } = new DisposableTable(compiled);
  const described = [...lists, ...(newer ? [suffixes] : [])].map(describe).join(", ");
  return `updated: ${described}; ${grouped(size)} entries, ${grouped(table.size)} before`;
}

/** @throws ServiceError when a version is older */
export function hasNewer(latest: readonly PackageVersion[], inUse: DisposableTable): boolean {
  const order = latest.map((found) => {
    const { version: used, missing } = { version: "0", missing: undefined, ...sourceIn(inUse, found) };
    const difference = compareVersions(found.version, used);
    if (difference >= 0) return missing ? 1 : difference;
    const what = `the registry has only ${describe(found)}, older than ${used} in use`;
    throw new ServiceError(`${what}; the data in use is unchanged`);
  });
  return order.some((difference) => difference > 0);
}

export interface Download extends Pick<DataSource, "name" | "version" | "licence" | "published" | "etag"> {
  readonly role: ListVersion["role"];
  readonly bytes?: Uint8Array;
  readonly days?: Days;
}

/** Real lists grow slowly. */
const mostGrowth = 1.25;
/** Popular domains that one update may make disposable: some are sold or were popular only for a while. */
const mostPopular = 5;

/** @throws ServiceError when a file has no list; without `force`, also when the result is implausible */
export function compileDownloads(
  downloads: readonly Download[],
  inUse: DisposableTable,
  options: UpdateOptions,
  suffixes?: SuffixPart,
): Uint8Array {
  const doubt = (text: string) => refuse(text, options);
  const lists = downloads.map((download): ListVersion => {
    const { text, list, again } = readList(download);
    const known = sourceIn(inUse, download);
    const change = changeOf(known?.domains ?? 0, list.length);
    if (change) doubt(`${describe(download)}: its list ${change}`);
    const { name, role, version, licence, etag } = download;
    // The registry's date is that of the package, whose data may be older.
    const published = known?.version === version ? known.published : (dateIn(text) ?? download.published);
    return { name, role, version, licence, published, ...(etag && { etag }), list, ...(again && { again }) };
  });
  const isPopular = loadPopular();
  const { entries, table: compiled } = compileLists(lists, { before: inUse, isPopular, ...(suffixes && { suffixes }) });
  const change = changeOf(inUse.size, new DisposableTable(compiled).size);
  if (change) doubt(`${downloads.map(describe).join(", ")}: the table ${change}`);
  const popular = entries
    .filter(({ lists, onlyBelow }) => lists !== ownBit && !onlyBelow)
    .filter(({ domain }) => isPopular(registrableIn(domain)) && inUse.find(domain) === undefined)
    .map(({ domain }) => domain);
  if (popular.length > mostPopular) {
    const what = `${grouped(popular.length)} popular domains would become disposable`;
    doubt(`${sourcesOf(popular, lists)}: ${what}, such as ${popular.slice(0, 3).join(", ")}`);
  }
  return compiled;
}

const fewestRules = 0.95;
const surelyDelegated = ["com", "net", "org", "de", "co.uk"];

/** Returns undefined, after a notice, if the package has another form now. @throws ServiceError without `force` */
function compileSuffixes(found: PackageVersion, file: Uint8Array, inUse: DisposableTable, options: UpdateOptions) {
  try {
    const rules = suffixRulesIn(Buffer.from(file).toString());
    const names = new Set(rules.map(({ rule }) => rule));
    const missing = surelyDelegated.find((name) => !names.has(name));
    if (missing !== undefined) refuse(`${describe(found)}: its public suffixes lack ${missing}`, options);
    const before = inUse.suffixes?.rules ?? 0;
    if (rules.length < fewestRules * before || (before > 0 && rules.length > mostGrowth * before)) {
      const change = `from ${grouped(before)} rules to ${grouped(rules.length)}`;
      refuse(`${describe(found)}: its public suffixes go ${change}`, options);
    }
    const slots = new Int32Array(compileSuffixTable(rules).buffer);
    const { version, published } = found;
    return { version, published, rules: rules.length, slots };
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const instead = `the public suffixes of ${inUse.suffixes?.published ?? "idv"}`;
    options.onNotice(`${describe(found)}: ${(error as Error).message}; going on with ${instead}`);
    return undefined;
  }
}

function refuse(text: string, { force, onNotice }: UpdateOptions): void {
  if (!force) throw new ServiceError(`${text}; the data in use is unchanged; if the lists are right, pass --force`);
  onNotice(`${text}; going on (--force)`);
}

function sourcesOf(domains: readonly string[], lists: readonly ListVersion[]): string {
  const wanted = new Set(domains);
  const found = lists.filter(
    ({ role, list }) => addsNames(role) && list.some((name) => wanted.has(name.trim().toLowerCase())),
  );
  return found.map(describe).join(", ") || "the lists";
}

function changeOf(before: number, after: number): string | undefined {
  const from = grouped(before);
  const to = grouped(after);
  if (after < before / 2) return `shrinks from ${from} domains to ${to}, less than half`;
  if (before > 0 && after > before * mostGrowth) {
    return `grows from ${from} domains to ${to}, more than ${mostGrowth} times`;
  }
  return undefined;
}

const describe = ({ name, version }: Pick<PackageVersion, "name" | "version">): string => `${name} ${version}`;

const sourceIn = ({ sources }: DisposableTable, { name }: Pick<DataSource, "name">) =>
  sources.find((source) => source.name === name);

/** Leaves out packages that the registry lacks. @throws ServiceError when it has no `list` package */
async function findAll(registry: Registry, onNotice: (text: string) => void) {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    const error = new ServiceError(
      `the npm registry has not answered within ${answerTime / 1000} s; the data in use is unchanged; ` +
        "check the connection and the proxy",
    );
    timer = setTimeout(() => reject(error), answerTime);
  });
  const find = (name: string) => Promise.race([registry.findLatest(name), silence]).finally(() => clearTimeout(timer));
  const findSuffixes = find(suffixPackage.name).then(
    (version) => ({ ...suffixPackage, ...version }),
    (error: Error) => error,
  );
  const answers = await Promise.allSettled(
    listPackages.map(async (wanted) => ({ ...wanted, ...(await find(wanted.name)) })),
  );
  const suffixes = await findSuffixes;
  const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
  const failures = answers.flatMap((answer, i) =>
    answer.status === "rejected" ? [{ error: answer.reason as Error, role: listPackages[i]!.role }] : [],
  );
  const fatal = failures.find(({ error }) => !(error instanceof MissingPackage));
  if (fatal !== undefined) throw fatal.error;
  if (!found.some(({ role }) => role === "list")) throw failures[0]!.error;
  for (const { error, role } of failures) {
    const instead = addsNames(role)
      ? "with its names in the data in use"
      : "with the names that its last version did not remove";
    onNotice(error.message.replace(/;[^;]*$/, `; continuing ${instead}`));
  }
  if (!(suffixes instanceof Error)) return { latest: found, suffixes };
  onNotice(suffixes.message.replace(/;[^;]*$/, "; going on with the public suffixes in use"));
  return { latest: found, suffixes: undefined };
}

type ReadList = { readonly text: string; readonly list: readonly string[]; readonly again?: ReadonlySet<string> };

function readList(download: Download): ReadList {
  if (download.days !== undefined) return { text: "", ...listOfDays(download.days) };
  const text = Buffer.from(download.bytes ?? []).toString();
  return { text, list: listIn(text, describe(download)) };
}

function listIn(text: string, where: string): readonly string[] {
  const list = namesIn(text);
  if (list !== undefined) return list;
  throw new ServiceError(`${where}: contains no list of domains; the data in use is unchanged`);
}

/** Five times the names of today. */
const mostOfDay = 5000;

function withToday(days: Days, { text, published }: FetchedList, options: UpdateOptions): Days {
  const list = listIn(text, dailyList.name);
  if (list.length > mostOfDay) refuse(`${dailyList.name}: ${grouped(list.length)} names on one day`, options);
  return withDay(days, list, published || new Date().toISOString().slice(0, 10));
}

async function install(path: string, table: Uint8Array): Promise<void> {
  createFolder(dirname(path), 0o700);
  const file = await openOutputFile(path);
  await writeWhole(file, () => file.write(table));
}

function compareVersions(a: string, b: string): number {
  const left = a.split(".").map(Number);
  const right = b.split(".").map(Number);
  return [0, 1, 2].map((i) => (left[i] ?? 0) - (right[i] ?? 0)).find((difference) => difference !== 0) ?? 0;
}
