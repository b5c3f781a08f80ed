/** Reads the lists of allowed and denied domains and addresses that users keep themselves. */
import { readFile } from "node:fs/promises";
import { delimiter } from "node:path";
import { type OwnLists, parseListLine } from "../../classifier/own-lists.js";
import { Fault } from "../../classifier/syntax/fault.js";
import { FileError } from "../../files/errors.js";
import { UsageError } from "../errors.js";

/** Options that name files with the user's own lists. */
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
  return {
    allow: (await Promise.all(allow.map(readList))).flat(),
    deny: (await Promise.all(deny.map(readList))).flat(),
  };
}

/** Returns the paths of the user's own lists. */
export function ownListFiles({ allow, deny }: OwnListOptions, env: NodeJS.ProcessEnv) {
  const filesOf = (variable: string) => (env[variable] ?? "").split(delimiter).filter((path) => path !== "");
  return { allow: allow ?? filesOf("IDV_ALLOW"), deny: deny ?? filesOf("IDV_DENY") };
}

async function readList(path: string): Promise<readonly string[]> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === "ENOENT" ? "no such file" : error.message;
    throw new FileError(`${path}: cannot be read: ${reason}`);
  });
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\r|\n/);
  lines.forEach((line, i) => {
    const entry = parseListLine(line);
    if (entry instanceof Fault) {
      throw new UsageError(`${path}:${i + 1}: neither a domain nor an address: ${entry.what}`);
    }
  });
  return lines;
}
