/** Standard output: only data, in full, with errors that name it. */
import { readFileSync, write } from "node:fs";
import { promisify } from "node:util";
import { ClosedPipe, cannotWrite } from "../../files/errors.js";
import { found } from "../../files/found.js";
import type { TableSink } from "../../files/table-sink.js";

export const isFile = found(1)?.isFile() === true;

/** Written bytes cannot be discarded. */
export const standardOutput: TableSink = {
  // On a full disk, a write to a file may be short, which a stream does not notice.
  write: isFile ? writeToFile : writeToStream,
  commit: async () => {},
  discard: async () => {},
};

/** O_APPEND of Linux, where a process can read the flags of its files. */
const appendFlag = 0o2000;

/** Other lines may follow those of a table: on a terminal, and in a file that the shell appends to. */
export function isContinued(): boolean {
  if (process.stdout.isTTY) return true;
  try {
    const [, flags = "0"] = /^flags:\s*(\d+)$/m.exec(readFileSync("/proc/self/fdinfo/1", "latin1")) ?? [];
    return (Number.parseInt(flags, 8) & appendFlag) !== 0;
  } catch {
    return false;
  }
}

async function writeToFile(bytes: Uint8Array): Promise<void> {
  try {
    for (let offset = 0; offset < bytes.length; ) offset += (await writeSome(1, bytes, offset)).bytesWritten;
  } catch (error) {
    throw explain(error as NodeJS.ErrnoException);
  }
}

const writeSome = promisify(write);

function writeToStream(bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(bytes, (error) => (error ? reject(explain(error)) : resolve()));
  });
}

let printed: Promise<void> = Promise.resolve();

/** {@link allPrinted} reports failures. */
export function print(text: string): void {
  printed = printed.then(() => standardOutput.write(Buffer.from(text)));
  printed.catch(() => {});
}

/** @throws FileError, ClosedPipe when something could not be written */
export async function allPrinted(): Promise<void> {
  await printed;
}

function explain(error: NodeJS.ErrnoException): Error {
  const isClosed = error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED";
  return isClosed ? new ClosedPipe("standard output was closed by its reader") : cannotWrite("standard output", error);
}
