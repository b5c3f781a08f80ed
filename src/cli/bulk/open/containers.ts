/**
 * Makes the tables in zip archives and workbooks files of a run, and writes these archives and workbooks with the tables
 * as they come out of it.
 *
 * Each table is a file of the run, so that quota, report and messages need know nothing of archives. The archive is written
 * while its tables are, so that none waits on a disk for the others.
 */

import { profiles } from "../../../core/run/items/profiles.js";
import { endingOf } from "../../../files/ending.js";
import { ChoiceError } from "../../../files/errors.js";
import { openCopy } from "../../../files/output.js";
import { isWorkbook } from "../../../formats/by-name.js";
import { openArchive } from "../../../formats/zip/archive-files.js";
import { startsAsZip } from "../../../formats/zip/file-start.js";
import { all } from "../../options/input.js";
import { commitOutputs, unchanged } from "../commit.js";
import { type Container, type Input, needPaths } from "../plan/paths.js";
import type { BulkRequest, Plan } from "../plan/plan.js";
import { tryInput } from "./input.js";
import { checkReplaceable } from "./output.js";
import type { Resources } from "./resources.js";
import { openSheets } from "./sheets.js";

/** Endings of names of tables; other files in an archive stay as they are. */
const tableEndings = new Set([
  ...["csv", "tsv", "tab", "txt", "json", "jsonl", "ndjson", "xlsx", "vcf", "ldif"],
]);
/** Endings that other things have, too. */
const vagueEndings = new Set(["txt", "json"]);

/** Parts that only workbooks and documents have. */
const officePart =
  /^(?:\[Content_Types\]\.xml|mimetype|xl\/workbook\..*|word\/document\.xml|Index\/Document\.iwa|Index\.zip)$/;

/**
 * Returns the inputs of a run, with the tables of each archive, and with `--sheet "*"` the sheets of each workbook, in
 * its place.
 *
 * @param standardInput the path of its copy, if it is an input
 * @throws FileError, TableError when an archive or a workbook cannot be read
 * @throws ChoiceError when an archive has no tables, or a file with `--sheet "*"` no sheets
 */
export async function inputsOf(
  files: readonly string[],
  standardInput: string | undefined,
  { kind, options }: BulkRequest,
  resources: Resources,
): Promise<readonly Input[]> {
  const inputs: Input[] = [];
  for (const path of files) {
    const name = path === "-" ? "standard input" : path;
    const container =
      options.sheet === all
        ? await openSheets(standardInput ?? path, name, profiles[kind], resources)
        : await openTables(standardInput ?? path, name, resources);
    if (container === undefined) inputs.push({ path, standardInput });
    else inputs.push(...container.tables.map((table) => ({ path, member: { container, table } })));
  }
  return inputs;
}

/** Returns a zip archive; undefined for other files, and for workbooks. */
async function openTables(path: string, name: string, resources: Resources): Promise<Container | undefined> {
  if (!startsAsZip(path) || isWorkbook(endingOf(path))) return undefined;
  const file = await openArchive(path, name, resources.signal);
  if (file.parts.some(({ name }) => officePart.test(name))) {
    await file.close();
    return undefined;
  }
  await resources.atEnd(() => file.close());
  const tables = file.parts.map((part) => part.name).filter(isTable);
  const twice = tables.find((table, nth) => tables.indexOf(table) !== nth);
  if (twice !== undefined) throw new ChoiceError(`${name}: two of its files are named ${twice}; unpack it`);
  if (tables.length === 0) throw new ChoiceError(`${name}: a zip archive without tables`);
  const names = file.parts.map((part) => part.name).filter((part) => !part.endsWith("/"));
  return { ...file, format: "zip", names, tables };
}

function isTable(name: string): boolean {
  const base = name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
  return !base.startsWith(".") && !name.startsWith("__MACOSX/") && tableEndings.has(endingOf(base));
}

