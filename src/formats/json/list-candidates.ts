/** The lists of a document that may hold items: their columns, rows and names. */
import { columnNames } from "../../core/table/json/arrays.js";
import type { JsonObject } from "../../core/table/json/json-values.js";
import { innerPaths, isObject, mostSampled, parsedJson, sampledField } from "../../core/table/json/json-values.js";
import { nameFitOf } from "../../core/table/sniff/column.js";
import type { ItemProfile } from "../../core/table/sniff/item-profile.js";
import { isInRow, type RecordList } from "./document-shape.js";
import { type FoundList, objectsIn, textOf } from "./survey.js";

export interface Candidate {
  readonly list: RecordList;
  readonly objects: readonly JsonObject[];
  readonly count: number;
  readonly textName?: string;
  readonly header?: readonly string[];
  readonly prefix: string;
  readonly paths: readonly string[];
}

/** At least two members of an object must hold an item at the same path: half of all, or of members that are alike. */
export function holdsItems(candidate: Candidate, profile: ItemProfile): boolean {
  const { list, paths, objects, count } = candidate;
  if (!list.isMap) return itemsIn(candidate, profile).length > 0;
  // A member with lists of objects is a part of a document, not a record.
  const isOfRecords = objects.length === count && !objects.some((object) => Object.values(object).some(holdsObjects));
  const countWith = (path: string) => objects.filter((object) => Object.hasOwn(object, path)).length;
  const isAlike = isOfRecords && paths.some((path) => countWith(path) >= leastAlike * count);
  return paths.some((path) => {
    const isOwn = (text: unknown) => typeof text === "string" && profile.likeness(text.slice(0, mostSampled)) > 0;
    const own = objects.map((object) => ownValue(object, path));
    const holding = own.filter((value) => (Array.isArray(value) ? value.some(isOwn) : isOwn(value))).length;
    return own.some(isOwn) && holding > 1 && (isAlike || holding >= count / 2);
  });
}

/** Share of the members of an object that must have a field in common. */
const leastAlike = 0.8;

/** Returns whether a document holds an item outside of lists: at its top, or further in under the name of one. */
export function holdsItem(objects: readonly JsonObject[], profile: ItemProfile): boolean {
  const pathsOf = (object: JsonObject) => [
    ...Object.keys(object),
    ...innerPaths(object).filter((path) => nameFitOf(path, profile) > 1),
  ];
  return objects.some((object) => pathsOf(object).some((path) => profile.likeness(sampledField(object, path)) > 0));
}

export function candidateOf(list: FoundList, profile: ItemProfile): Candidate[] {
  const objects = objectsIn(list.elements);
  const prefix = prefixOf(list);
  const count = list.elements.length;
  if (objects.length > 0) {
    const paths = [...new Set(objects.flatMap((each) => [...Object.keys(each), ...innerPaths(each)]))];
    return [{ list, objects, count, prefix, paths }];
  }
  // Several lists may have different headers.
  const isSingle = !list.isMap && !list.names.includes(null);
  const table = isSingle ? arraysIn(list.elements, profile) : undefined;
  if (table !== undefined) return [{ list, count, prefix, paths: table.header, ...table }];
  const texts = list.isMap || isInRow(list) ? [] : list.elements.map(textOf).filter((text) => text !== undefined);
  if (texts.length === 0) return [];
  const textName = profile.columnNames[0]!;
  const asObjects = texts.map((text) => ({ [textName]: text }));
  return [{ list, objects: asObjects, count, textName, prefix, paths: [textName] }];
}

function arraysIn(elements: readonly string[], profile: ItemProfile) {
  const arrays = elements.filter((element) => element.startsWith("[")).map(parsedJson);
  const [first, ...rows] = arrays as (readonly unknown[] | undefined)[];
  const isText = (value: unknown) => typeof value === "string" && profile.likeness(value) === 0;
  if (first === undefined || first.length === 0 || !first.every(isText)) return undefined;
  const header = columnNames(first as readonly string[]);
  const objects = rows
    .filter((row) => row !== undefined)
    .map((row) => Object.fromEntries(header.map((name, nth) => [name, row[nth] ?? null])));
  return { header, objects };
}

export const emptyList = (list: RecordList) => ({ list, objects: [], count: 0, prefix: prefixOf(list), paths: [] });

function prefixOf({ names, isMap }: RecordList): string {
  const path = [...names.filter((name) => name !== null), ...(isMap ? ["*"] : [])].join(".");
  return path === "" ? "" : `${path}.`;
}

/** A list of texts is named as its only member, and by itself. */
export const fullNames = ({ prefix, paths, textName }: Candidate): string[] => [
  ...paths.map((path) => prefix + path),
  ...(textName === undefined ? [] : [prefix.slice(0, -1)]),
];

export function withoutInner(candidates: readonly Candidate[]): Candidate[] {
  const keyOf = (names: RecordList["names"]) => JSON.stringify(names);
  const keys = new Set(candidates.map(({ list }) => keyOf(list.names)));
  const isInside = ({ list: { names } }: Candidate) =>
    names.some((_, length) => keys.has(keyOf(names.slice(0, length))));
  return candidates.filter((each) => !isInside(each));
}

export const itemsIn = ({ objects, paths, prefix }: Candidate, profile: ItemProfile) =>
  paths
    .map((path) => {
      const count = objects.filter((object) => profile.likeness(sampledField(object, path)) > 0).length;
      return { name: prefix + path, count };
    })
    .filter(({ count }) => count > 0);

function ownValue(object: JsonObject, path: string): unknown {
  let value: unknown = object;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    value = (value as JsonObject)[name];
  }
  return value;
}

const holdsObjects = (value: unknown): boolean => Array.isArray(value) && value.some(isObject);
