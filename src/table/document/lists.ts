/** Chooses the lists of a JSON document whose elements are the records. */
import { ChoiceError } from "../../files/errors.js";
import { innerPaths, itemField, type JsonObject, parseObject } from "../json/json-values.js";
import type { ItemProfile } from "../sniff/item-profile.js";
import type { DocumentShape, RecordList } from "./document-records.js";
import { checkSyntax } from "./grammar.js";
import { type FoundList, type Survey, surveyOf, textOf } from "./survey.js";

export interface ChosenLists {
  readonly shape: DocumentShape;
  /** The first records. */
  readonly objects: readonly JsonObject[];
  /** What is before the path of a member in its name, with a dot; empty for records that are in no object. */
  readonly prefix: string;
  /** The wanted members of the records, by the names that the table has for them; undefined to choose among all. */
  readonly columns?: readonly string[];
  /** The path of the one wanted member in each list, if they differ. */
  readonly alternatives?: readonly string[];
}

interface Wanted {
  readonly columns?: readonly string[];
  readonly allColumns?: boolean;
  readonly profile: ItemProfile;
}

/** A list as records, and the paths of their members, with their names. */
interface Candidate {
  readonly list: RecordList;
  readonly objects: readonly JsonObject[];
  readonly textName: string | undefined;
  readonly prefix: string;
  readonly paths: readonly string[];
}

/**
 * @param isWhole whether no more of the document is to come: then lists are chosen, or the document itself
 * @returns undefined if more bytes are needed
 * @throws ChoiceError if no list fits, or several do
 */
export function chooseLists(
  name: string,
  bytes: Buffer,
  isWhole: boolean,
  wanted: Wanted,
): ChosenLists | undefined {
  const survey = surveyOf(bytes);
  const [outermost] = survey.lists;
  const candidates = survey.lists.flatMap((list) => candidateOf(list, wanted.profile));
  if (outermost?.names.length === 0 && !outermost.isMap) {
    const [own] = candidates;
    if (own === undefined && outermost.elements.length > 0) {
      checkSyntax(name, bytes);
      throw holdsNoRecords(name);
    }
    if (own !== undefined || isWhole) return chosen([own ?? emptyList(outermost)]);
    return undefined;
  }
  if (survey.values > 1) return sequenceOf(survey);
  const named = namesOf(wanted);
  const fitting = fittingOf(survey, candidates, named, wanted.profile);
  if (!isWhole && (named === undefined || fitting.length < named.length)) return undefined;
  const hasOwnItem = holdsItem(objectsIn(survey.first), wanted.profile);
  if (fitting.length === 0) {
    const empty = survey.lists.filter(({ elements }) => elements.length === 0).map(emptyList);
    const isMeant =
      named?.every((each) => empty.some(({ prefix }) => each.startsWith(prefix))) ?? !hasOwnItem;
    return empty.length > 0 && isMeant ? chosen(empty) : sequenceOf(survey);
  }
  if (fitting.length > 1 && named) return chosenByName(name, fitting, named);
  if (fitting.length > 1 && !wanted.allColumns) throw severalLists(name, bytes, fitting, wanted.profile);
  return { ...chosen(fitting), ...(named && { columns: named.map((each) => shownName(each, fitting[0]!)) }) };
}

/** Returns the lists that the wanted names are in, or those that hold items. */
function fittingOf(
  { first }: Survey,
  candidates: readonly Candidate[],
  named: readonly string[] | undefined,
  profile: ItemProfile,
): readonly Candidate[] {
  if (named === undefined) {
    return withoutInner(candidates.filter((each) => itemsIn(each, profile).length > 0));
  }
  const isOwn = (path: string) => objectsIn(first).some((object) => Object.hasOwn(object, path));
  const withNames = (namesIn: (candidate: Candidate) => readonly string[]) =>
    candidates.filter((each) => namesIn(each).some((path) => named.includes(path)));
  const exact = withNames(fullNames);
  // Without the way to the list, a name is enough if nothing outside of the lists has it.
  return withoutInner(exact.length > 0 || named.some(isOwn) ? exact : withNames(({ paths }) => paths));
}

function holdsItem(objects: readonly JsonObject[], profile: ItemProfile): boolean {
  return objects.some((object) =>
    Object.keys(object).some((path) => profile.likeness(itemField(object, path)) > 0),
  );
}

const shownName = (name: string, { prefix, paths, textName }: Candidate): string => {
  if (textName !== undefined) return prefix + textName;
  return !name.startsWith(prefix) && paths.includes(name) ? prefix + name : name;
};

