import { ClosedPipe, TableError } from "../table/errors.js";
import type { TableSink } from "../table/output.js";

/** Standard output as the place for a table: what is written is out, whatever comes later. */
export const standardOutput: TableSink = {
  write: (bytes) =>
    new Promise((resolve, reject) => {
      process.stdout.write(bytes, (error) => (error ? reject(explain(error)) : resolve()));
    }),
  commit: async () => {},
  discard: async () => {},
};

let printed: Promise<unknown> = Promise.resolve();

/** Prints text on standard output, in order. Whether that went well, {@link allPrinted} says. */
export function print(text: string): void {
  printed = Promise.all([printed, standardOutput.write(Buffer.from(text))]);
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
  const what = error.code === "ENOSPC" ? "no space left on the device" : error.message;
  return new TableError(`standard output: cannot be written: ${what}`);
}
