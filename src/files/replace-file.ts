/** The last steps of every atomic write: a complete temporary file replaces another file. */
import { closeSync, fsync, linkSync, openSync, renameSync, type Stats } from "node:fs";
import { chmod, chown } from "node:fs/promises";
import { dirname } from "node:path";
import { platform } from "node:process";
import { promisify } from "node:util";

/** Returns why a replaced file would lose its owner or group; undefined when both can be preserved. */
export function ownerFault({ uid, gid }: Pick<Stats, "uid" | "gid">): string | undefined {
  const user = process.geteuid?.();
  // Windows has no such owners and groups. Root may give files to any user.
  if (user === undefined || user === 0) return undefined;
  if (uid !== user)
    return `it belongs to user ${uid}; only that user or root can replace it without changing its owner`;
  const groups = [process.getegid?.(), ...(process.getgroups?.() ?? [])];
  return groups.includes(gid) ? undefined : `it belongs to group ${gid}, of which you are not a member`;
}

/** Gives it the mode, and as far as allowed the owner and group, of the file that it replaces. */
export async function takeOver(temporary: string, existing: Stats): Promise<void> {
  const { uid, gid } = existing;
  await chown(temporary, uid, gid)
    .catch(() => chown(temporary, process.geteuid?.() ?? uid, gid))
    .catch(() => {});
  // After the change of owner, which clears the set-user-ID bit.
  await chmod(temporary, existing.mode & 0o7777);
}

export async function makeDurable(path: string): Promise<void> {
  // Windows syncs only what is open for writing.
  const file = openSync(path, platform === "win32" ? "r+" : "r");
  try {
    await promisify(fsync)(file);
  } finally {
    closeSync(file);
  }
}

/** Durable where the system allows it. `ifAbsent` fails with EEXIST instead of replacing, and leaves `temporary`. */
export async function moveIntoPlace(temporary: string, target: string, { ifAbsent = false } = {}): Promise<void> {
  if (ifAbsent) linkSync(temporary, target);
  else renameSync(temporary, target);
  // The file is complete under its new name: an unreadable folder is no reason to fail.
  await makeDurable(dirname(target)).catch(() => {});
}
