/** Temporary files. The process ID in their names tells the next run which ones a killed run left, with addresses. */
import { randomBytes } from "node:crypto";
import { mkdtemp, opendir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { isAlive, machineTag, ownPid } from "./processes.js";

const pattern = /^\.idv-([0-9a-f]{8})-(\d{1,10})-[0-9a-f]{16}\.tmp$/;
/** Every run pays for the search, so larger folders are searched in part. */
const mostEntries = 10_000;
/** The process ID alone does not tell them: in a restarted container, a killed process may have had the same one. */
const own = new Set<string>();

export function temporaryBeside(path: string): string {
  const name = `.idv-${machineTag()}-${ownPid}-${randomBytes(8).toString("hex")}.tmp`;
  own.add(name);
  return join(dirname(path), name);
}

const folderPattern = /^idv-list-([0-9a-f]{8})-(\d{1,10})-\w{6}$/;

/** Only this user can read it. The caller removes it. */
export async function newPrivateFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `idv-list-${machineTag()}-${ownPid}-`));
  own.add(basename(folder));
  return folder;
}

/** Removes temporary folders of killed processes on this machine. Does not throw. */
export const removeAbandonedFolders = (): Promise<void> => removeFrom(tmpdir(), folderPattern);

const looked = new Set<string>();

/** Removes what killed runs on this machine left in a folder, once in a process. Does not throw. */
export async function removeAbandoned(folder: string): Promise<void> {
  if (looked.has(folder)) return;
  looked.add(folder);
  await removeFrom(folder, pattern, mostEntries);
}

async function removeFrom(folder: string, pattern: RegExp, mostEntries = Number.POSITIVE_INFINITY): Promise<void> {
  try {
    let count = 0;
    for await (const { name } of await opendir(folder)) {
      if (++count > mostEntries) return;
      const [, tag, pid] = pattern.exec(name) ?? [];
      if (tag !== machineTag() || own.has(name)) continue;
      if (Number(pid) !== ownPid && isAlive(Number(pid))) continue;
      await rm(join(folder, name), { recursive: pattern === folderPattern, force: true });
    }
  } catch {
    // The folder is unreadable, or a file belongs to another user. A real problem shows when the output is written.
  }
}
