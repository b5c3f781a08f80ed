/** Chooses the lists of a JSON document whose elements are the records. */
import { nameMeant } from "../../core/meant.js";
import { checkSyntax } from "../../core/table/json/grammar.js";
import type { JsonObject } from "../../core/table/json/json-values.js";
import { nameFitOf } from "../../core/table/sniff/column.js";
import type { ItemProfile } from "../../core/table/sniff/item-profile.js";
import { ChoiceError } from "../../files/errors.js";
import { grouped } from "../../text.js";
import { type DocumentShape, isInRow } from "./document-shape.js";
import type { Candidate } from "./list-candidates.js";
import { candidateOf, emptyList, fullNames, holdsItem, holdsItems, itemsIn, withoutInner } from "./list-candidates.js";
import { keyedPath, refuseColumns, refuseKeyed } from "./orientation.js";
import { type FoundList, objectsIn, type Survey, surveyOf, textOf } from "./survey.js";

export interface ChosenLists {
  readonly shape: DocumentShape;
  readonly objects: readonly JsonObject[];
  /** Precedes member paths in names, with a dot; empty for records that are in no object. */
  readonly prefix: string;
  readonly columns?: readonly string[];
  /** The path of the one wanted member in each list, if they differ. */
  readonly alternatives?: readonly string[];
}

interface Wanted {
  readonly isCut?: boolean;
  readonly columns?: readonly string[];
  readonly profile: ItemProfile;
}

/** Returns undefined if more bytes are needed; `isWhole` forces a choice. @throws ChoiceError if none or several fit */
export function chooseLists(name: string, bytes: Buffer, isWhole: boolean, wanted: Wanted): ChosenLists | undefined {
  const survey = surveyOf(bytes);
  const [outermost] = survey.lists;
  if (outermost?.names.length === 0 && !outermost.isMap) return rootList(name, bytes, isWhole, survey.lists, wanted);
  if (survey.values > 1) return sequenceOf(survey);
  const [document] = objectsIn(survey.first);
  const named = namesOf(wanted);
  if (document !== undefined) refuseColumns(name, document, wanted.profile, named !== undefined);
  const early = fittingOf(survey, named, wanted.profile);
  // Only a full name leaves no doubt about later lists.
  const isSure = named !== undefined && early.isExact && early.lists.length >= named.length;
  if (!isWhole && !isSure) return undefined;
  // Items may begin behind the first elements.
  const all = early.lists.length > 0 ? survey : surveyOf(bytes, Number.POSITIVE_INFINITY);
  const fitting = early.lists.length > 0 ? early.lists : fittingOf(all, named, wanted.profile).lists;
  if (fitting.length === 0 && wanted.isCut) throw noListSoFar(name, bytes.length, wanted);
  if (named === undefined && areKeyed(document, fitting, wanted.profile)) refuseKeyed(name, document, wanted.profile);
  if (fitting.length === 0) return withoutLists(name, all, named, wanted.profile);
  if (fitting.length > 1 && named) return chosenByName(name, fitting, named);
  if (fitting.length > 1) throw severalLists(name, fitting, wanted.profile);
  return { ...chosen(fitting), ...(named && { columns: named.map((each) => shownName(each, fitting[0]!)) }) };
}

function areKeyed(document: JsonObject | undefined, fitting: readonly Candidate[], profile: ItemProfile): boolean {
  const path = keyedPath(document, profile);
  return path !== undefined && fitting.every(({ list: { names } }) => path.every((each, n) => names[n] === each));
}

/** A document has one list whose records hold items. @throws ChoiceError if the items are columns, names or ambiguous */
export function isDocumentOnOneLine(name: string, line: Buffer, wanted: Wanted): boolean {
  const { profile } = wanted;
  const survey = surveyOf(line);
  const [object] = objectsIn(survey.first);
  if (object === undefined || survey.values !== 1) return false;
  const named = namesOf(wanted);
  refuseColumns(name, object, profile, named !== undefined);
  const { lists } = fittingOf(survey, undefined, profile);
  const [own] =
    Object.entries(object).find(([, value]) => typeof value === "string" && profile.likeness(value) > 0) ?? [];
  if (named === undefined && own === undefined && areKeyed(object, lists, profile)) refuseKeyed(name, object, profile);
  const [list] = lists;
  if (lists.length !== 1 || list!.textName !== undefined) return false;
  if (own === undefined || list!.count < 2) return own === undefined;
  if (named !== undefined) return !named.some((each) => Object.hasOwn(object, each));
  const found = itemsIn(list!, profile).map((each) => `"${each.name}" (${grouped(each.count)})`);
  const what = `${name}: ${profile.plural} are both in a record and in a list inside it: "${own}", ${found.join(", ")}`;
  const page = "name the one that is wanted";
  throw new ChoiceError(what, { code: "column", advice: "choose one with -c", page, holdsItems: true });
}

