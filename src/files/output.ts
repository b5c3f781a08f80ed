/** Output files that appear whole or not at all. Knows nothing of tables or compression; other sinks wrap these. */
import {
  accessSync,
  createReadStream,
  lstatSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
  writeSync,
} from "node:fs";
import {
  access,
  constants,
  copyFile,
  type FileHandle,
  link,
  open,
  realpath,
  rm,
  stat,
  truncate,
} from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { cannotWrite, FileError } from "./errors.js";
import { isDevicePath } from "./found.js";
import { makeDurable, moveIntoPlace, takeOver } from "./replace-file.js";
import { type TableSink, writeAll } from "./table-sink.js";
import { removeAbandoned, temporaryBeside } from "./temporary-files.js";

/** `temporary` is undefined for a device or pipe, which is written directly. */
export interface FileSink extends TableSink {
  readonly temporary?: string;
  /** Returns whether the file that would be replaced has the same bytes. Call it after `prepare`. */
  isSame?(): Promise<boolean>;
  truncate?(size: number): Promise<void>;
}

/**
 * A temporary file beside it, with its mode, owner and group as far as allowed, is renamed on commit. A symbolic link
 * stays; its target is replaced. Written directly are devices, pipes and all below `/dev` but `/dev/shm`: `/dev/stdout`
 * may be a file that the shell has opened. @throws FileError when the file cannot be created, or is read-only
 */
export async function openOutputFile(
  path: string,
  mode: "replace" | "append" = "replace",
  signal?: AbortSignal,
): Promise<FileSink> {
  try {
    const existing = statSync(path, { throwIfNoEntry: false });
    if (existing?.isDirectory()) throw new FileError(`${path}: is a folder; name a file in it`);
    const own = existing?.isFile() ? ownDescriptor(path) : undefined;
    if (own !== undefined)
      return { write: async (bytes) => writeNow(path, own, bytes), commit: nothing, discard: nothing };
    if (isDevicePath(path) || (existing && !existing.isFile())) return writeDirectly(path, await open(path, "a"));
    if (existing) {
      try {
        accessSync(path, constants.W_OK);
      } catch {
        throw new FileError(`${path}: is read-only; make it writable, or write elsewhere with -o`);
      }
    }
    const target = existing ? realpathSync(path) : linkTarget(path);
    await removeAbandoned(dirname(target));
    const temporary = temporaryBeside(target);
    // The old mode from the start: the file must never be readable by more users than the one that it replaces.
    const file = await open(temporary, "ax", existing && existing.mode & 0o777);
    const sink = replacingSink(path, target, temporary, file, existing);
    if (existing && mode === "append") await copyInto(sink, target, signal);
    return { ...sink, temporary };
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

async function copyInto(sink: TableSink, path: string, signal: AbortSignal | undefined): Promise<void> {
  try {
    await writeAll(createReadStream(path, { ...(signal && { signal }) }), sink);
  } catch (error) {
    await sink.discard();
    throw error;
  }
}

/** A file that is replaced, and its backup, if one is wanted. `commit` makes the backup appear. */
export interface ReplacedFile extends Pick<TableSink, "commit" | "discard"> {
  /** Copies the backup, durably, and gives the file a second name, where the file system has links. @throws FileError */
  hold(): Promise<void>;
  /** The second name shows what others wrote to the file until it was replaced. */
  readonly heldAt: string | undefined;
  /** Puts the file back into its place. @throws FileError */
  restore(): Promise<void>;
}

/** Creates nothing before `hold()`. @throws FileError when the backup cannot be created */
export async function openReplaced(path: string, backup: string | undefined): Promise<ReplacedFile> {
  const copy = temporaryBeside(backup ?? path);
  let target = path;
  let heldAt: string | undefined;
  const discard = async () => {
    for (const each of [copy, heldAt]) if (each !== undefined) await rm(each, { force: true }).catch(() => {});
  };
  const orDiscard = discardingAtFault(backup ?? path, discard);
  await orDiscard(async () => {
    if (backup === undefined) return;
    if ((await stat(backup).catch(ignoreMissing))?.isDirectory())
      throw new FileError(`${backup}: is a folder; choose another name for the copy`);
    await access(dirname(backup), constants.W_OK);
  });
  return {
    get heldAt() {
      return heldAt;
    },
    hold: () =>
      orDiscard(async () => {
        if (backup !== undefined) {
          await copyFile(path, copy, constants.COPYFILE_FICLONE);
          await takeOver(copy, await stat(path));
          await makeDurable(copy);
        }
        target = await realpath(path);
        const held = temporaryBeside(target);
        heldAt = await link(target, held).then(
          () => held,
          () => undefined,
        );
      }),
    restore: () => orDiscard(() => moveIntoPlace(heldAt!, target)),
    commit: () => orDiscard(async () => (backup === undefined ? undefined : moveIntoPlace(copy, backup))),
    discard,
  };
}

const discardingAtFault =
  (path: string, discard: () => Promise<void>) =>
  async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      await discard();
      throw cannotWrite(path, error);
    }
  };

