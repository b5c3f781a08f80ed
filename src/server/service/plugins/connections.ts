/** Limits the number of open connections, and of requests on each. Silent clients cannot lock out the others. */
import type { IncomingMessage } from "node:http";
import type { Server, Socket } from "node:net";
import plugin from "fastify-plugin";

const mostConnections = 1000;
/** Limit on pipelined requests per connection: unread responses are buffered in memory. */
const mostPipelined = 100;
/** Time in which a client reads the last answer. */
const lingerMilliseconds = 3000;

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

/** Number of unanswered requests of each connection, the newest one, and what ends the connection after them. */
const pending = new WeakMap<Socket, number>();
const newest = new WeakMap<Socket, IncomingMessage>();
const last = new WeakMap<Socket, () => void>();
/** Connections on which a request was answered before its body had arrived. */
const cutOff = new WeakSet<Socket>();

/** The body of the newest request may never arrive. */
const isAnswered = (socket: Socket): boolean =>
  (pending.get(socket) ?? 0) <= (newest.get(socket)?.complete === false ? 1 : 0);

/** Ends a connection when the requests that have arrived are answered, in order (RFC 9112 section 9.3.2). */
export function endAfterAnswers(socket: Socket, answer = ""): void {
  if (last.has(socket)) return;
  let isEnded = false;
  last.set(socket, () => {
    if (isEnded) return;
    isEnded = true;
    socket.end(cutOff.has(socket) ? "" : answer);
    // A client may go on sending.
    setTimeout(() => socket.destroy(), lingerMilliseconds).unref();
  });
  if (isAnswered(socket)) last.get(socket)!();
}

export const connections = plugin<{ readonly onDrop: () => void }>(async (service, { onDrop }) => {
  const limited = limitConnections(service.server, mostConnections, onDrop);
  // A client that has sent its requests, and closes its side of the connection, is charged for them: it gets its answers.
  Object.assign(service.server, { httpAllowHalfOpen: true });
  service.addHook("onRequest", async ({ raw }, reply) => {
    const { socket } = raw;
    const count = (pending.get(socket) ?? 0) + 1;
    limited.begin(socket);
    if (count <= mostPipelined && !last.has(socket)) {
      pending.set(socket, count);
      newest.set(socket, raw);
      cutOff.delete(socket);
      return;
    }
    endAfterAnswers(socket);
    socket.pause();
    reply.hijack();
  });
  service.addHook("onResponse", async ({ raw }) => {
    const { socket } = raw;
    const count = (pending.get(socket) ?? 1) - 1;
    pending.set(socket, count);
    if (!raw.complete) cutOff.add(socket);
    if (isAnswered(socket)) last.get(socket)?.();
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
