/** The last steps of every atomic write: a complete temporary file replaces another file. */
import type { Stats } from "node:fs";
import { chmod, link, open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { platform } from "node:process";
import { giveOwner } from "./owner.js";

export async function takeOver(temporary: string, existing: Stats): Promise<void> {
  await giveOwner(temporary, existing);
  // After the change of owner, which clears the set-user-ID bit.
  await chmod(temporary, existing.mode & 0o7777);
}

export async function makeDurable(path: string): Promise<void> {
  // Windows syncs only what is open for writing.
  const file = await open(path, platform === "win32" ? "r+" : "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Durable where the system allows it. `ifAbsent` fails with EEXIST instead of replacing, and leaves `temporary`. */
export async function moveIntoPlace(temporary: string, target: string, { ifAbsent = false } = {}): Promise<void> {
  await (ifAbsent ? link(temporary, target) : rename(temporary, target));
  // The file is complete under its new name: an unreadable folder is no reason to fail.
  await makeDurable(dirname(target)).catch(() => {});
}
