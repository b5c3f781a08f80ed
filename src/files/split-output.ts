/** The output of `--split`: a folder with one file per status. A run appends its rows to the files when it commits. */
import { createReadStream, type Stats } from "node:fs";
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import { ChoiceError, cannotWrite, FileError } from "./errors.js";
import { withFolderLock } from "./folder-lock.js";
import { createFolder } from "./folders.js";
import { found } from "./found.js";
import { type FileSink, openOutputFile } from "./output.js";
import type { SplitSink } from "./table-sink.js";

const lockMilliseconds = 600_000;

/**
 * Opens a folder with the files `ok.csv`, `fake.csv` and so on; rows without an item go to `empty.csv`. Existing files
 * keep their rows. On commit, all files are complete and durable before the first of them appears. Runs that share the
 * folder commit one after the other, and append again to files that have changed meanwhile.
 *
 * @param extension without the dot
 * @param appends whether to append to files of earlier runs
 * @param signal aborting it ends the wait for other runs
 * @throws ChoiceError if `appends` is false and the folder has files of an earlier run
 * @throws FileError from the sink, when a file cannot be created, or an existing one starts with another header
 */
export function openSplitOutput(
  folder: string,
  extension: string,
  appends: boolean,
  signal: AbortSignal,
): SplitSink {
  if (!appends) refuseEarlierFiles(folder, extension);
  if (extension === "json") refuseDocuments(folder);
  const files = new Map<string, Promise<AppendedFile>>();
  const discarded = new AbortController();
  let start = Buffer.of();
  const opened = () => Promise.all(files.values());
  const pathOf = (name: string) => join(folder, `${name}.${extension}`);
  return {
    get paths() {
      return [...files.keys()].map(pathOf);
    },
    async write(bytes) {
      start = Buffer.concat([start, bytes]);
    },
    async of(status) {
      const name = (status || "empty").replace(/[^A-Za-z0-9_-]/g, "_");
      let file = files.get(name);
      if (file === undefined) {
        file = makeFolder(folder, discarded.signal).then(() =>
          AppendedFile.open(pathOf(name), start, discarded.signal),
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
      // Also stops files that are still being opened, or would be opened later.
      discarded.abort();
      const all = await Promise.allSettled(files.values());
      for (const file of all) if (file.status === "fulfilled") await file.value.sink.discard();
    },
  };
}

const usualNames = ["ok", "alias", "disposable", "fake", "quota_exceeded", "empty"];

/**
 * Refuses a folder with files of a run that ended before this one began: the same input would double every row.
 * Concurrent runs share a folder.
 */
function refuseEarlierFiles(folder: string, extension: string): void {
  const paths = usualNames.map((name) => join(folder, `${name}.${extension}`));
  const earlier = paths.find((path) => {
    const file = found(path);
    return file?.isFile() && file.mtimeMs < performance.timeOrigin;
  });
  if (earlier === undefined) return;
  throw new ChoiceError(
    `${earlier}: has the rows of an earlier run; empty the folder, or add to its files with --append`,
  );
}

/**
 * Refuses a folder with documents, also of another file of this run: nothing can follow the end of a document.
 *
 * @throws ChoiceError when there is one
 */
function refuseDocuments(folder: string): void {
  const earlier = usualNames.map((name) => join(folder, `${name}.json`)).find((path) => found(path));
  if (earlier !== undefined) throw new ChoiceError(hasEnded(earlier));
}

const hasEnded = (path: string): string =>
  `${path}: a JSON document has one end, so nothing can follow it; split into an empty folder, or into JSON Lines with --format jsonl`;

/** @throws FileError when a file cannot be renamed; the message names the files that already have their rows */
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
  createFolder(folder);
}

class AppendedFile {
  readonly path: string;
  sink: FileSink;
  readonly #start: Buffer;
  readonly #signal: AbortSignal;
  /** Position in bytes in the temporary file where the rows of this run begin. */
  #offset: number;

  private constructor(path: string, start: Buffer, signal: AbortSignal, opened: OpenedFile) {
    this.path = path;
    this.#start = start;
    this.#signal = signal;
    this.sink = opened.sink;
    this.#offset = opened.offset;
  }

  /**
   * @param start the header that the file must begin with; written when the file is new or empty
   * @throws FileError when the file begins with something else, or cannot be created
   */
  static async open(path: string, start: Buffer, signal: AbortSignal): Promise<AppendedFile> {
    return new AppendedFile(path, start, signal, await openForAppending(path, start, signal));
  }

  /** Appends the rows of this run to the current file if another run has changed it meanwhile. */
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
    } else if (path.endsWith(".json")) {
      throw new FileError(hasEnded(path));
    } else if (!head.equals(start)) {
      throw new FileError(`${path}: its header differs from this table's; split into another folder`);
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

const lf = 0x0a;
const cr = 0x0d;

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