function rootList(name: string, bytes: Buffer, isWhole: boolean, lists: readonly FoundList[], wanted: Wanted) {
  const { profile } = wanted;
  const [list] = lists as [FoundList];
  const found = candidateOf(list, profile);
  const [own] = found.length > 0 ? found : candidateOf(surveyOf(bytes, Number.POSITIVE_INFINITY).lists[0]!, profile);
  if (own === undefined && list.elements.some((element) => element !== "null")) {
    checkSyntax(name, bytes);
    throw holdsNoRecords(name);
  }
  if (own === undefined) return isWhole ? chosen([emptyList(list)]) : undefined;
  if (namesOf(wanted) === undefined && !holdsItems(own, profile)) refuseKeyed(name, own.objects, profile);
  const inner = inward(own, lists, profile);
  const isMeant = namesOf(wanted)?.every((each) => fullNames(inner).includes(each)) !== false;
  return chosen([isMeant ? inner : own]);
}

/** If few elements hold items, takes a list in them: some exports have their rows in one element of several. */
function inward(own: Candidate, lists: readonly FoundList[], profile: ItemProfile): Candidate {
  const most = (candidate: Candidate) => Math.max(0, ...itemsIn(candidate, profile).map(({ count }) => count));
  const holding = most(own);
  if (2 * holding >= own.count) return own;
  const way = JSON.stringify([...own.list.names, null]).slice(0, -1);
  const [inner] = lists
    .filter(({ names, isMap }) => !isMap && JSON.stringify(names).startsWith(`${way},`))
    .flatMap((list) => candidateOf(list, profile))
    .filter((candidate) => candidate.textName === undefined && most(candidate) > holding)
    .sort((a, b) => most(b) - most(a));
  return inner ?? own;
}

/** The document is then a record, unless it has empty lists where items are meant to be. */
function withoutLists(name: string, survey: Survey, named: readonly string[] | undefined, profile: ItemProfile) {
  // A column with the usual name may be filled further down.
  const likely = withoutInner(
    survey.lists
      .flatMap((list) => candidateOf(list, profile))
      .filter(({ list, textName }) => !list.isMap && textName === undefined)
      .filter(({ paths }) => paths.some((path) => nameFitOf(path, profile) === 3)),
  );
  if (named === undefined && likely.length > 1) throw severalLists(name, likely, profile);
  if (named === undefined && likely.length === 1) return chosen(likely);
  const empty = survey.lists.filter(({ isEmpty }) => isEmpty).map(emptyList);
  const hasOwnItem = holdsItem(objectsIn(survey.first), profile);
  const holds = (element: string) => profile.likeness(textOf(element) ?? "") > 0;
  const hasRows = survey.lists.some((list) => isInRow(list) && list.elements.some(holds));
  if (named === undefined && !hasOwnItem && hasRows) throw holdsNoRecords(name);
  // Where there is nothing but empty lists, a short name is that of a member, as in a list with records.
  const isNothing = (value: unknown) => Array.isArray(value) && value.length === 0;
  const isBare = objectsIn(survey.first).every((object) => Object.values(object).every(isNothing));
  const mayBeIn = (path: string) =>
    empty.some(({ prefix }) => path.startsWith(prefix)) || (isBare && !path.includes("."));
  const isMeant = named?.every(mayBeIn) ?? !hasOwnItem;
  return empty.length > 0 && isMeant ? chosen(empty) : sequenceOf(survey);
}

/** Lists with the wanted names, as full names if `isExact`; or those that hold items. */
function fittingOf({ lists, first }: Survey, named: readonly string[] | undefined, profile: ItemProfile) {
  const candidates = lists.flatMap((list) => candidateOf(list, profile));
  if (named === undefined) {
    return { lists: withoutInner(candidates.filter((each) => holdsItems(each, profile))), isExact: false };
  }
  const isOwn = (path: string) => objectsIn(first).some((object) => Object.hasOwn(object, path));
  const withNames = (namesIn: (candidate: Candidate) => readonly string[]) =>
    candidates.filter((each) => namesIn(each).some((path) => named.includes(path)));
  const exact = withNames(fullNames);
  if (exact.length > 0 || named.some(isOwn)) return { lists: withoutInner(exact), isExact: true };
  // Without the way to the list, a name is enough if nothing outside of the lists has it.
  const isOfRecords = (each: Candidate) =>
    each.textName === undefined && (!each.list.isMap || holdsItems(each, profile));
  const likely = withNames((each) => (isOfRecords(each) ? each.paths : []));
  return { lists: withoutInner(likely), isExact: false };
}

