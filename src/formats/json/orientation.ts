/** Refuses JSON without a list of records: an object of columns, or one whose names are the items. */
import { isObject, type JsonObject } from "../../core/table/json/json-values.js";
import type { ItemProfile } from "../../core/table/sniff/item-profile.js";
import { ChoiceError } from "../../files/errors.js";

const deepest = 4;
const mostElements = 20;

/** Lists beside each other may be named columns. @throws ChoiceError for columns, as `df.to_json()` of pandas writes */
export function refuseColumns(name: string, document: JsonObject, profile: ItemProfile, isNamed = false): void {
  if (!hasColumns(document, profile, isNamed, 0)) return;
  throw new ChoiceError(
    `${name}: an object of columns, each with its values by row; write a list of records: df.to_json(orient="records") in pandas`,
    { code: "format" },
  );
}

const hasColumns = (value: unknown, profile: ItemProfile, isNamed: boolean, depth: number): boolean =>
  isObject(value) &&
  depth < deepest &&
  (isOfColumns(value, profile, isNamed) ||
    Object.values(value).some((each) => hasColumns(each, profile, isNamed, depth + 1)));

/** All have the same numbers as names of rows; or one holds several items and another none. */
function isOfColumns(document: JsonObject, profile: ItemProfile, isNamed: boolean): boolean {
  const columns = Object.values(document);
  const [first] = columns;
  const isOfLists = !isNamed && columns.length > 1 && columns.every(Array.isArray);
  if (!isOfLists && !(columns.every(isObject) && isObject(first))) return false;
  const rows = Object.keys(first as object).join("\n");
  const isSame = (columns as object[]).every(
    (column) =>
      Object.keys(column).join("\n") === rows &&
      !Object.values(column).some((value) => typeof value === "object" && value !== null),
  );
  if (rows === "" || !isSame) return false;
  const counts = (columns as object[]).map(
    (each) => Object.values(each).filter((value) => typeof value === "string" && profile.likeness(value) > 0).length,
  );
  const most = Math.max(...counts);
  const isByNumber = !isOfLists && /^\d+(?:\n\d+)*$/.test(rows);
  return most > 0 && (isByNumber || (most > 1 && counts.includes(0)));
}

/** @throws ChoiceError if the names of an object in the document are items */
export function refuseKeyed(name: string, document: unknown, profile: ItemProfile): void {
  const path = keyedPath(document, profile);
  if (path === undefined) return;
  const names = path.filter((each) => each !== null);
  const where = names.length === 0 ? "" : ` in "${names.join(".")}"`;
  const steps = path.map((each) => (each === null ? "[]" : `.${JSON.stringify(each)}`)).join("");
  const all = steps.startsWith(".") ? steps : `.${steps}`;
  throw new ChoiceError(
    `${name}: the ${profile.plural} are names of members${where}; write them into records: jq '[${all} | keys[] | {${profile.columnNames[0]}: .}]'`,
    { code: "format" },
  );
}

/** Names from a document to a value in it; null stands for the elements of a list. */
type Path = readonly (string | null)[];

export function keyedPath(value: unknown, profile: ItemProfile, path: Path = []): Path | undefined {
  if (path.length === deepest) return undefined;
  if (Array.isArray(value)) {
    for (const element of value.slice(0, mostElements)) {
      const found = keyedPath(element, profile, [...path, null]);
      if (found !== undefined) return found;
    }
  }
  if (!isObject(value)) return undefined;
  const keys = Object.keys(value);
  const items = keys.filter((key) => profile.likeness(key) === 2).length;
  if (items > 0 && items >= keys.length / 2) return path;
  for (const key of keys) {
    const found = keyedPath(value[key], profile, [...path, key]);
    if (found !== undefined) return found;
  }
  return undefined;
}
