/**
 * Refuses JSON in which the records are not where they are looked for: an object of columns, and an object whose names are the
 * items.
 */
import { ChoiceError } from "../../files/errors.js";
import { isObject, type JsonObject } from "../json/json-values.js";
import type { ItemProfile } from "../sniff/item-profile.js";

/** Depth of the objects whose names may be the items. */
const deepest = 4;

/**
 * @param document an object
 * @throws ChoiceError for an object of columns, as `df.to_json()` of pandas writes
 */
export function refuseColumns(name: string, document: JsonObject, profile: ItemProfile): void {
  if (!isOfColumns(document, profile)) return;
  throw new ChoiceError(
    `${name}: an object of columns, each with its values by row; write a list of records: df.to_json(orient="records") in pandas`,
  );
}

/**
 * Returns whether the members are columns: all have the same names of rows, which are numbers; or one of them holds several items
 * and another one none, which are no fields of a record.
 */
function isOfColumns(document: JsonObject, profile: ItemProfile): boolean {
  const columns = Object.values(document);
  const [first] = columns;
  if (!columns.every(isObject) || !isObject(first)) return false;
  const rows = Object.keys(first).join("\n");
  const isSame = columns.every(
    (column) =>
      Object.keys(column).join("\n") === rows &&
      !Object.values(column).some((value) => typeof value === "object" && value !== null),
  );
  if (rows === "" || !isSame) return false;
  const counts = columns.map(
    (column) =>
      Object.values(column).filter((value) => typeof value === "string" && profile.likeness(value) > 0)
        .length,
  );
  const most = Math.max(...counts);
  return most > 0 && (/^\d+(?:\n\d+)*$/.test(rows) || (most > 1 && counts.includes(0)));
}

/**
 * @param document any value
 * @throws ChoiceError if the names of an object in it are items
 */
export function refuseKeyed(name: string, document: unknown, profile: ItemProfile): void {
  const path = keyedPath(document, profile, []);
  if (path === undefined) return;
  const where = path.length === 0 ? "" : ` in "${path.join(".")}"`;
  const all = path.length === 0 ? "." : `.${path.map((each) => JSON.stringify(each)).join(".")}`;
  throw new ChoiceError(
    `${name}: the ${profile.plural} are names of members${where}; write them into records: jq '[${all} | keys[] | {${profile.columnNames[0]}: .}]'`,
  );
}

function keyedPath(
  value: unknown,
  profile: ItemProfile,
  path: readonly string[],
): readonly string[] | undefined {
  if (!isObject(value) || path.length === deepest) return undefined;
  const keys = Object.keys(value);
  const items = keys.filter((key) => profile.likeness(key) === 2).length;
  if (items > 0 && items >= keys.length / 2) return path;
  for (const key of keys) {
    const found = keyedPath(value[key], profile, [...path, key]);
    if (found !== undefined) return found;
  }
  return undefined;
}
