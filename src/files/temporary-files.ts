/**
 * Temporary files beside the files that they will replace. Their names say which process made them, so that what a killed
 * run left behind, which is full of addresses, is removed by the next run in that folder.
 */
import { randomBytes } from "node:crypto";
import { opendir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isAlive, machineTag, ownPid } from "./processes.js";

const pattern = /^\.idv-([0-9a-f]{8})-(\d{1,10})-[0-9a-f]{16}\.tmp$/;
/** Entries of a folder that are looked at: a folder with more is not worth the time of every run. */
const mostEntries = 10_000;
/** Files of this process: after a restart in a container, another one may have had the same number. */
const own = new Set<string>();

/** A new name for a temporary file in the folder of `path`. */
export function temporaryBeside(path: string): string {
  const name = `.idv-${machineTag()}-${ownPid}-${randomBytes(8).toString("hex")}.tmp`;
  own.add(name);
  return join(dirname(path), name);
}

/** Removes the temporary files of killed runs of this machine from a folder. Does not throw. */
export async function removeAbandoned(folder: string): Promise<void> {
  try {
    let count = 0;
    for await (const { name } of await opendir(folder)) {
      if (++count > mostEntries) return;
      const [, tag, pid] = pattern.exec(name) ?? [];
      if (tag !== machineTag() || own.has(name)) continue;
      if (Number(pid) === ownPid || !isAlive(Number(pid))) await rm(join(folder, name), { force: true });
    }
  } catch {
    // A folder that cannot be read, or a file of somebody else: writing there will say so.
  }
}
