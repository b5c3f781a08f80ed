// Makes tables in archives and sheets of spreadsheet files files of a run, so that quota, report and messages need know
// nothing of archives. An archive is written while its tables are, so that none waits on a disk for the others.

import { profiles } from "../../../core/run/items/profiles.js";
import { endingOf } from "../../../files/ending.js";
import { ChoiceError } from "../../../files/errors.js";
import { openReplaced } from "../../../files/output.js";
import { type ContainerChoices, containersIn } from "../../../formats/containers.js";
import { type Container, fileOf } from "../../../formats/format.js";
import { holdsFewItems } from "../../../formats/open/no-items.js";
import { isContainerName } from "../../../formats/registry.js";
import { all } from "../../options/input.js";
import { commitOutputs, unchanged } from "../commit.js";
import { type Input, needPaths } from "../plan/paths.js";
import type { BulkRequest, Plan } from "../plan/plan.js";
import { filesAt } from "../report/facts-of-run.js";
import { tryInput } from "./input.js";
import { checkReplaceable } from "./output.js";
import type { Resources } from "./resources.js";

/** Puts tables of archives, with `--sheet "*"` also sheets, in their place. @throws FileError, TableError, ChoiceError */
export async function inputsOf(
  files: readonly string[],
  standardInput: string | undefined,
  { kind, options: { sheet, inPlace, output } }: BulkRequest,
  resources: Resources,
): Promise<readonly Input[]> {
  const choices: ContainerChoices = {
    profile: profiles[kind],
    allSheets: sheet === all,
    comesBack: inPlace !== undefined || (output !== undefined && isContainerName(output)),
    signal: resources.signal,
    atEnd: (close) => resources.atEnd(close),
    onFault: (fault) => resources.faults.push(fault),
    copies: resources.copies,
  };
  const inputs: Input[] = [];
  for (const path of files) {
    const name = path === "-" ? "standard input" : path;
    const containers = await containersIn(standardInput ?? path, name, choices);
    if (containers.length === 0) inputs.push({ path, standardInput });
    for (const container of containers)
      inputs.push(...container.tables.map((table) => ({ path, member: { container, table } })));
  }
  return inputs;
}

/** Leaves out tables without items unless columns are named. Opens the returned files. @throws ChoiceError, FileError */
export async function prepareContainers(
  plans: readonly [Plan, ...Plan[]],
  resources: Resources,
): Promise<readonly [Plan, ...Plan[]]> {
  const chosen: Plan[] = [];
  const withoutItems: { readonly plan: Plan; readonly refusal: unknown }[] = [];
  const filesWithItems = new Set<string>();
  for (const container of new Set(plans.map(({ member }) => member?.container))) {
    const own = plans.filter(({ member }) => member?.container === container);
    if (container === undefined) {
      chosen.push(...own);
      continue;
    }
    const { tables, refusal, failure } = await withItems(own, container, resources.signal);
    chosen.push(...tables);
    if (tables.length > 0) {
      filesWithItems.add(fileOf(container));
      await openReturned(container, tables, resources);
    } else withoutItems.push({ plan: own[0]!, refusal });
    // Nothing is written if one table fails, so nothing may be charged for the others.
    if (container.returned !== undefined && failure !== undefined) throw failure;
  }
  for (const { plan, refusal } of withoutItems) {
    const { container } = plan.member!;
    if (!filesWithItems.has(fileOf(container))) throw refusal;
    // Of several in a file, those without items stay as they are.
    plan.note(`${container.name}: not validated: nothing in it looks like an item`);
  }
  const sorted = plans.filter((plan) => chosen.includes(plan));
  const isToStandardOutput = sorted.some(({ output, split, isDryRun }) => !output && !split && !isDryRun);
  if (sorted.length > 1 && isToStandardOutput) throw needPaths(sorted);
  return [sorted[0]!, ...sorted.slice(1)];
}

async function openReturned(container: Container, plans: readonly Plan[], resources: Resources): Promise<void> {
  const [{ returned: target, isInPlace, split, isDryRun }] = plans as readonly [Plan];
  if (target === undefined || isDryRun) return;
  if (isInPlace) await checkReplaceable(target.path);
  if (split !== undefined) return;
  const tables = plans.map(({ member }) => member!.table);
  container.returned = await resources.openForAll(container.returnTo(target.path, tables));
  if (isInPlace) container.replaced = await resources.openForAll(openReplaced(target.path, target.backup));
}

async function withItems(plans: readonly Plan[], { name, names }: Container, signal: AbortSignal) {
  const tables: Plan[] = [];
  let refusal: unknown;
  let failure: unknown;
  for (const plan of plans) {
    const isText = await mayBeText(plan, signal);
    try {
      const { table } = await tryInput(plan, signal);
      const isTable = table.width > 1 && table.firstValues(table.column).some(profiles[plan.kind].resembles);
      if (isText && !isTable) throw new ChoiceError(`${plan.inputName}: few of its lines hold an item`);
      tables.push(plan);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ChoiceError) error.nameFile(plan.inputName);
      refusal ??= error;
      if (isText) continue;
      const isOther = error instanceof ChoiceError && !error.holdsItems;
      if (!isOther) failure ??= error;
      // Files of other things have these endings, too.
      const isVague = ["txt", "json"].includes(endingOf(plan.member!.table));
      if (!isOther || (plan.table.columns !== undefined && !isVague)) tables.push(plan);
    }
  }
  const checked = new Set(tables.map(({ member }) => member!.table));
  const others = names.filter((each) => !checked.has(each));
  if (others.length > 0) tables[0]?.note(`${name}: not validated: ${listed(others)}`);
  return { tables, refusal, failure };
}

/** A text beside the tables of an archive may name an address, too. */
async function mayBeText(plan: Plan, signal: AbortSignal): Promise<boolean> {
  const { isForced, member, table } = plan;
  if (endingOf(member!.table) !== "txt" || isForced || table.columns !== undefined) return false;
  return holdsFewItems(plan, member!.container.read(member!.table), signal);
}

const mostNamed = 5;

const listed = (names: readonly string[]): string =>
  [...names.slice(0, mostNamed), ...(names.length > mostNamed ? [`and ${names.length - mostNamed} more`] : [])].join(
    ", ",
  );

/** Returns the files that appear with the last table of an archive or a workbook. */
export async function finishContainer(plan: Plan, later: readonly Plan[], resources: Resources) {
  const { container } = plan.member ?? {};
  if (container?.returned === undefined || later.some(({ member }) => member?.container === container)) return [];
  const { name: inputName, returned: sink, replaced } = container;
  const { isInPlace, note } = plan;
  const appear = () => resources.appear();
  const isUnchanged = await resources.commit(
    commitOutputs({ input: container, inputName, isInPlace, sink, file: sink, replaced, note, appear }),
    true,
  );
  if (!isUnchanged) return filesAt([plan.returned?.path, plan.returned?.backup]);
  note(unchanged(inputName));
  return [];
}
