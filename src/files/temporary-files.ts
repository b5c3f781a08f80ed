/**
 * Names temporary files in the folder of the file that they will replace, and removes abandoned ones. The name contains
 * the process ID of its run. Therefore the next run in that folder can remove the leftovers of a killed run, which
 * contain addresses.
 */
import { randomBytes } from "node:crypto";
import { mkdtemp, opendir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { isAlive, machineTag, ownPid } from "./processes.js";

const pattern = /^\.idv-([0-9a-f]{8})-(\d{1,10})-[0-9a-f]{16}\.tmp$/;
/**
 * Most entries of a folder that are searched. Every run pays for the search, so larger folders are searched in part.
 */
const mostEntries = 10_000;
/**
 * Names made by this process. The process ID alone does not identify them: after a restart in a container, a killed
 * process may have had the same one.
 */
const own = new Set<string>();

export function temporaryBeside(path: string): string {
  const name = `.idv-${machineTag()}-${ownPid}-${randomBytes(8).toString("hex")}.tmp`;
  own.add(name);
  return join(dirname(path), name);
}

const folderPattern = /^idv-list-([0-9a-f]{8})-(\d{1,10})-\w{6}$/;

/** Makes a folder that only this user can read. The caller removes it. */
export async function newPrivateFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `idv-list-${machineTag()}-${ownPid}-`));
  own.add(basename(folder));
  return folder;
}

/** Removes temporary folders of killed processes on this machine. Does not throw. */
export async function removeAbandonedFolders(): Promise<void> {
  try {
    for await (const { name } of await opendir(tmpdir())) {
      const [, tag, pid] = folderPattern.exec(name) ?? [];
      const isInUse = own.has(name) || (Number(pid) !== ownPid && isAlive(Number(pid)));
      if (tag !== machineTag() || isInUse) continue;
      await rm(join(tmpdir(), name), { recursive: true, force: true });
    }
  } catch {
    // The folder is unreadable or belongs to another user.
  }
}

/** Folders in which this process has looked: many files of a run may go to one. */
const looked = new Set<string>();

/** Removes temporary files that killed runs on this machine left in a folder, once in a process. Does not throw. */
export async function removeAbandoned(folder: string): Promise<void> {
  if (looked.has(folder)) return;
  looked.add(folder);
  try {
    let count = 0;
    for await (const { name } of await opendir(folder)) {
      if (++count > mostEntries) return;
      const [, tag, pid] = pattern.exec(name) ?? [];
      if (tag !== machineTag() || own.has(name)) continue;
      if (Number(pid) === ownPid || !isAlive(Number(pid))) await rm(join(folder, name), { force: true });
    }
  } catch {
    // The folder is unreadable, or a file belongs to another user. A real problem shows when the output is written.
  }
}
