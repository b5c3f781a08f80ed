import { createReadStream } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { TableError } from "../table/errors.js";

/** A file that is opened for reading. */
export interface InputFile {
  /** Each piece is good until the next is asked for. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** In bytes; undefined for a pipe or device. */
  readonly size: number | undefined;
  /** Whether the file is another one by now, or has been written to. */
  hasChanged(): Promise<boolean>;
  /** Closes the file, also in the middle of the reading. Closed files are left as they are. */
  close(): Promise<void>;
}

/** Large enough that the work of a read outweighs its overhead. */
const readBytes = 262_144;

/**
 * Opens a file for reading.
 *
 * @param signal aborting it ends the reading with the signal's reason
 * @throws TableError when there is no such file or it cannot be read; also from the iteration
 */
export async function openInputFile(path: string, signal: AbortSignal): Promise<InputFile> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) throw new TableError(`${path}: is a folder; name a file`);
    if (found.isFile()) {
      const hasChanged = async () => {
        const now = await stat(path).catch(() => undefined);
        return now?.size !== found.size || now.mtimeMs !== found.mtimeMs || now.ino !== found.ino;
      };
      const file = await open(path);
      const close = () => file.close();
      return { bytes: readFile(path, file, signal), size: found.size, hasChanged, close };
    }
    const stream = createReadStream(path, { highWaterMark: readBytes });
    const close = async () => void stream.destroy();
    const bytes = readStream(path, stream, signal);
    return { bytes, size: undefined, hasChanged: async () => false, close };
  } catch (error) {
    throw cannotRead(path, error);
  }
}

/** The bytes of a file, read into the same memory again and again, one read ahead of whoever works on them. */
async function* readFile(path: string, file: FileHandle, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const read = (into: Buffer) => file.read(into, 0, readBytes);
  let [current, other] = [Buffer.allocUnsafeSlow(readBytes), Buffer.allocUnsafeSlow(readBytes)];
  try {
    for (let reading = read(current); ; ) {
      const { bytesRead } = await reading;
      signal.throwIfAborted();
      if (bytesRead === 0) return;
      reading = read(other);
      // It is waited for only if somebody asks for more.
      reading.catch(() => {});
      yield current.subarray(0, bytesRead);
      [current, other] = [other, current];
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : cannotRead(path, error);
  } finally {
    await file.close();
  }
}

/**
 * The bytes of a stream, with errors that name it.
 *
 * @param name the file's name, or `standard input`
 */
export async function* readStream(
  name: string,
  stream: NodeJS.ReadableStream & { destroy(error?: Error): unknown },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const abort = () => stream.destroy(signal.reason as Error);
  signal.addEventListener("abort", abort, { once: true });
  try {
    signal.throwIfAborted();
    for await (const chunk of stream) yield chunk as Uint8Array;
  } catch (error) {
    throw signal.aborted ? signal.reason : cannotRead(name, error);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function cannotRead(name: string, error: unknown): Error {
  if (error instanceof TableError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: "no such file",
    ENOTDIR: "no such file",
    EACCES: "no right to read it",
    EPERM: "no right to read it",
    EISDIR: "is a folder; name a file",
  };
  return new TableError(`${name}: cannot be read: ${reasons[code ?? ""] ?? message}`);
}
