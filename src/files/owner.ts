/** Keeps the owner and the group of a file that is replaced by another one. */
import type { Stats } from "node:fs";
import { chown } from "node:fs/promises";

/** Why a file that is replaced would lose its owner or group; undefined when both can be kept. */
export function ownerFault({ uid, gid }: Pick<Stats, "uid" | "gid">): string | undefined {
  const user = process.geteuid?.();
  // Windows has neither; root may give files to anybody.
  if (user === undefined || user === 0) return undefined;
  if (uid !== user)
    return `it belongs to user ${uid}, and only that user or root can replace it and keep that`;
  const groups = [process.getegid?.(), ...(process.getgroups?.() ?? [])];
  return groups.includes(gid) ? undefined : `it belongs to group ${gid}, of which you are no member`;
}

/** Gives a file the owner and group of another one, as far as that is allowed. */
export async function giveOwner(path: string, { uid, gid }: Pick<Stats, "uid" | "gid">): Promise<void> {
  try {
    await chown(path, uid, gid);
  } catch {
    await chown(path, process.geteuid?.() ?? uid, gid).catch(() => {});
  }
}
