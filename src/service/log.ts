/**
 * The service's log: lines on standard output that nothing waits for. A reader that stalls, or a disk that is full, costs
 * lines, never a request, memory or the end of the process.
 */
import { fstatSync, writeSync } from "node:fs";
import { Socket } from "node:net";

/** Bytes that wait for a reader at most; about 8,000 lines. */
const mostWaitingBytes = 1_048_576;
/** How long a reader may take for the last lines, in milliseconds. */
const patienceMilliseconds = 500;

export interface LogStream {
  /** Takes a line with its line end. */
  write(line: string): void;
  /** Resolves when all lines were taken, or the reader is too slow. */
  close(): Promise<void>;
}

/**
 * Opens a log on a file descriptor.
 *
 * @param onDrop called for each line that is lost
 */
export function openLog(descriptor: number, onDrop: () => void): LogStream {
  const target = fstatSync(descriptor);
  if (!target.isFIFO() && !target.isSocket()) {
    return {
      write(line) {
        try {
          writeSync(descriptor, line);
        } catch {
          onDrop();
        }
      },
      close: async () => {},
    };
  }
  // process.stdout writes to a pipe synchronously: a reader that stalls would stop everything.
  const socket = new Socket({ fd: descriptor, readable: false, writable: true });
  socket.on("error", () => {});
  socket.unref();
  return {
    write(line) {
      if (socket.destroyed || socket.writableLength > mostWaitingBytes) onDrop();
      else socket.write(line);
    },
    async close() {
      const patience = setTimeout(() => socket.destroy(), patienceMilliseconds);
      await new Promise<void>((resolve) => socket.end(resolve));
      clearTimeout(patience);
    },
  };
}
