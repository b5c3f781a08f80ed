/** Covers the limit on connections: idle ones are closed to make room, busy ones are not. */
import { once } from "node:events";
import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { limitConnections } from "../../src/server/service/plugins/connections.js";

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** Starts a server with room for three connections; requests for /held stay unanswered in `held`. */
async function smallServer() {
  let dropped = 0;
  const held: ServerResponse[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    connections.begin(request.socket);
    response.once("close", () => connections.rest(request.socket));
    if (request.url === "/held") held.push(response);
    else response.end("here");
  });
  const connections = limitConnections(server, 3, () => dropped++);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const silent = async (text = ""): Promise<Socket> => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    cleanups.push(() => socket.destroy());
    await once(socket, "connect");
    if (text !== "") socket.write(text);
    return socket;
  };
  const ask = (path: string) =>
    new Promise<string>((resolve) => {
      get({ port, host: "127.0.0.1", path, agent: false }, (response) => {
        response.on("data", (chunk: Buffer) => resolve(chunk.toString()));
      }).on("error", ({ message }) => resolve(message));
    });
  return { silent, ask, held, dropped: () => dropped };
}

test("closes a silent connection, even after half a header, to make room", async () => {
  const { silent, ask, dropped } = await smallServer();
  const closed = once(await silent(), "close");
  await silent("GET / HT");
  await silent();
  expect(await ask("/")).toBe("here");
  await closed;
  expect(dropped()).toBe(1);
});

test("closes the new connection if all others have a request", async () => {
  const { ask, held, dropped } = await smallServer();
  const answers = [ask("/held"), ask("/held"), ask("/held")];
  await expect.poll(() => held.length).toBe(3);
  expect(await ask("/")).toMatch(/socket hang up|ECONNRESET/);
  expect(dropped()).toBe(1);
  for (const response of held) response.end("answered");
  expect(await Promise.all(answers)).toEqual(["answered", "answered", "answered"]);
  expect(await ask("/")).toBe("here");
});

test("does not count a connection as idle if it closed before its answer ended", async () => {
  let dropped = 0;
  const server = createTcpServer();
  const connections = limitConnections(server, 2, () => dropped++);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const connected = async () => {
    const accepted = once(server, "connection");
    const client = connect(port, "127.0.0.1");
    client.on("error", () => {});
    const [socket] = (await accepted) as [Socket];
    socket.on("error", () => {}).resume();
    cleanups.push(() => client.destroy());
    return { client, socket };
  };
  cleanups.push(() => server.close());
  const gone = await connected();
  connections.begin(gone.socket);
  gone.client.destroy();
  await once(gone.socket, "close");
  connections.rest(gone.socket);
  const [first, second] = [await connected(), await connected()];
  const closed = once(first.socket, "close");
  const third = await connected();
  await closed;
  expect(dropped).toBe(1);
  expect([second, third].map(({ socket }) => socket.destroyed)).toEqual([false, false]);
});
