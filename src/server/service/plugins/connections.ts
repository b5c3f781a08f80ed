/** Limits the number of open connections, and of requests on each. Silent clients cannot lock out the others. */
import type { Server, Socket } from "node:net";
import plugin from "fastify-plugin";

const mostConnections = 1000;
/** Limit on pipelined requests per connection: unread responses are buffered in memory. */
const mostPipelined = 100;

/** Closes the longest idle connection, else the new one. One is idle until it has sent a complete request header. */
export function limitConnections(server: Server, most: number, onDrop: () => void) {
  const open = new Set<Socket>();
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
    begin: (socket: Socket) => void idle.delete(socket),
    rest: (socket: Socket) => void (open.has(socket) && idle.add(socket)),
  };
}

export const connections = plugin<{ readonly onDrop: () => void }>(async (service, { onDrop }) => {
  const limited = limitConnections(service.server, mostConnections, onDrop);
  const pending = new WeakMap<Socket, number>();
  service.addHook("onRequest", async ({ raw: { socket } }, reply) => {
    const count = (pending.get(socket) ?? 0) + 1;
    pending.set(socket, count);
    limited.begin(socket);
    if (count <= mostPipelined) return;
    socket.destroy();
    reply.hijack();
  });
  service.addHook("onResponse", async ({ raw: { socket } }) => {
    const count = (pending.get(socket) ?? 1) - 1;
    pending.set(socket, count);
    if (count === 0) limited.rest(socket);
  });
  // Otherwise a connection would stay open after its last response and delay the shutdown.
  let isClosing = false;
  service.addHook("preClose", async () => {
    isClosing = true;
  });
  service.addHook("onSend", async (_request, reply, payload) => {
    if (isClosing) reply.header("connection", "close");
    return payload;
  });
});
