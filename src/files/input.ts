// Opens and reads input files. Files are read synchronously: their pages are nearly always in the system's cache, and
// passing the bytes from a thread of the pool doubles the cost and takes a core from the workers. So are facts about files.
import { constants, createReadStream, fstatSync, openSync, readSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { FileError, readFault } from "./errors.js";
import { found as foundAt } from "./found.js";

export interface InputFile {
  /** Each chunk is valid only until the next is requested. */
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly size: number | undefined;
  /** From one offset to another, or to the end; undefined for a pipe or device. @throws FileError */
  readonly read?: (from: number, to: number) => Buffer;
  /** False for a pipe or device. `at` is another name of the file. */
  hasChanged(at?: string): Promise<boolean>;
  /** May be called in the middle of a read, and more than once. */
  close(): Promise<void>;
}

const readBytes = 524_288;
/** For smaller files: more would be garbage for each of thousands of files. */
const fewBytes = 65_536;

const turnMilliseconds = 20;

/** @throws FileError when the file does not exist or cannot be read, also from the iteration; the reason of `signal` */
export async function openInputFile(path: string, signal: AbortSignal): Promise<InputFile> {
  try {
    const found = statSync(path);
    if (found.isDirectory()) throw new FileError(`${path}: is a folder; name a file`);
    if (found.isFile()) {
      const hasChanged = async (at = path) => {
        const now = foundAt(at);
        return now?.size !== found.size || now.mtimeMs !== found.mtimeMs || now.ino !== found.ino;
      };
      const file = await open(path);
      const close = () => file.close();
      const read = (from: number, to: number) => readAt(path, file, from, to);
      return { bytes: readFile(path, file, found.size, signal), size: found.size, read, hasChanged, close };
    }
    const stream = found.isFIFO() ? openPipe(path) : createReadStream(path, { highWaterMark: readBytes });
    const close = async () => void stream.destroy();
    const bytes = readStream(path, stream, signal);
    return { bytes, size: undefined, hasChanged: async () => false, close };
  } catch (error) {
    throw cannotRead(path, error);
  }
}

/** On Linux, no thread blocks, which would keep the process alive. Elsewhere, a pipe without a writer may seem ended. */
function openPipe(path: string) {
  if (process.platform !== "linux") return createReadStream(path, { highWaterMark: readBytes });
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}

/** Reads a file into one buffer, which the next read overwrites. */
async function* readFile(path: string, file: FileHandle, size: number, signal: AbortSignal) {
  const buffer = Buffer.allocUnsafeSlow(size > fewBytes ? readBytes : fewBytes);
  let turn = performance.now();
  let bytesSoFar = 0;
  try {
    for (;;) {
      // Signals and timers need a turn of the event loop, which synchronous reads do not give them.
      if (performance.now() - turn > turnMilliseconds) {
        await setImmediate();
        turn = performance.now();
      }
      signal.throwIfAborted();
      const bytesRead = readSync(file.fd, buffer);
      if (bytesRead === 0) {
        // The system gives files of its own a size that they need not have.
        if (bytesSoFar >= size || fstatSync(file.fd).size >= size) return;
        throw new FileError(`${path} changed while it was read: cut from ${size} to ${bytesSoFar} bytes; run again`);
      }
      bytesSoFar += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : cannotRead(path, error);
  } finally {
    await file.close();
  }
}

function readAt(path: string, file: FileHandle, from: number, to: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Math.max(0, to - from));
  try {
    return bytes.subarray(0, readSync(file.fd, bytes, 0, bytes.length, from));
  } catch (error) {
    throw cannotRead(path, error);
  }
}

/** @param name in errors; @throws FileError from the iteration when the stream fails, or the reason of `signal` */
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
  if (error instanceof FileError) return error;
  const isFolder = (error as NodeJS.ErrnoException).code === "EISDIR";
  return new FileError(`${name}: cannot be read: ${readFault(error)}${isFolder ? "; name a file" : ""}`);
}
