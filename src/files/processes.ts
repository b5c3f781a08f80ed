/** Which processes of this machine still run: claims and temporary files of those that ended are void. */
import { createHash } from "node:crypto";
import { readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** The number of this process. */
export const ownPid = process.pid;

/**
 * Whether a process of this machine runs.
 *
 * @returns true also for a process of another user, and for one that got the number of another that ended
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

let tag: string | undefined;

/**
 * Eight hexadecimal digits that stand for this machine and, on Linux, the process namespace. Process numbers mean nothing
 * elsewhere, such as in another container that shares a folder.
 */
export function machineTag(): string {
  tag ??= createHash("sha256").update(`${hostname()}\n${processNamespace()}`).digest("hex").slice(0, 8);
  return tag;
}

function processNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    // There are none outside Linux.
    return "";
  }
}
