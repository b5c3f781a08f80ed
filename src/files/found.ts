/** Looks at a file that may be missing or inaccessible. If that matters, opening it reports the reason. */
import { closeSync, fstatSync, openSync, readSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { platform } from "node:process";

export function found(file: string | number): Stats | undefined {
  try {
    return typeof file === "string" ? statSync(file) : fstatSync(file);
  } catch {
    return undefined;
  }
}

/** In milliseconds: how long a file may be empty that another program is creating. */
const creation = 10_000;

/** Whether a file has lost its bytes, as when the disk was full. */
export function isEmptied(path: string, now: number): boolean {
  const file = found(path);
  if (file === undefined || !file.isFile() || file.size > 0) return false;
  // Some file systems do not know when a file was made.
  return now - (file.birthtimeMs || file.ctimeMs) > creation;
}

/** True for an empty file, too: opening it would fill it. False for one that was emptied, which opening refuses. */
export function isAbsent(path: string): boolean {
  try {
    return !statSync(path, { throwIfNoEntry: false })?.size && !isEmptied(path, Date.now());
  } catch {
    // Not accessible; opening the file fails and reports why.
    return false;
  }
}

/** Pipes and devices are not opened: they have none, as have files with a fault. */
export function firstBytes(path: string, length: number): Buffer {
  if (found(path)?.isFile() !== true) return Buffer.of();
  try {
    const file = openSync(path, "r");
    const start = Buffer.alloc(length);
    try {
      return start.subarray(0, readSync(file, start));
    } finally {
      closeSync(file);
    }
  } catch {
    return Buffer.of();
  }
}

/** Without links. The file itself need not exist. */
export function resolvedPath(path: string): string {
  for (const follow of [() => realpathSync(path), () => join(realpathSync(dirname(path)), basename(path))]) {
    try {
      return follow();
    } catch {
      // Missing or inaccessible.
    }
  }
  return resolve(path);
}

/** Files in shared memory are files. Below `/proc` are open files, as below `/dev/fd`. */
export const isDevicePath = (path: string): boolean => /^\/(?:dev\/(?!shm\/)|proc\/)/.test(path);

/** 0 under Windows, where the bits say nothing. */
export const rightsOfOthers = (path: string): number => (platform === "win32" ? 0 : statSync(path).mode & 0o077);
