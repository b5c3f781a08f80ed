/** Makes the tables in zip archives files of a run, and writes the archives with the tables as they come out of it. */
import type { ArchivePart } from "../../../files/archive.js";
import { openArchive } from "../../../files/archive-files.js";
import { ChoiceError } from "../../../files/errors.js";
import { endingOf, isArchiveName, isWorkbook } from "../../../files/format-by-name.js";
import { openCopy } from "../../../files/output.js";
import { startsAsZip } from "../../../files/zip-start.js";
import type { BulkOptions } from "../../options/bulk.js";
import { commitOutputs } from "../commit.js";
import { type Input, needPlaces, type OpenedArchive } from "../plan/places.js";
import type { Plan } from "../plan/plan.js";
import { tryInput } from "./input.js";
import { checkReplaceable } from "./output.js";
import type { Resources } from "./resources.js";

/** Endings of names of tables; other files in an archive stay as they are. */
const tableEndings = new Set([
  ...["csv", "tsv", "tab", "txt", "json", "jsonl", "ndjson", "xlsx", "ods", "vcf", "ldif"],
]);
/** Endings that other things have, too. */
const vagueEndings = new Set(["txt", "json"]);

/** Parts that only workbooks and documents have. */
const officePart =
  /^(?:\[Content_Types\]\.xml|mimetype|xl\/workbook\..*|word\/document\.xml|Index\/Document\.iwa|Index\.zip)$/;

/**
 * Returns the inputs of a run, with the tables of each archive in place of the archive.
 *
 * @param standardInput the path of its copy, if it is an input
 * @throws FileError when an archive cannot be read
 * @throws ChoiceError when an archive has no tables
 */
export async function inputsOf(
  files: readonly string[],
  standardInput: string | undefined,
  resources: Resources,
): Promise<readonly Input[]> {
  const inputs: Input[] = [];
  for (const path of files) {
    const isZip = startsAsZip(standardInput ?? path) && !isWorkbook(endingOf(path));
    const archive = isZip ? await archiveAt(path, standardInput, resources) : undefined;
    if (archive === undefined) inputs.push({ path, standardInput });
    else inputs.push(...archive.tables.map((part) => ({ path, member: { archive, part } })));
  }
  return inputs;
}

async function archiveAt(
  path: string,
  standardInput: string | undefined,
  resources: Resources,
): Promise<OpenedArchive | undefined> {
  const name = standardInput ? "standard input" : path;
  const file = await openArchive(standardInput ?? path, name, resources.signal);
  if (file.parts.some(({ name }) => officePart.test(name))) {
    await file.close();
    return undefined;
  }
  await resources.atEnd(() => file.close());
  const tables = file.parts.filter(isTable);
  const names = tables.map(({ name }) => name);
  const twice = names.find((name, nth) => names.indexOf(name) !== nth);
  if (twice !== undefined) throw new ChoiceError(`${name}: two of its files are named ${twice}; unpack it`);
  if (tables.length === 0) throw new ChoiceError(`${name}: a zip archive without tables`);
  return { file, tables };
}

function isTable({ name }: ArchivePart): boolean {
  const base = name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
  return !base.startsWith(".") && !name.startsWith("__MACOSX/") && tableEndings.has(endingOf(base));
}

/**
 * Leaves out the tables of archives in which nothing looks like an item, unless the user has named columns. Opens the
 * archives that are to be returned.
 *
 * @throws ChoiceError when no table of an archive has items
 * @throws FileError when an archive cannot be written
 */
export async function prepareArchives(
  plans: readonly [Plan, ...Plan[]],
  { output, inPlace, column }: BulkOptions,
  resources: Resources,
): Promise<readonly [Plan, ...Plan[]]> {
  const kept: Plan[] = [];
  for (const archive of new Set(plans.map(({ member }) => member?.archive))) {
    const own = plans.filter(({ member }) => member?.archive === archive);
    if (archive === undefined) {
      kept.push(...own);
      continue;
    }
    const tables = await withItems(own, column !== undefined, archive, resources.signal);
    kept.push(...tables);
    const target = inPlace === undefined ? output : archive.file.name;
    const isReturned = inPlace !== undefined || (target !== undefined && isArchiveName(target));
    if (isReturned && !own[0]!.isDryRun) await openReturned(archive, target!, inPlace, tables, resources);
  }
  // In the order in which they were given.
  const sorted = plans.filter((plan) => kept.includes(plan));
  const isToStandardOutput = sorted.some(({ output, split, isDryRun }) => !output && !split && !isDryRun);
  if (sorted.length > 1 && isToStandardOutput) throw needPlaces(sorted);
  return [sorted[0]!, ...sorted.slice(1)];
}

async function openReturned(
  archive: OpenedArchive,
  target: string,
  inPlace: string | undefined,
  plans: readonly Plan[],
  resources: Resources,
): Promise<void> {
  if (inPlace !== undefined) await checkReplaceable(target);
  if (plans.some(({ split }) => split !== undefined)) return;
  const changed = plans.map(({ member }) => member!.part);
  archive.returned = await archive.file.returnTo(target, changed);
  if (inPlace) archive.backup = await openCopy(target, `${target}${inPlace}`);
  await resources.atEnd(async () => {
    await archive.returned?.discard();
    await archive.backup?.discard();
  });
}

/** Returns the plans of the tables with items, and says which files of the archive stay as they are. */
async function withItems(
  plans: readonly Plan[],
  isNamed: boolean,
  { file }: OpenedArchive,
  signal: AbortSignal,
): Promise<readonly Plan[]> {
  const kept: Plan[] = [];
  let refusal: unknown;
  for (const plan of plans) {
    try {
      await tryInput(plan, signal);
      kept.push(plan);
    } catch (error) {
      signal.throwIfAborted();
      refusal ??= error;
      const isVague = vagueEndings.has(endingOf(plan.member!.part.name));
      if (!(error instanceof ChoiceError) || (isNamed && !isVague)) kept.push(plan);
    }
  }
  if (kept.length === 0) throw refusal;
  const isKept = (part: ArchivePart) => kept.some(({ member }) => member!.part === part);
  const others = file.parts.filter((part) => !part.name.endsWith("/") && !isKept(part));
  if (others.length > 0)
    kept[0]!.note(`${file.name}: left as they are: ${listed(others.map(({ name }) => name))}`);
  return kept;
}

const mostNamed = 5;

const listed = (names: readonly string[]): string =>
  [
    ...names.slice(0, mostNamed),
    ...(names.length > mostNamed ? [`and ${names.length - mostNamed} more`] : []),
  ].join(", ");

/** Writes an archive when the last of its tables is validated. */
export async function finishArchive(plan: Plan, later: readonly Plan[], resources: Resources): Promise<void> {
  const { archive } = plan.member ?? {};
  if (archive?.returned === undefined || later.some(({ member }) => member?.archive === archive)) return;
  const { file, returned, backup } = archive;
  const { isInPlace, note } = plan;
  const inputName = file.name;
  await resources.commit(commitOutputs({ input: file, inputName, isInPlace, sink: returned, backup, note }));
}
