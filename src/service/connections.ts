/** Limits the connections of a server without letting silent ones shut out all others. */
import type { Server, Socket } from "node:net";

/** Whether the connections of a server are busy with a request. */
interface Connections {
  /** A request has arrived on a connection: it is not closed to make room. */
  begin(socket: Socket): void;
  /** All requests of a connection were answered. */
  rest(socket: Socket): void;
}

/**
 * Closes the connection that has been idle for longest when one more comes than there may be. Connections that have not
 * sent a whole request header are idle too, so that a thousand silent ones keep nobody out. Where all are busy, the new
 * one is closed.
 *
 * @param most how many connections there may be
 * @param onDrop called for each connection that is closed
 */
export function limitConnections(server: Server, most: number, onDrop: () => void): Connections {
  const open = new Set<Socket>();
  /** Those without a request, the one that has been so for longest first. */
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