/**
 * Leaves out the tables in which nothing looks like an item, unless the user has named columns. Opens the archives and
 * workbooks that are to be returned.
 *
 * @throws ChoiceError when no table of an archive has items
 * @throws FileError when an archive cannot be written
 */
export async function prepareContainers(
  plans: readonly [Plan, ...Plan[]],
  resources: Resources,
): Promise<readonly [Plan, ...Plan[]]> {
  const chosen: Plan[] = [];
  for (const container of new Set(plans.map(({ member }) => member?.container))) {
    const own = plans.filter(({ member }) => member?.container === container);
    if (container === undefined) {
      chosen.push(...own);
      continue;
    }
    const { tables, failure } = await withItems(own, container, resources.signal);
    chosen.push(...tables);
    await openReturned(container, tables, resources);
    // Nothing is written if one table fails, so nothing may be charged for the others.
    if (container.returned !== undefined && failure !== undefined) throw failure;
  }
  // In the order in which they were given.
  const sorted = plans.filter((plan) => chosen.includes(plan));
  const isToStandardOutput = sorted.some(({ output, split, isDryRun }) => !output && !split && !isDryRun);
  if (sorted.length > 1 && isToStandardOutput) throw needPaths(sorted);
  return [sorted[0]!, ...sorted.slice(1)];
}

async function openReturned(
  container: Container,
  plans: readonly Plan[],
  resources: Resources,
): Promise<void> {
  const [{ returned: target, isInPlace, split, isDryRun }] = plans as readonly [Plan];
  if (target === undefined || isDryRun) return;
  if (isInPlace) await checkReplaceable(target.path);
  if (split !== undefined) return;
  container.returned = await container.returnTo(
    target.path,
    plans.map(({ member }) => member!.table),
  );
  if (target.backup !== undefined) container.backup = await openCopy(target.path, target.backup);
  await resources.atEnd(async () => {
    await container.returned?.discard();
    await container.backup?.discard();
  });
}

/** Returns the plans of the tables with items, and the first fault of one. Says what of the file stays as it is. */
async function withItems(
  plans: readonly Plan[],
  { name, names }: Container,
  signal: AbortSignal,
): Promise<{ readonly tables: readonly Plan[]; readonly failure: unknown }> {
  const chosen: Plan[] = [];
  let refusal: unknown;
  let failure: unknown;
  for (const plan of plans) {
    try {
      await tryInput(plan, signal);
      chosen.push(plan);
    } catch (error) {
      signal.throwIfAborted();
      refusal ??= error;
      if (!(error instanceof ChoiceError)) failure ??= error;
      const isVague = vagueEndings.has(endingOf(plan.member!.table));
      if (!(error instanceof ChoiceError) || (plan.table.columns !== undefined && !isVague))
        chosen.push(plan);
    }
  }
  if (chosen.length === 0) throw refusal;
  const others = names.filter((each) => !chosen.some(({ member }) => member!.table === each));
  if (others.length > 0) chosen[0]!.note(`${name}: left as they are: ${listed(others)}`);
  return { tables: chosen, failure };
}

const mostNamed = 5;

const listed = (names: readonly string[]): string =>
  [
    ...names.slice(0, mostNamed),
    ...(names.length > mostNamed ? [`and ${names.length - mostNamed} more`] : []),
  ].join(", ");

/** Writes an archive or a workbook when the last of its tables is validated. */
export async function finishContainer(
  plan: Plan,
  later: readonly Plan[],
  resources: Resources,
): Promise<void> {
  const { container } = plan.member ?? {};
  if (container?.returned === undefined || later.some(({ member }) => member?.container === container))
    return;
  const { name: inputName, returned: sink, backup } = container;
  const { isInPlace, note } = plan;
  const appear = () => resources.appear();
  const isUnchanged = await resources.commit(
    commitOutputs({ input: container, inputName, isInPlace, sink, file: sink, backup, note, appear }),
    true,
  );
  if (isUnchanged) note(unchanged(inputName));
}
