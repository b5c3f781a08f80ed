/** The output of `--split`: a folder with a file for each status, to which every run appends its rows in one step. */
import { createReadStream, type Stats } from "node:fs";
import { mkdir, open, stat } from "node:fs/promises";
import { join } from "node:path";
import { TableError } from "../table/errors.js";
import { withFolderLock } from "./folder-lock.js";
import { cannotWrite, type FileSink, openOutputFile, type TableSink } from "./output.js";

/** A sink with a file for each status. What is written to the sink itself stands at the start of each. */
export interface SplitSink extends TableSink {
  /** The file for the rows of a status. */
  of(status: string): Promise<TableSink>;
}

export function isSplit(sink: TableSink): sink is SplitSink {
  return "of" in sink;
}

/** How long a run waits for others that append to the same folder, in milliseconds. */
const lockMilliseconds = 600_000;

/**
 * Makes a folder's files `ok.csv`, `fake.csv` and so on; rows without an item go to `empty.csv`. Rows are appended to
 * those that exist, on commit: all files are complete on the disk before the first of them appears. Runs that share the
 * folder take turns then, and start over on files that have changed meanwhile.
 *
 * @param extension without the dot
 * @param signal aborting it ends the wait for other runs
 * @throws TableError when a file cannot be made, or one that exists starts with another header
 */
export function openSplitOutput(folder: string, extension: string, signal: AbortSignal): SplitSink {
  const files = new Map<string, Promise<AppendedFile>>();
  const discarded = new AbortController();
  let start = Buffer.of();
  const opened = () => Promise.all(files.values());
  return {
    async write(bytes) {
      start = Buffer.concat([start, bytes]);
    },
    async of(status) {
      const name = (status || "empty").replace(/[^A-Za-z0-9_-]/g, "_");
      let file = files.get(name);
      if (file === undefined) {
        file = makeFolder(folder, discarded.signal).then(() =>
          AppendedFile.open(join(folder, `${name}.${extension}`), start, discarded.signal),
        );
        files.set(name, file);
      }
      return (await file).sink;
    },
    async commit() {
      const all = await opened();
      if (all.length === 0) return;
      for (const file of all) await file.sink.prepare?.();
      const append = async () => {
        for (const file of all) await file.catchUp();
        await commitAll(all);
      };
      await withFolderLock(folder, { milliseconds: lockMilliseconds, signal }, append).catch((error) => {
        throw signal.aborted ? signal.reason : cannotWrite(folder, error);
      });
    },
    async discard() {
      // Also what is being opened now, or would be later.
      discarded.abort();
      const all = await Promise.allSettled(files.values());
      for (const file of all) if (file.status === "fulfilled") await file.value.sink.discard();
    },
  };
}

/** @throws TableError which says, where one cannot be renamed, which files have their rows already */
async function commitAll(files: readonly AppendedFile[]): Promise<void> {
  const done: string[] = [];
  for (const { path, sink } of files) {
    await sink.commit().catch((error: Error) => {
      if (done.length > 0) error.message += `; rows were already appended to ${done.join(", ")}`;
      throw error;
    });
    done.push(path);
  }
}

async function makeFolder(folder: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw new TableError(`${folder}: no such folder, and it cannot be made: ${(error as Error).message}`);
  }
}

/** A file with the rows that it had, followed by those of this run. */
class AppendedFile {
  readonly path: string;
  sink: FileSink;
  readonly #start: Buffer;
  readonly #signal: AbortSignal;
  /** Where the rows of this run begin. */
  #offset: number;

  private constructor(path: string, start: Buffer, signal: AbortSignal, opened: OpenedFile) {
    this.path = path;
    this.#start = start;
    this.#signal = signal;
    this.sink = opened.sink;
    this.#offset = opened.offset;
  }

  /**
   * @param start what the file has to begin with: the header
   * @throws TableError when it begins with something else, or cannot be made
   */
  static async open(path: string, start: Buffer, signal: AbortSignal): Promise<AppendedFile> {
    return new AppendedFile(path, start, signal, await openForAppending(path, start, signal));
  }

  /** Appends the rows of this run to the file as it is now, if another run has changed it. */
  async catchUp(): Promise<void> {
    const now = await stat(this.path).catch(() => undefined);
    if (isSame(now, this.sink.replaced) || this.sink.temporary === undefined) return;
    const { sink, offset } = await openForAppending(this.path, this.#start, this.#signal);
    try {
      for await (const bytes of createReadStream(this.sink.temporary, { start: this.#offset })) {
        await sink.write(bytes as Uint8Array);
      }
      await sink.prepare?.();
    } catch (error) {
      await sink.discard();
      throw error;
    }
    await this.sink.discard();
    this.sink = sink;
    this.#offset = offset;
  }
}

const isSame = (a: Stats | undefined, b: Stats | undefined): boolean =>
  a?.ino === b?.ino && a?.size === b?.size && a?.mtimeMs === b?.mtimeMs;

interface OpenedFile {
  readonly sink: FileSink;
  readonly offset: number;
}

async function openForAppending(path: string, start: Buffer, signal: AbortSignal): Promise<OpenedFile> {
  const sink = await openOutputFile(path, "append", signal);
  try {
    const { head, last } = await readEnds(sink.temporary ?? path, start.length);
    let offset = sink.temporary === undefined ? 0 : (await stat(sink.temporary)).size;
    if (last === undefined) {
      await sink.write(start);
      offset = start.length;
    } else if (!head.equals(start)) {
      throw new TableError(`${path}: has another header than this table; split into another folder`);
    } else if (last !== lf && last !== cr) {
      await sink.write(Buffer.of(lf));
      offset++;
    }
    return { sink, offset };
  } catch (error) {
    await sink.discard();
    throw error;
  }
}

const [lf, cr] = [0x0a, 0x0d];

/** The first `length` bytes of a file, and its last byte; none where it is absent or empty. */
async function readEnds(path: string, length: number) {
  const file = await open(path).catch(() => undefined);
  const { size } = (await file?.stat()) ?? { size: 0 };
  const head = Buffer.alloc(Math.min(size, length));
  const end = Buffer.alloc(Math.min(size, 1));
  await file?.read(head, 0, head.length, 0);
  await file?.read(end, 0, end.length, Math.max(0, size - 1));
  await file?.close();
  return { head, last: end[0] };
}
