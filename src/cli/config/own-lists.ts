/**
 * Reads the user's own lists of allowed and denied domains and addresses: the files of `idv allow` and `idv deny`, and those
 * that options or variables name, which may be URLs.
 */
import { readFile } from "node:fs/promises";
import { delimiter } from "node:path";
import {
  compileList,
  type ListName,
  type ListTable,
  type OwnLists,
} from "../../core/classifier/tables/own-lists.js";
import { FileError, readFault } from "../../files/errors.js";
import { found } from "../../files/found.js";
import { UsageError } from "../errors.js";
import { isListUrl } from "./list-url.js";
import { ownListPath } from "./paths.js";

export interface OwnListOptions {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** What these lists do not allow is denied. */
  readonly allowOnly?: readonly string[];
  /** Lists at URLs are read from their copies. */
  readonly offline?: true;
}

/**
 * Reads the lists of `idv allow` and `idv deny`, and the files named by the options, else by IDV_ALLOW and IDV_DENY.
 *
 * @param note gets what is to be known about lists at URLs
 * @throws FileError when a file cannot be read
 * @throws ServiceError when a list at a URL cannot be had, and there is no copy of it
 * @throws UsageError when a line is no entry
 */
export async function readOwnLists(
  options: OwnListOptions,
  env: NodeJS.ProcessEnv,
  note: (text: string) => void,
): Promise<OwnLists> {
  const { allow, deny } = ownListFiles(options, env);
  const read = (list: ListName, paths: readonly string[], more: readonly string[] = []) =>
    readList(list, paths, more, options.offline === true, env, note);
  return {
    allow: await read("allow", allow),
    deny: await read("deny", deny, options.allowOnly === undefined ? [] : ["*"]),
  };
}

/** Notes entries that have no effect in a run without DNS. */
export function noteUnaskedExchanges(
  { deny }: OwnLists,
  asksDns: boolean,
  note: (text: string) => void,
): void {
  if (deny.hasExchanges && !asksDns) note("the mx: entries of the deny list do nothing without --dns");
}

/** Reads the lists of `idv allow` and `idv deny` only. */
export const readKeptLists = (env: NodeJS.ProcessEnv): Promise<OwnLists> =>
  readOwnLists({ allow: [], deny: [] }, env, () => {});

export function ownListFiles({ allow, deny, allowOnly = [] }: OwnListOptions, env: NodeJS.ProcessEnv) {
  const filesOf = (variable: string) => (env[variable] ?? "").match(listed) ?? [];
  const kept = (list: ListName) => {
    const path = ownListPath(list, env);
    return found(path) === undefined ? [] : [path];
  };
  return {
    allow: [...kept("allow"), ...(allow ?? filesOf("IDV_ALLOW")), ...allowOnly],
    deny: [...kept("deny"), ...(deny ?? filesOf("IDV_DENY"))],
  };
}

/** Paths and URLs in a variable. A URL may have the character that separates them, after its scheme and before a port. */
const listed = new RegExp(`https?://[^${delimiter}]*(?::\\d+[^${delimiter}]*)?|[^${delimiter}]+`, "gi");

async function readList(
  list: ListName,
  paths: readonly string[],
  more: readonly string[],
  isOffline: boolean,
  env: NodeJS.ProcessEnv,
  note: (text: string) => void,
): Promise<ListTable> {
  const texts = await Promise.all(
    paths.map(async (path) => {
      if (!isListUrl(path)) return readBytes(path);
      const { readListUrl } = await import("./list-copies.js");
      return readListUrl(path, isOffline, env, note);
    }),
  );
  return compileList(list, [...texts, ...more], (text, line, { what }) => {
    throw new UsageError(`${paths[text]}:${line}: neither a domain nor an address: ${what}`);
  });
}

async function readBytes(path: string): Promise<Uint8Array> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw new FileError(`${path}: cannot be read: ${readFault(error)}`);
  });
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return hasMark ? bytes.subarray(3) : bytes;
}
