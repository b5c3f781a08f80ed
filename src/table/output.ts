import { randomBytes } from "node:crypto";
import { chmod, type FileHandle, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { TableError } from "./errors.js";

/** Where a table goes. Exactly one of `commit` and `discard` ends it. */
export interface TableSink {
  /** @throws when the bytes cannot be written */
  write(bytes: Uint8Array): Promise<void>;
  /** Everything was written: makes the output appear. */
  commit(): Promise<void>;
  /** The run failed: leaves no trace, and what was there before untouched. Does not throw. */
  discard(): Promise<void>;
}

/**
 * Opens a file that appears whole or not at all: a temporary file in the same folder, renamed on commit. A device
 * or pipe such as `/dev/stdout` is written to directly, and a symbolic link keeps pointing where it does.
 *
 * @throws TableError when the file cannot be made there
 */
export async function openOutputFile(path: string): Promise<TableSink> {
  try {
    const existing = await stat(path).catch(ignoreMissing);
    if (existing?.isDirectory()) throw new TableError(`${path}: is a folder; name a file with -o`);
    if (existing && !existing.isFile()) return writeDirectly(path, await open(path, "w"));
    const target = existing ? await realpath(path) : path;
    const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString("hex")}.tmp`);
    const file = await open(temporary, "wx");
    return replaceOnCommit(path, target, temporary, file, existing?.mode);
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

function writeDirectly(path: string, file: FileHandle): TableSink {
  return {
    write: (bytes) => writeAll(path, file, bytes),
    commit: () => file.close(),
    discard: () => file.close().catch(() => {}),
  };
}

function replaceOnCommit(
  path: string,
  target: string,
  temporary: string,
  file: FileHandle,
  mode: number | undefined,
): TableSink {
  const discard = async () => {
    await file.close().catch(() => {});
    await rm(temporary, { force: true }).catch(() => {});
  };
  return {
    write: (bytes) => writeAll(path, file, bytes),
    async commit() {
      try {
        if (mode !== undefined) await chmod(temporary, mode & 0o7777);
        // On the disk before it takes the old file's place: a power cut must not leave an empty one.
        await file.sync();
        await file.close();
        await rename(temporary, target);
      } catch (error) {
        await discard();
        throw cannotWrite(path, error);
      }
    },
    discard,
  };
}

async function writeAll(path: string, file: FileHandle, bytes: Uint8Array): Promise<void> {
  try {
    for (let offset = 0; offset < bytes.length; ) {
      offset += (await file.write(bytes, offset)).bytesWritten;
    }
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

function cannotWrite(path: string, error: unknown): Error {
  if (error instanceof TableError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  // Whoever reads a pipe may stop; that is for the caller to judge.
  if (code === "EPIPE") return error as Error;
  const reasons: Readonly<Record<string, string>> = {
    EACCES: "no right to write there",
    EPERM: "no right to write there",
    EROFS: "the file system is read-only",
    ENOENT: "the folder does not exist",
    ENOTDIR: "its folder is a file",
    ENOSPC: "no space left on the device",
    EDQUOT: "the disk quota is used up",
  };
  return new TableError(`${path}: cannot be written: ${reasons[code ?? ""] ?? message}`);
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
