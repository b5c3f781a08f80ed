/** The user's allowed and denied domains and addresses: of `idv allow` and `idv deny`, named files, and URLs. */

import { isUtf8 } from "node:buffer";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { delimiter } from "node:path";
import { findSuffix } from "../../core/classifier/rules/domain/public-suffix.js";
import { compileList, type ListName, type ListTable, type OwnLists } from "../../core/classifier/tables/own-lists.js";
import { FileError, readFault } from "../../files/errors.js";
import { found } from "../../files/found.js";
import { encodingByMark } from "../../formats/encodings/text-encoding.js";
import { isUrl } from "../../text.js";
import { UsageError } from "../errors.js";
import { ownListPath } from "./paths.js";

export interface OwnListOptions {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly allowOnly?: readonly string[];
  readonly offline?: true;
}

/** Includes the files of the options, else of IDV_ALLOW and IDV_DENY. @throws FileError, ServiceError, UsageError */
export async function readOwnLists(options: OwnListOptions, env: NodeJS.ProcessEnv, note: (text: string) => void) {
  const { allow, deny } = ownListFiles(options, env);
  const readUrl = async (url: string) => {
    const { readListUrl } = await import("./list-copies.js");
    return readListUrl(url, options.offline === true, env, note);
  };
  const read = async (list: ListName, paths: readonly string[], more: readonly string[]): Promise<ListTable> => {
    const texts = await Promise.all(
      paths.map((path) => (isUrl(path) ? readUrl(path) : readBytes(path, list, env, options))),
    );
    return compileList(list, [...texts, ...more], (text, line, { what }) => {
      throw new UsageError(`${paths[text]}:${line}: neither a domain nor an address: ${what}`);
    });
  };
  const { allowOnly } = options;
  const allowed = await read("allow", allow, []);
  if (allowOnly !== undefined && allowed.entries === 0)
    throw new UsageError(`--allow-only ${allowOnly.join(", ")}: has no entry, so everything would be disposable`);
  return { allow: allowed, deny: await read("deny", deny, allowOnly === undefined ? [] : ["*"]) };
}

export function noteUnaskedExchanges({ deny }: OwnLists, asksDns: boolean, note: (text: string) => void): void {
  if (deny.hasExchanges && !asksDns) note("the mx: entries of the deny list do nothing without --dns");
}

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

/** A URL may have the character that separates paths, after its scheme and before a port. */
const listed = new RegExp(`https?://[^${delimiter}]*(?::\\d+[^${delimiter}]*)?|[^${delimiter}]+`, "gi");

async function readBytes(
  path: string,
  list: ListName,
  env: NodeJS.ProcessEnv,
  { allowOnly = [] }: OwnListOptions,
): Promise<Uint8Array> {
  const bytes = await readFile(path).catch((error: unknown) => {
    const entries = path.split(",").map((entry) => entry.trim());
    const isEntry = (entry: string) =>
      findSuffix(entry.slice(entry.lastIndexOf("@") + 1).toLowerCase()) === "registrable";
    const instead = allowOnly.includes(path)
      ? "it takes a file with one entry a line"
      : `for ${entries.length === 1 ? "one entry" : "single entries"}, run idv ${list} add ${entries.join(" ")}`;
    const hint = entries.every(isEntry) && !existsSync(path) ? `; ${instead}` : "";
    const variable = `IDV_${list.toUpperCase()}`;
    const source = env[variable]?.match(listed)?.includes(path) ? `${variable}: ` : "";
    throw new FileError(`${source}${path}: cannot be read: ${readFault(error)}${hint}`);
  });
  // Spreadsheet programs write UTF-16 with a byte order mark as "Unicode text".
  const encoding = encodingByMark(bytes);
  if (encoding !== undefined) return Buffer.from(new TextDecoder(encoding).decode(bytes));
  const entries = isUtf8(bytes) ? "" : bytes.toString("latin1").replace(/(^|\s)#[^\r\n]*/g, "");
  if (!isUtf8(Buffer.from(entries, "latin1"))) throw new UsageError(`${path}: is not UTF-8; save it as UTF-8`);
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return hasMark ? bytes.subarray(3) : bytes;
}