const shownName = (name: string, { prefix, paths, textName }: Candidate): string => {
  if (textName !== undefined) return prefix + textName;
  return !name.startsWith(prefix) && paths.includes(name) ? prefix + name : name;
};

function chosenByName(name: string, fitting: readonly Candidate[], named: readonly string[]): ChosenLists {
  const paths = fitting.map(({ prefix, paths, textName }) => {
    if (textName !== undefined) return [textName];
    const own = named.filter((each) => each.startsWith(prefix)).map((each) => each.slice(prefix.length));
    return own.length > 0 ? own : named.filter((each) => paths.includes(each));
  });
  const [first] = fitting;
  const isSame = paths.every((each) => each.join() === paths[0]!.join());
  const all = new Set(fitting.flatMap((each) => [...fullNames(each), ...each.paths]));
  const unknown = named.find((each) => !all.has(each));
  if (unknown !== undefined) {
    const names = fitting.flatMap(fullNames);
    const meant = nameMeant(unknown, names);
    const guess = meant === undefined ? "" : ` (did you mean "${meant}"?)`;
    const listed = names.slice(0, mostNamed).map((each) => `"${each}"`);
    const what = `no column "${unknown}"${guess}; the columns are ${listed.join(", ")}`;
    throw new ChoiceError(what, { code: "column" });
  }
  const isOneKind =
    new Set(fitting.map(({ textName }) => textName)).size === 1 && fitting.every(({ header }) => !header);
  if (isSame && isOneKind) return { ...chosen(fitting), columns: paths[0]!.map((path) => first!.prefix + path) };
  const alternatives = [...new Set(paths.flat())];
  const isClear = fitting.every(
    (each, nth) => paths[nth]!.length === 1 && alternatives.filter((path) => each.paths.includes(path)).length === 1,
  );
  if (isClear && fitting.every(({ textName, header }) => textName === undefined && !header)) {
    return { ...chosen(fitting), alternatives, columns: [named.join(", ")] };
  }
  throw new ChoiceError(
    `${name}: ${named.join(" and ")} are in different lists; validate one, and then the other in the output`,
  );
}

const sequenceOf = ({ first }: Survey): ChosenLists => ({
  shape: { isSequence: true, lists: [] },
  objects: objectsIn(first),
  prefix: "",
});

const chosen = (candidates: readonly Candidate[]): ChosenLists => ({
  shape: {
    isSequence: false,
    lists: candidates.map(({ list: { names, isMap } }) => ({ names, isMap })),
    textName: candidates[0]!.textName,
    header: candidates[0]!.header,
  },
  objects: candidates.flatMap(({ objects }) => objects),
  prefix: candidates[0]!.prefix,
});

/** Texts in a row of a table without a header are not records. */
function noListSoFar(name: string, bytes: number, { columns, profile: { plural } }: Wanted): ChoiceError {
  const read = `${Math.round(bytes / 1_048_576)} MiB`;
  const toStart = "move the list to its start";
  const advice = columns === undefined ? "name its items with -c, as users.email" : toStart;
  const what = `${name}: no list with ${plural} begins in its first ${read}`;
  return new ChoiceError(what, { code: "items", advice, page: toStart });
}

const holdsNoRecords = (name: string): ChoiceError =>
  new ChoiceError(`${name}: its list needs objects, strings, or arrays below a header`, { code: "format" });

/** Undefined if the user has given no names, or only numbers. */
const namesOf = ({ columns }: Wanted): readonly string[] | undefined =>
  columns?.some((column) => !/^\d+$/.test(column)) ? columns : undefined;

const mostNamed = 10;

function severalLists(name: string, fitting: readonly Candidate[], profile: ItemProfile): ChoiceError {
  const found = fitting
    .slice(0, mostNamed)
    .flatMap((each) => itemsIn(each, profile))
    .map((each) => `"${each.name}" (${grouped(each.count)})`);
  const more = fitting.length > mostNamed ? `, and ${fitting.length - mostNamed} more lists` : "";
  const what = `${name}: ${fitting.length} lists hold ${profile.plural}: ${found.join(", ")}${more}`;
  const page = "name the one that is wanted";
  return new ChoiceError(what, { code: "column", advice: "choose one with -c", page, holdsItems: true });
}
