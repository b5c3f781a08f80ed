/** Reads the user's own lists of allowed and denied domains and addresses. */
import { readFile } from "node:fs/promises";
import { delimiter } from "node:path";
import { compileList, type ListTable, type OwnLists } from "../../classifier/own-lists.js";
import { FileError } from "../../files/errors.js";
import { UsageError } from "../errors.js";

export interface OwnListOptions {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/**
 * Reads the files named by the options, else by IDV_ALLOW and IDV_DENY.
 *
 * @throws FileError when a file cannot be read
 * @throws UsageError when a line is neither a domain nor an address
 */
export async function readOwnLists(options: OwnListOptions, env: NodeJS.ProcessEnv): Promise<OwnLists> {
  const { allow, deny } = ownListFiles(options, env);
  return { allow: await readLists(allow), deny: await readLists(deny) };
}

export function ownListFiles({ allow, deny }: OwnListOptions, env: NodeJS.ProcessEnv) {
  const filesOf = (variable: string) => (env[variable] ?? "").split(delimiter).filter((path) => path !== "");
  return { allow: allow ?? filesOf("IDV_ALLOW"), deny: deny ?? filesOf("IDV_DENY") };
}

async function readLists(paths: readonly string[]): Promise<ListTable> {
  const texts = await Promise.all(paths.map(readBytes));
  return compileList(texts, (text, line, { what }) => {
    throw new UsageError(`${paths[text]}:${line}: neither a domain nor an address: ${what}`);
  });
}

async function readBytes(path: string): Promise<Uint8Array> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === "ENOENT" ? "no such file" : error.message;
    throw new FileError(`${path}: cannot be read: ${reason}`);
  });
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return hasMark ? bytes.subarray(3) : bytes;
}
