/** Log of the service. A stalled reader or a full disk loses lines; it does not delay requests or fill the memory. */
import { fstatSync, writeSync } from "node:fs";
import { Socket } from "node:net";

/** About 5,000 lines. */
const mostWaitingBytes = 1_048_576;
const patienceMilliseconds = 500;

export type LogStream = { write(line: string): void; close(): Promise<void> };

/** Files and terminals are written synchronously. `onDrop` is called for each lost line. */
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
