/** Finds out which processes of this machine still run. Claims and temporary files of ended processes are void. */
import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

export const ownPid = process.pid;

/** Also true for a process of another user, and for one that reuses the ID of an ended process. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

let tag: string | undefined;

/** Identifies this machine and, on Linux, its boot and process namespace: elsewhere, a process ID means nothing. */
export function machineTag(): string {
  tag ??= createHash("sha256").update(`${hostname()}\n${processNamespace()}`).digest("hex").slice(0, 8);
  return tag;
}

function processNamespace(): string {
  try {
    // With the boot ID, because the first namespace has the same number on all machines.
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "latin1")}${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return "";
  }
}

/** Identifies a process on this machine even after its ID was reused. */
export const processTag = (pid = ownPid): string => `${machineTag()} ${pid} ${startOf(pid)}`;

export function stateOfTag(tag: string): "ended" | "running" | "elsewhere" {
  const [machine, pid, start] = tag.split(" ");
  if (machine !== machineTag()) return "elsewhere";
  return isAlive(Number(pid)) && start === startOf(Number(pid)) ? "running" : "ended";
}

/** In clock ticks since boot (proc(5)); empty where the system does not provide it. */
function startOf(pid: number): string {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)!.split(" ");
    // A zombie: it has ended, and its parent has not asked for its exit code yet.
    return /[ZX]/.test(fields[0]!) ? "ended" : (fields[19] ?? "");
  } catch {
    return "";
  }
}
