import { fstatSync, write } from "node:fs";
import { promisify } from "node:util";
import { cannotWrite, type TableSink } from "../../files/output.js";
import { ClosedPipe } from "../../table/errors.js";

/** Standard output as the place for a table: what is written is out, whatever comes later. */
export const standardOutput: TableSink = {
  // A file may take less than it is given when the disk is full, which a stream on it does not notice.
  write: isFile(1) ? writeToFile : writeToStream,
  commit: async () => {},
  discard: async () => {},
};

function isFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile();
  } catch {
    // It is closed, which writing will show.
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

/** Prints text on standard output, in order. Whether that went well, {@link allPrinted} says. */
export function print(text: string): void {
  printed = printed.then(() => standardOutput.write(Buffer.from(text)));
  // A failure waits for `allPrinted`, however late that is asked.
  printed.catch(() => {});
}

/** @throws when something of what was printed could not be written */
export async function allPrinted(): Promise<void> {
  await printed;
}

function explain(error: NodeJS.ErrnoException): Error {
  if (error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED") {
    return new ClosedPipe("standard output was closed by its reader");
  }
  return cannotWrite("standard output", error);
}
