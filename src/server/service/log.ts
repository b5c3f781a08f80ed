/**
 * Log of the service. Never waits for the reader of a pipe or socket. A stalled reader or a full disk loses log lines;
 * it does not delay requests, fill the memory or stop the process.
 */
import { fstatSync, writeSync } from "node:fs";
import { Socket } from "node:net";

/** Limit on the bytes that wait for a reader: about 5,000 lines. */
const mostWaitingBytes = 1_048_576;
const patienceMilliseconds = 500;

export interface LogStream {
  /** Writes a line, which includes its line end. */
  write(line: string): void;
  /** Resolves when all lines have been written, after `patienceMilliseconds` at the latest. */
  close(): Promise<void>;
}

/**
 * Opens a log on a file descriptor. Files and terminals are written synchronously.
 *
 * @param onDrop called for each lost line
 */
export function openLog(descriptor: number, onDrop: () => void): LogStream {
  if (!isPipe(descriptor)) {
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
  // Not process.stdout, which writes to pipes synchronously: a stalled reader would block the process.
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

function isPipe(descriptor: number): boolean {
  try {
    const target = fstatSync(descriptor);
    return target.isFIFO() || target.isSocket();
  } catch {
    // Some descriptors cannot be looked at under Windows.
    return false;
  }
}
