/** Tells which processes of this machine still run. Claims and temporary files of ended processes are void. */
import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
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
 * Returns eight hexadecimal digits that identify this machine and, on Linux, its start and the process namespace. A process ID means
 * nothing elsewhere, for example in another container that shares the folder.
 */
export function machineTag(): string {
  tag ??= createHash("sha256").update(`${hostname()}\n${processNamespace()}`).digest("hex").slice(0, 8);
  return tag;
}

function processNamespace(): string {
  try {
    // The first namespace has the same number on all machines.
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "latin1")}${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    // Only Linux has process namespaces.
    return "";
  }
}

/**
 * Returns what identifies a process on this machine, also after its ID was given to another one.
 *
 * @param pid this process by default
 */
export function processTag(pid = ownPid): string {
  return `${machineTag()} ${pid} ${startOf(pid)}`;
}

/** Returns whether the process with a tag still runs. Those of other machines, and of other process namespaces, cannot be seen. */
export function stateOfTag(tag: string): "ended" | "running" | "elsewhere" {
  const [machine, pid, start] = tag.split(" ");
  if (machine !== machineTag()) return "elsewhere";
  return isAlive(Number(pid)) && start === startOf(Number(pid)) ? "running" : "ended";
}

/** Returns when a process was started, in ticks since the machine was; empty where that is not told (proc(5)). */
function startOf(pid: number): string {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)!.split(" ");
    // Ended, and its parent has not asked for its exit code yet.
    return /[ZX]/.test(fields[0]!) ? "ended" : (fields[19] ?? "");
  } catch {
    return "";
  }
}