/** @throws ChoiceError if the members of several lists cannot have one status */
function chosenByName(name: string, fitting: readonly Candidate[], named: readonly string[]): ChosenLists {
  const paths = fitting.map(({ prefix, paths, textName }) => {
    if (textName !== undefined) return [textName];
    const own = named.filter((each) => each.startsWith(prefix)).map((each) => each.slice(prefix.length));
    return own.length > 0 ? own : named.filter((each) => paths.includes(each));
  });
  const [first] = fitting;
  const isSame = paths.every((each) => each.join() === paths[0]!.join());
  if (isSame) return { ...chosen(fitting), columns: paths[0]!.map((path) => first!.prefix + path) };
  const alternatives = [...new Set(paths.flat())];
  const isClear = fitting.every(
    (each, nth) =>
      paths[nth]!.length === 1 && alternatives.filter((path) => each.paths.includes(path)).length === 1,
  );
  if (isClear && fitting.every(({ textName }) => textName === undefined)) {
    return { ...chosen(fitting), alternatives, columns: [named.join(", ")] };
  }
  throw new ChoiceError(
    `${name}: ${named.join(" and ")} are in different lists; validate one, and then the other in the output`,
  );
}

/** The values of the document itself are the records. */
const sequenceOf = ({ first }: Survey): ChosenLists => ({
  shape: { isSequence: true, lists: [] },
  objects: objectsIn(first),
  prefix: "",
});

function chosen(candidates: readonly Candidate[]): ChosenLists {
  return {
    shape: {
      isSequence: false,
      lists: candidates.map(({ list: { names, isMap } }) => ({ names, isMap })),
      textName: candidates[0]!.textName,
    },
    objects: candidates.flatMap(({ objects }) => objects),
    prefix: candidates[0]!.prefix,
  };
}

function candidateOf(list: FoundList, profile: ItemProfile): Candidate[] {
  const objects = objectsIn(list.elements);
  const prefix = prefixOf(list);
  if (objects.length > 0) {
    const paths = [...new Set(objects.flatMap((each) => [...Object.keys(each), ...innerPaths(each)]))];
    return [{ list, objects, textName: undefined, prefix, paths }];
  }
  const texts = list.elements.map(textOf).filter((text) => text !== undefined);
  if (texts.length === 0) return [];
  const textName = profile.columnNames[0]!;
  const asObjects = texts.map((text) => ({ [textName]: text }));
  return [{ list, objects: asObjects, textName, prefix, paths: [textName] }];
}

const emptyList = (list: RecordList): Candidate => ({
  list,
  objects: [],
  textName: undefined,
  prefix: prefixOf(list),
  paths: [],
});

function prefixOf({ names, isMap }: RecordList): string {
  const path = [...names, ...(isMap ? ["*"] : [])].join(".");
  return path === "" ? "" : `${path}.`;
}

const holdsNoRecords = (name: string): ChoiceError =>
  new ChoiceError(`${name}: the elements of its list are neither objects nor texts; give a list of these`);

const objectsIn = (sources: readonly string[]): JsonObject[] =>
  sources.map(parseObject).filter((object) => object !== undefined);

/** The names that the user has given; undefined if there are none, or only numbers. */
function namesOf({ columns }: Wanted): readonly string[] | undefined {
  return columns?.some((column) => !/^\d+$/.test(column)) ? columns : undefined;
}

/** A list of texts is named as its only member, and by itself. */
const fullNames = ({ prefix, paths, textName }: Candidate): string[] => [
  ...paths.map((path) => prefix + path),
  ...(textName === undefined ? [] : [prefix.slice(0, -1)]),
];

/** Leaves out lists inside the elements of others. */
function withoutInner(candidates: readonly Candidate[]): Candidate[] {
  const isInside = (inner: readonly string[], outer: RecordList) =>
    inner.length > outer.names.length && outer.names.every((name, nth) => name === inner[nth]);
  return candidates.filter(({ list }) => !candidates.some((other) => isInside(list.names, other.list)));
}

/** Returns the names of the members that hold items, with the number of records in which they do. */
function itemsIn(
  { objects, paths, prefix }: Candidate,
  profile: ItemProfile,
): { name: string; count: number }[] {
  return paths
    .map((path) => {
      const count = objects.filter((object) => profile.likeness(itemField(object, path)) > 0).length;
      return { name: prefix + path, count };
    })
    .filter(({ count }) => count > 0);
}

function severalLists(
  name: string,
  bytes: Buffer,
  fitting: readonly Candidate[],
  profile: ItemProfile,
): ChoiceError {
  const all = surveyOf(bytes, Number.POSITIVE_INFINITY).lists.flatMap((list) => candidateOf(list, profile));
  const found = all
    .filter(({ prefix }) => fitting.some((each) => each.prefix === prefix))
    .flatMap((each) => itemsIn(each, profile))
    .map((each) => `"${each.name}" (${each.count.toLocaleString("en-US")})`);
  return new ChoiceError(
    `${name}: ${fitting.length} lists hold ${profile.plural}; choose with -c: ${found.join(", ")}`,
  );
}
