import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { TableError } from "./errors.js";
import { openOutputFile, type TableSink } from "./output.js";

/** A sink with a file for each status. What is written to the sink itself stands at the start of each. */
export interface SplitSink extends TableSink {
  /** The file for the rows of a status. */
  of(status: string): Promise<TableSink>;
}

export function isSplit(sink: TableSink): sink is SplitSink {
  return "of" in sink;
}

/**
 * Makes a folder's files `ok.csv`, `fake.csv` and so on; rows without an item go to `empty.csv`. Rows are appended to
 * those that exist, each in one step on commit.
 *
 * @param extension without the dot
 * @throws TableError when a file cannot be made, or one that exists starts with another header
 */
export function openSplitOutput(folder: string, extension: string): SplitSink {
  const files = new Map<string, Promise<TableSink>>();
  const discarded = new AbortController();
  let start = Buffer.of();
  const opened = () => Promise.all(files.values());
  return {
    async write(bytes) {
      start = Buffer.concat([start, bytes]);
    },
    of(status) {
      const name = (status || "empty").replace(/[^A-Za-z0-9_-]/g, "_");
      let file = files.get(name);
      if (file === undefined) {
        file = append(folder, `${name}.${extension}`, start, discarded.signal);
        files.set(name, file);
      }
      return file;
    },
    async commit() {
      // What may fail for want of space comes before anything appears.
      for (const file of await opened()) await file.prepare?.();
      for (const file of await opened()) await file.commit();
    },
    async discard() {
      // Also what is being opened now, or would be later.
      discarded.abort();
      const all = await Promise.allSettled(files.values());
      for (const file of all) if (file.status === "fulfilled") await file.value.discard();
    },
  };
}

async function append(folder: string, name: string, start: Buffer, signal: AbortSignal): Promise<TableSink> {
  signal.throwIfAborted();
  const path = join(folder, name);
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw new TableError(`${folder}: no such folder, and it cannot be made: ${(error as Error).message}`);
  }
  const file = await openOutputFile(path, "append", signal);
  try {
    const { head, last } = await readEnds(path, start.length);
    if (last === undefined) await file.write(start);
    else if (!head.equals(start)) {
      throw new TableError(`${path}: has another header than this table; split into another folder`);
    } else if (last !== lf && last !== cr) await file.write(Buffer.of(lf));
    return file;
  } catch (error) {
    await file.discard();
    throw error;
  }
}

const [lf, cr] = [0x0a, 0x0d];

/** So many bytes from the start of a file, and its last byte; none where it is absent or empty. */
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
