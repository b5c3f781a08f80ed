/** Limits the number of open connections, without letting silent clients lock out the others. Knows nothing of HTTP. */
import type { Server, Socket } from "node:net";

/** Tells the limiter which connections are busy with a request. */
interface Connections {
  /** Marks a connection as busy: it will not be closed to make room. */
  begin(socket: Socket): void;
  /** Marks a connection as idle, because all its requests have been answered. */
  rest(socket: Socket): void;
}

/**
 * Limits a server to `most` open connections. When a new connection exceeds the limit, the one that has been idle longest is
 * closed; if all are busy, the new one is. A connection is idle until it has sent a complete request header, so silent
 * clients cannot use up the limit.
 *
 * @param most limit on open connections
 * @param onDrop called for each connection closed because of the limit
 */
export function limitConnections(server: Server, most: number, onDrop: () => void): Connections {
  const open = new Set<Socket>();
  /** Connections without a request, the longest idle first. */
  const idle = new Set<Socket>();
  server.on("connection", (socket) => {
    if (open.size >= most) {
      const [oldest = socket] = idle;
      forget(oldest);
      oldest.destroy();
      onDrop();
      if (oldest === socket) return;
    }
    open.add(socket);
    idle.add(socket);
    socket.once("close", () => forget(socket));
  });
  function forget(socket: Socket): void {
    open.delete(socket);
    idle.delete(socket);
  }
  return {
    begin: (socket) => void idle.delete(socket),
    rest: (socket) => void (open.has(socket) && idle.add(socket)),
  };
}
