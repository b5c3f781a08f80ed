import { createReadStream, type Stats } from "node:fs";
import {
  access,
  chmod,
  constants,
  copyFile,
  type FileHandle,
  lstat,
  open,
  readlink,
  realpath,
  rename,
  rm,
  stat,
} from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ClosedPipe, TableError } from "../table/errors.js";
import { giveOwner } from "./owner.js";
import { removeAbandoned, temporaryBeside } from "./temporary-files.js";

/** Where a table goes. Exactly one of `commit` and `discard` ends it. */
export interface TableSink {
  /** @throws when the bytes cannot be written */
  write(bytes: Uint8Array): Promise<void>;
  /** All of a commit that takes long or may fail for want of space; nothing appears yet. */
  prepare?(): Promise<void>;
  /** Everything was written: makes the output appear. */
  commit(): Promise<void>;
  /** The run failed: leaves no trace, and what was there before untouched. Does not throw. */
  discard(): Promise<void>;
}

/** A sink that replaces a file. */
export interface FileSink extends TableSink {
  /** Where its bytes are until then; undefined for a device or pipe, which is written to directly. */
  readonly temporary?: string;
  /** The file that is replaced, as it was when the sink was opened. */
  readonly replaced?: Stats;
}

/**
 * Opens a file that appears whole or not at all: a temporary file in the same folder, renamed on commit, with the mode,
 * owner and group of the file that it replaces, as far as they can be kept. A device or pipe is written to directly, as is
 * all below `/dev` but for `/dev/shm` (`/dev/stdout` may be a file that the shell holds open), and a symbolic link keeps
 * pointing where it does.
 *
 * @param mode whether the new content takes the place of the old, or follows it
 * @param signal aborting it ends the copying of the old content
 * @throws TableError when the file cannot be made there, or is read-only
 */
export async function openOutputFile(
  path: string,
  mode: "replace" | "append" = "replace",
  signal?: AbortSignal,
): Promise<FileSink> {
  try {
    const existing = await stat(path).catch(ignoreMissing);
    if (existing?.isDirectory()) throw new TableError(`${path}: is a folder; name a file with -o`);
    const isDevice = path.startsWith("/dev/") && !path.startsWith("/dev/shm/");
    if (isDevice || (existing && !existing.isFile())) {
      return writeDirectly(path, await open(path, "a"));
    }
    if (existing) {
      await access(path, constants.W_OK).catch(() => {
        throw new TableError(`${path}: is read-only; make it writable, or write elsewhere with -o`);
      });
    }
    const target = existing ? await realpath(path) : await linkTarget(path);
    await removeAbandoned(dirname(target));
    const temporary = temporaryBeside(target);
    // Never readable by more people than the file that it replaces.
    const file = await open(temporary, "wx", existing && existing.mode & 0o777);
    const sink = replaceOnCommit(path, target, temporary, file, existing);
    if (existing && mode === "append") await copyInto(sink, target, signal);
    return { ...sink, temporary, ...(existing && { replaced: existing }) };
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

async function copyInto(sink: TableSink, path: string, signal: AbortSignal | undefined): Promise<void> {
  try {
    for await (const bytes of createReadStream(path, { ...(signal && { signal }) })) {
      await sink.write(bytes as Uint8Array);
    }
  } catch (error) {
    await sink.discard();
    throw error;
  }
}

/** A copy of a file that appears whole or not at all, in the place of what may be there. */
export interface FileCopy {
  /**
   * Makes the copy, with the owner, group and mode of the file. It is on the disk when this resolves.
   *
   * @throws TableError when the copy cannot be made
   */
  make(): Promise<void>;
  /** Makes sure that nothing is left of a copy that has not appeared. Does not throw. */
  discard(): Promise<void>;
}

export function copyOf(path: string, copy: string): FileCopy {
  const temporary = temporaryBeside(copy);
  const discard = () => rm(temporary, { force: true }).catch(() => {});
  return {
    async make() {
      try {
        const existing = await stat(path);
        await copyFile(path, temporary, constants.COPYFILE_FICLONE);
        await giveOwner(temporary, existing);
        await chmod(temporary, existing.mode & 0o7777);
        await sync(temporary);
        await rename(temporary, copy);
        await sync(dirname(copy));
      } catch (error) {
        await discard();
        throw cannotWrite(copy, error);
      }
    },
    discard,
  };
}

/** Puts a file, or the names in a folder, on the disk. */
async function sync(path: string): Promise<void> {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function writeDirectly(path: string, file: FileHandle): TableSink {
  return {
    write: (bytes) => writeAll(path, file, bytes),
    commit: () => file.close(),
    async discard() {
      void file.close().catch(() => {});
    },
  };
}

function replaceOnCommit(
  path: string,
  target: string,
  temporary: string,
  file: FileHandle,
  existing: Stats | undefined,
): TableSink {
  const discard = async () => {
    // Not waited for: a write to a reader that has stopped may never end.
    void file.close().catch(() => {});
    await rm(temporary, { force: true }).catch(() => {});
  };
  const orDiscard = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      await discard();
      throw cannotWrite(path, error);
    }
  };
  let isPrepared = false;
  const prepare = async () => {
    if (isPrepared) return;
    if (existing) {
      await giveOwner(temporary, existing);
      // After the owner: a change of owner clears the set-user-ID bit.
      await chmod(temporary, existing.mode & 0o7777);
    }
    // On the disk before it takes the old file's place: a power cut must not leave an empty one.
    await file.sync();
    await file.close();
    isPrepared = true;
  };
  return {
    write: (bytes) => writeAll(path, file, bytes),
    prepare: () => orDiscard(prepare),
    commit: () =>
      orDiscard(async () => {
        await prepare();
        await rename(temporary, target);
      }),
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

/** What a failed write means, in one line that names its path. */
export function cannotWrite(path: string, error: unknown): Error {
  if (error instanceof TableError || error instanceof ClosedPipe) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "EPIPE") return new ClosedPipe(`${path}: was closed by its reader`);
  const reasons: Readonly<Record<string, string>> = {
    EACCES: "no right to write there",
    EPERM: "no right to write there",
    EROFS: "the file system is read-only",
    ENOENT: "the folder does not exist",
    ENOTDIR: "its folder is a file",
    EISDIR: "is a folder",
    EBUSY: "is a mount point, which cannot be replaced",
    EXDEV: "is on another device than its folder",
    EFBIG: "it would become larger than is allowed (ulimit -f)",
    ENOSPC: "no space left on the device",
    EDQUOT: "the disk quota is used up",
  };
  return new TableError(`${path}: cannot be written: ${reasons[code ?? ""] ?? message}`);
}

/** Where a symbolic link points that points at nothing yet; the path itself when it is no link. */
async function linkTarget(path: string): Promise<string> {
  const isLink = (await lstat(path).catch(ignoreMissing))?.isSymbolicLink();
  return isLink ? resolve(dirname(path), await readlink(path)) : path;
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
