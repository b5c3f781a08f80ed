/** Preserves the owner and group of a file that is replaced by a new one. */
import type { Stats } from "node:fs";
import { chown } from "node:fs/promises";

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

export async function giveOwner(path: string, { uid, gid }: Pick<Stats, "uid" | "gid">): Promise<void> {
  try {
    await chown(path, uid, gid);
  } catch {
    await chown(path, process.geteuid?.() ?? uid, gid).catch(() => {});
  }
}
