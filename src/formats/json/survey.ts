/** Finds the lists in the start of a JSON document whose elements may be records. */
import * as ascii from "../../core/ascii.js";
import { isSpace } from "../../core/table/json/grammar.js";
import { type JsonObject, parsedJson, parseObject } from "../../core/table/json/json-values.js";
import { maximumRecords } from "../../core/table/sniff/sample.js";
import { keyOf, type RecordList } from "./document-shape.js";

export interface FoundList extends RecordList {
  readonly elements: readonly string[];
  readonly isEmpty: boolean;
}

export interface Survey {
  readonly values: number;
  readonly first: readonly string[];
  readonly lists: readonly FoundList[];
}

const mostVisited = 20;
const deepest = 16;

/** What is wrong in the start of the document ends the survey there. `most` limits the elements of each list. */
export function surveyOf(bytes: Buffer, most = maximumRecords): Survey {
  const visited: Visited = { bytes, most, lists: [] };
  const first: string[] = [];
  let values = 0;
  for (let at = afterSpace(bytes, 0, true); at < bytes.length && values < maximumRecords; values++) {
    const end = values === 0 ? visit(visited, at, []) : afterValue(bytes, at);
    if (end !== cut) first.push(bytes.toString("utf8", at, end));
    at = afterSpace(bytes, end, true);
  }
  return { values, first, lists: merged(visited.lists, most) };
}

function merged(lists: readonly FoundList[], most: number): readonly FoundList[] {
  const byKey = new Map<string, FoundList>();
  for (const list of lists) {
    const key = keyOf(list);
    const other = byKey.get(key);
    const elements = other ? [...other.elements, ...list.elements].slice(0, most) : list.elements;
    byKey.set(key, { ...list, elements, isEmpty: list.isEmpty && other?.isEmpty !== false });
  }
  return [...byKey.values()];
}

/** The end of a value that does not end in the bytes. */
const cut = Number.POSITIVE_INFINITY;

interface Visited {
  readonly bytes: Buffer;
  readonly most: number;
  readonly lists: (FoundList & { readonly elements: string[]; isEmpty: boolean })[];
}

/** Returns the index after a value, as the functions below. */
function visit(visited: Visited, from: number, names: readonly (string | null)[]): number {
  const { bytes, most, lists } = visited;
  const byte = bytes[from];
  if (names.length >= deepest || (byte !== ascii.openBrace && byte !== ascii.openBracket)) {
    return afterValue(bytes, from);
  }
  const isMap = byte === ascii.openBrace;
  const list = { names, isMap, elements: [] as string[], isEmpty: false };
  lists.push(list);
  const close = isMap ? ascii.closeBrace : ascii.closeBracket;
  let at = afterSpace(bytes, from + 1);
  list.isEmpty = bytes[at] === close;
  while (at < bytes.length && bytes[at] !== close) {
    const name = isMap ? nameAt(bytes, at) : undefined;
    const start = name?.end ?? at;
    // Lists in the elements of a list matter only if few of these have any.
    const isVisited = name !== undefined || list.elements.length < mostVisited;
    const end = isVisited ? visit(visited, start, [...names, name?.text ?? null]) : afterValue(bytes, start);
    // Numbers and the like are no records: some are enough to tell that.
    const mayBeRecord = bytes[start] === ascii.openBrace || bytes[start] === ascii.quote;
    if (end !== cut && list.elements.length < (mayBeRecord ? most : maximumRecords)) {
      list.elements.push(bytes.toString("utf8", start, end));
    }
    at = afterSpace(bytes, end);
    if (bytes[at] === ascii.comma) at = afterSpace(bytes, at + 1);
    else if (bytes[at] !== close) return cut;
  }
  return at < bytes.length ? at + 1 : cut;
}

function nameAt(bytes: Buffer, from: number): { readonly text: string; readonly end: number } {
  const end = bytes[from] === ascii.quote ? afterString(bytes, from) : cut;
  const colonAt = afterSpace(bytes, end);
  if (bytes[colonAt] !== ascii.colon) return { text: "", end: bytes.length };
  return { text: textOf(bytes.toString("utf8", from, end)) ?? "", end: afterSpace(bytes, colonAt + 1) };
}

export const objectsIn = (sources: readonly string[]): JsonObject[] =>
  sources.map(parseObject).filter((object) => object !== undefined);

export function textOf(source: string): string | undefined {
  const text = parsedJson(source);
  return typeof text === "string" ? text : undefined;
}

/** Between the values of a sequence, RFC 7464 has record separators. */
function afterSpace(bytes: Uint8Array, from: number, isInSequence = false): number {
  let at = from;
  while (at < bytes.length && (isSpace(bytes[at]!) || (isInSequence && bytes[at] === 0x1e))) at++;
  return at;
}

function afterValue(bytes: Uint8Array, from: number): number {
  let depth = 0;
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === ascii.quote) {
      at = afterString(bytes, at) - 1;
      if (depth === 0) return at + 1;
    } else if (byte === ascii.openBrace || byte === ascii.openBracket) depth++;
    else if (byte === ascii.closeBrace || byte === ascii.closeBracket) {
      if (depth <= 1) return depth === 1 ? at + 1 : scalarEnd(from, at);
      depth--;
    } else if (depth === 0 && (byte === ascii.comma || isSpace(byte))) return scalarEnd(from, at);
  }
  return cut;
}

const scalarEnd = (from: number, at: number): number => (at > from ? at : cut);

function afterString(bytes: Uint8Array, from: number): number {
  let at = from + 1;
  while (at < bytes.length && bytes[at] !== ascii.quote) at += bytes[at] === ascii.backslash ? 2 : 1;
  return at < bytes.length ? at + 1 : cut;
}
