/** Covers the memory budget of all request bodies: it refuses, recovers, and survives clients that go on sending. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import Fastify, { type FastifyInstance } from "fastify";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bodyBudget } from "../../src/server/service/plugins/body-budget.js";
import type { ApiKey } from "../../src/state/service/api-key.js";

let service: FastifyInstance;
let port: number;
/** The connections, as the service has them. */
let accepted: Socket[];
beforeEach(async () => {
  accepted = [];
  service = Fastify({ bodyLimit: 5000, forceCloseConnections: true });
  service.server.on("connection", (socket) => void accepted.push(socket));
  service.decorateRequest("apiKey", undefined);
  service.addHook("onRequest", async (request) => {
    if (request.headers["authorization"]) request.apiKey = { id: "a" } as ApiKey;
  });
  service.register(bodyBudget, { bytes: 8000, milliseconds: 30_000 });
  service.addContentTypeParser("text/plain", { parseAs: "buffer" }, async (_: unknown, body: Buffer) => body);
  service.post("/", async () => "taken");
  port = Number(new URL(await service.listen({ host: "127.0.0.1", port: 0 })).port);
});
afterEach(() => service.close());

/** Sends a request with the first pieces of its chunked body. */
const send = (...pieces: readonly number[]) => sendAs("Authorization: Bearer a\r\n", pieces);
async function sendAs(field: string, pieces: readonly number[]): Promise<{ socket: Socket; status: Promise<string> }> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  const status = new Promise<string>((resolve) => {
    socket.once("data", (data: Buffer) => resolve(data.toString().slice(9, 12)));
    socket.once("close", () => resolve("closed"));
  });
  socket.write(`${head(field)}Transfer-Encoding: chunked\r\n\r\n`);
  for (const bytes of pieces) write(socket, bytes);
  return { socket, status };
}
const head = (field: string) => `POST / HTTP/1.1\r\nHost: x\r\n${field}Content-Type: text/plain\r\n`;
const write = (socket: Socket, bytes: number) =>
  socket.write(bytes === 0 ? "0\r\n\r\n" : `${bytes.toString(16)}\r\n${"x".repeat(bytes)}\r\n`);
/** Waits until the service has read all that a client has sent. */
const arrived = ({ socket }: { readonly socket: Socket }) =>
  expect
    .poll(() => accepted.find(({ remotePort }) => remotePort === socket.localPort)?.bytesRead)
    .toBe(socket.bytesWritten);
/** Ends a connection, and waits until the service has closed it. */
const ended = ({ socket }: { readonly socket: Socket }) =>
  new Promise((resolve) => socket.once("close", resolve).end());
/** Waits until the service has noticed that all clients have left. */
const allLeft = () => expect.poll(() => accepted.every((socket) => socket.closed)).toBe(true);

test("a body over the budget is refused, and the budget recovers", async () => {
  const first = await send(4500);
  await arrived(first);
  const second = await send(4500);
  expect(await second.status).toBe("503");
  // A client that goes on sending ends neither the service nor the budget.
  for (let i = 0; i < 20; i++) write(second.socket, 4000);
  await ended(second);
  write(first.socket, 0);
  expect(await first.status).toBe("200");
  first.socket.destroy();
  expect(await (await send(4500, 0)).status).toBe("200");
});

test("oversized bodies and clients that disconnect do not use up the budget", async () => {
  for (let i = 0; i < 5; i++) {
    const large = await send(4000, 4000);
    expect(await large.status).toBe("413");
    for (let more = 0; more < 5; more++) write(large.socket, 4000);
    await ended(large);
    const gone = await send(4500);
    await arrived(gone);
    gone.socket.destroy();
    await allLeft();
  }
  expect(await (await send(4500, 0)).status).toBe("200");
});

test("requests without a key cannot take the budget of those with one", async () => {
  const silent = await Promise.all([1900, 90, 5].map((bytes) => sendAs("", [bytes])));
  for (const each of silent) await arrived(each);
  expect(await (await sendAs("", [100])).status).toBe("503");
  expect(await (await send(4500, 0)).status).toBe("200");
  for (const { socket } of silent) socket.destroy();
});

test("a connection that is reset with answers in line gives the budget back", async () => {
  const body = "x".repeat(1900);
  const whole = `${head("Authorization: Bearer a\r\n")}Content-Length: ${body.length}\r\n\r\n${body}`;
  for (let i = 0; i < 10; i++) {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    await once(socket, "connect");
    socket.write(whole.repeat(4));
    socket.resetAndDestroy();
  }
  await allLeft();
  expect(await (await send(4500, 0)).status).toBe("200");
});