const writeDirectly = (path: string, file: FileHandle): TableSink => ({
  write: (bytes) => file.writeFile(bytes).catch((error: unknown) => Promise.reject(cannotWrite(path, error))),
  commit: () => file.close(),
  async discard() {
    void file.close().catch(() => {});
  },
});

function replacingSink(path: string, target: string, temporary: string, file: FileHandle, existing?: Stats): FileSink {
  const discard = async () => {
    // Not awaited: closing waits for a pending write, which may never end.
    void file.close().catch(() => {});
    await rm(temporary, { force: true }).catch(() => {});
  };
  const orDiscard = discardingAtFault(path, discard);
  let isPrepared = false;
  let unsynced = 0;
  let syncing: Promise<void> | undefined;
  let fault: unknown;
  const write = async (bytes: Uint8Array) => {
    if (fault !== undefined) throw cannotWrite(path, fault);
    writeNow(path, file.fd, bytes);
    unsynced += bytes.length;
    if (unsynced < syncedBytes || syncing !== undefined) return;
    unsynced = 0;
    syncing = file.datasync().then(
      () => {
        syncing = undefined;
      },
      // The system reports it once, so the file stays unfit.
      (error: unknown) => {
        fault = error;
      },
    );
  };
  const prepare = async () => {
    if (isPrepared) return;
    if (existing) await takeOver(temporary, existing);
    await syncing;
    if (fault !== undefined) throw fault;
    // Durable before it replaces the old file: a power failure must not leave an empty file.
    await file.sync();
    await file.close();
    isPrepared = true;
  };
  return {
    write,
    prepare: () => orDiscard(prepare),
    truncate: (size) => orDiscard(() => truncate(temporary, size)),
    isSame: async () => existing !== undefined && (await haveSameBytes(temporary, target)),
    commit: () =>
      orDiscard(async () => {
        await prepare();
        await moveIntoPlace(temporary, target);
      }),
    discard,
  };
}

async function haveSameBytes(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([stat(one), stat(other)]);
  if (a.size !== b.size) return false;
  const rest = createReadStream(other, { highWaterMark: compared })[Symbol.asyncIterator]();
  for await (const bytes of createReadStream(one, { highWaterMark: compared })) {
    const next = await rest.next();
    if (next.done || !(bytes as Buffer).equals(next.value as Buffer)) {
      await rest.return?.();
      return false;
    }
  }
  return true;
}

const compared = 1_048_576;
/** The disk stores a large file while the run goes on: at its end, 400 MB would take a tenth of the run. */
const syncedBytes = 8_388_608;

const nothing = async () => {};

/** Only for regular files: a device or a pipe could block the thread. */
function writeNow(path: string, file: number, bytes: Uint8Array): void {
  try {
    for (let offset = 0; offset < bytes.length; ) offset += writeSync(file, bytes, offset);
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

/** Opened anew, a file that the shell has opened would be overwritten by what others write to it after this process. */
function ownDescriptor(path: string): number | undefined {
  const name = /^\/(?:dev\/|proc\/self\/)(?:fd\/)?(stdout|stderr|\d+)$/.exec(path)?.[1];
  if (name === undefined) return undefined;
  return name === "stdout" ? 1 : name === "stderr" ? 2 : Number(name);
}

/** Follows a dangling symbolic link, too, which `realpath` cannot resolve. */
function linkTarget(path: string): string {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
  return isLink ? resolve(dirname(path), readlinkSync(path)) : path;
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
