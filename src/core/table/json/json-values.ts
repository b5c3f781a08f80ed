/** Values of JSON as fields of a table. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** Columns of a table of JSON objects: the keys of the first objects. Plain data, because worker threads get a copy. */
export interface JsonShape {
  readonly names: readonly string[];
  /** With paths into inner objects: `user.email`. Columns are indices into this list. */
  readonly paths: readonly string[];
  readonly isDocument: boolean;
  readonly isOfArrays: boolean;
  readonly addedBytes: number;
}

/** Returns undefined for a text that is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function parseObject(line: string): JsonObject | undefined {
  const value = parsedJson(line);
  return isObject(value) ? value : undefined;
}

export const orElse = "\u0000";

export const itemField = (object: JsonObject, path: string): string =>
  path
    .split(orElse)
    .map((each) => itemTextOf(fieldAt(object, each)))
    .find((text) => text !== "") ?? "";

/** Longer texts are not items, and take long to search. */
export const mostSampled = 4096;

export const sampledField = (object: JsonObject, path: string): string => itemField(object, path).slice(0, mostSampled);

/** Returns a value as text that may hold items: empty for an object, the texts and numbers of a list joined by `; `. */
export function itemTextOf(value: unknown): string {
  if (Array.isArray(value)) {
    return value.filter((each) => typeof each === "string" || typeof each === "number").join("; ");
  }
  return typeof value === "object" || value === undefined ? "" : String(value);
}

function fieldAt(object: JsonObject, path: string): unknown {
  if (Object.hasOwn(object, path)) return object[path];
  const dot = path.indexOf(".");
  const inner = dot !== -1 && Object.hasOwn(object, path.slice(0, dot)) ? object[path.slice(0, dot)] : undefined;
  const rest = path.slice(dot + 1);
  if (Array.isArray(inner)) return inner.filter(isObject).map((member) => fieldAt(member, rest));
  return isObject(inner) ? fieldAt(inner, rest) : undefined;
}

export function innerPaths(object: JsonObject, depth = 3): string[] {
  return Object.entries(object).flatMap(([name, value]) => {
    // The first object of a list represents all of them.
    const member: unknown = Array.isArray(value) ? value[0] : value;
    if (depth === 1 || !isObject(member)) return [];
    return [...Object.keys(member), ...innerPaths(member, depth - 1)].map((inner) => `${name}.${inner}`);
  });
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

/** A number that JavaScript may write differently: with many digits, a fraction or an exponent. */
const hasExactNumber = /\d{16}|\d[.eE]/;

/** Returns a value as a field of another format: as {@link textOf}, but with numbers as they are written. */
export function exactTextOf(source: string): string {
  const value: unknown = JSON.parse(source);
  return typeof value !== "string" && hasExactNumber.test(source) ? source : textOf(value);
}

export interface JsonText {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Name of the innermost member. Elements of an array have the array's name. */
  readonly name: string;
  readonly path: string;
}

export function textsIn(json: string, isBinary = false): readonly JsonText[] {
  const texts: JsonText[] = [];
  /** For each open object or array, its own path, and the name of the member that is read. */
  const open: string[] = [];
  let [path, name] = ["", ""];
  for (const { index, 0: token, 1: colon } of json.matchAll(/"(?:[^"\\]|\\.)*"[\s\x0e\x0f]*(:)?|[{}[\]]/g)) {
    if (token === "{" || token === "[") open.push(path);
    else if (token === "}" || token === "]") path = open.pop()!;
    else {
      const end = index + token.lastIndexOf('"');
      const source = json.slice(index, end + 1);
      const text = JSON.parse(isBinary ? Buffer.from(source, "latin1").toString() : source) as string;
      const outer = open.at(-1) ?? "";
      if (colon === undefined) texts.push({ text, start: index + 1, end, path, name });
      else {
        name = text;
        path = outer === "" ? text : `${outer}.${text}`;
      }
    }
  }
  return texts;
}
