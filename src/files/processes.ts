/** Tells which processes of this machine still run. Claims and temporary files of ended processes are void. */
import { createHash } from "node:crypto";
import { readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Process ID of this process. */
export const ownPid = process.pid;

/**
 * Returns whether a process of this machine runs.
 *
 * @returns true also for a process of another user, and for a new process that reuses the ID of an ended one
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
 * Returns eight hexadecimal digits that identify this machine and, on Linux, the process namespace. A process ID means
 * nothing elsewhere, for example in another container that shares the folder.
 */
export function machineTag(): string {
  tag ??= createHash("sha256").update(`${hostname()}\n${processNamespace()}`).digest("hex").slice(0, 8);
  return tag;
}

function processNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    // Only Linux has process namespaces.
    return "";
  }
}
