/** Covers single HTTP requests: connections, faults, proxies, interim answers and bodies without end. */
import { readFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type HttpClient, type HttpOptions, openHttpClient } from "../../../src/engines/api/http.js";
import { engineFor, noProxies } from "../../support/api-engine.js";
import { afterFile } from "../../support/clean-up.js";
import { type Act, listen } from "../../support/scripted-server.js";

/** Opens a client that is closed after the tests. */
function clientFor(options: Partial<HttpOptions> = {}): HttpClient {
  const client = openHttpClient({ connections: 4, timeout: 2000, proxies: noProxies, ...options });
  afterFile(() => client.close());
  return client;
}
const post = (client: HttpClient, url: string, milliseconds?: number) =>
  client.post({ url: `${url}/path`, body: "{}", fields: { accept: "text/plain" }, maximumBytes: 100 }, milliseconds);

/** Listens for connections, and hands over each with the first bytes that it brings. */
async function rawServer(onRequest: (socket: Socket, request: string) => unknown): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (bytes) => onRequest(socket, bytes.toString()));
  });
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket));
  afterFile(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

const headOf = (length: number) => `HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n`;
const finalAnswer = "HTTP/1.1 200 OK\r\nx-a: 1\r\ncontent-length: 4\r\n\r\ndone";

test("sends several requests over one connection", async () => {
  let connections = 0;
  const seen: string[] = [];
  const server = createHttpServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers.accept}`);
    request.resume().on("end", () => response.end("done"));
  }).on("connection", () => connections++);
  const url = await listen(server);
  const client = clientFor({ connections: 1 });
  for (const _ of [1, 2, 3]) expect(await post(client, url)).toMatchObject({ status: 200, body: "done" });
  expect(seen).toEqual(Array(3).fill("POST /path text/plain"));
  expect(connections).toBe(1);
});

test.each([
  ["exactly at the limit", 100, "x".repeat(100)],
  ["beyond the limit", 101, undefined],
])("a body is returned only if it is not too long: %s", async (_, length, body) => {
  const url = await rawServer((socket) => socket.write(headOf(length) + "x".repeat(length)));
  expect((await post(clientFor(), url)).body).toBe(body);
});

test("a body that does not end is cut at the largest length of an answer", async () => {
  const endless: Act = (response) => {
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && response.write("x".repeat(65_536)));
    };
    response.on("drain", more);
    more();
  };
  const { failure } = await engineFor([endless], { maximumRetries: 0 });
  expect(await failure()).toContain("invalid answer: it is too long");
});

describe("a request without an answer", () => {
  const silent = () => {};

  test("ends after the timeout of the client, or its own if that is shorter", async () => {
    const client = clientFor({ timeout: 60 });
    const url = await rawServer(silent);
    for (const [own, seconds] of [
      [undefined, "0.06"],
      [20, "0.02"],
      [5000, "0.06"],
    ] as const) {
      const message = `no answer in ${seconds} s`;
      await expect(post(client, url, own)).rejects.toMatchObject({ message, isTransient: true });
    }
  });

  test("ends after the timeout although a body has begun", async () => {
    const url = await rawServer((socket) => socket.write(`${headOf(9)}x`));
    await expect(post(clientFor({ timeout: 60 }), url)).rejects.toThrow("no answer in 0.06 s");
  });

  test("ends when the client is closed, and is not transient", async () => {
    let seen = 0;
    const url = await rawServer(() => seen++);
    const client = clientFor();
    const posting = post(client, url);
    posting.catch(() => {});
    await expect.poll(() => seen).toBe(1);
    await client.close();
    await expect(posting).rejects.toMatchObject({ message: "the run has ended", isTransient: false });
  });

  test.each<[string, (socket: Socket) => unknown, unknown]>([
    ["a connection that is closed", (socket) => socket.end(), "the connection was closed"],
    ["a connection that is reset", (socket) => socket.resetAndDestroy(), "the connection was reset"],
    ["a body that breaks off", (socket) => socket.end(`${headOf(9)}x`), "the connection was closed"],
    ["an interim answer that breaks off", (socket) => socket.end("HTTP/1.1 100 Cont"), "the connection was closed"],
    ["an answer that is not HTTP", (socket) => socket.end("SSH-2.0\r\n"), expect.any(String)],
  ])("fails as transient, with the reason: %s", async (_, act, message) => {
    const url = await rawServer(act);
    await expect(post(clientFor(), url)).rejects.toMatchObject({ message, isTransient: true });
  });

  test.each(["http://127.0.0.1:1", "http://localhost:1"])("fails with the reason if %s refuses it", async (url) => {
    await expect(post(clientFor(), url)).rejects.toMatchObject({ message: "connection refused", isTransient: true });
  });

  test("fails for good if the request itself is invalid", async () => {
    const url = await rawServer(silent);
    const odd = clientFor().post({ url, body: "{}", fields: { "a b": "9" }, maximumBytes: 9 });
    await expect(odd).rejects.toMatchObject({ message: "invalid header key", isTransient: false });
  });
});

test("plain HTTP on the port of an https URL is explained, and not a transient fault", async () => {
  const url = await listen(createHttpServer((_, response) => response.end("done")));
  await expect(post(clientFor(), url.replace("http:", "https:"))).rejects.toMatchObject({
    message: "it does not speak TLS on that port; if it is meant to be plain HTTP, write http://",
    isTransient: false,
  });
});

test("an untrusted certificate is explained, and not a transient fault", async () => {
  const pem = readFileSync(fileURLToPath(new URL("../../support/localhost.pem", import.meta.url)));
  const url = await listen(createTlsServer({ key: pem, cert: pem }, (_, response) => response.end("done")));
  await expect(post(clientFor(), url.replace("http://127.0.0.1", "https://localhost"))).rejects.toMatchObject({
    message: expect.stringMatching(/^its certificate is not trusted \(\w+\); set NODE_EXTRA_CA_CERTS to a PEM file/),
    isTransient: false,
  });
});

describe("a proxy", () => {
  /** Posts to a TLS server through a proxy with one answer to CONNECT. */
  async function postThrough(answer: string, timeout = 2000) {
    const asked: string[] = [];
    const httpsProxy = await rawServer((socket, request) => {
      asked.push(request.split("\r\n")[0]!);
      if (answer !== "") socket.end(answer);
    });
    const client = clientFor({ timeout, proxies: { ...noProxies, httpsProxy } });
    const error = await post(client, "https://b.invalid").catch((fault: unknown) => fault);
    return { error, asked };
  }

  test.each([
    ["that wants a password is not asked again", 407, false],
    ["that is tired may be asked again", 503, true],
  ])("%s", async (_, status, isTransient) => {
    const { error, asked } = await postThrough(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
    expect(error).toMatchObject({ message: `the proxy answers ${status}`, isTransient });
    expect(asked).toEqual(["CONNECT b.invalid:443 HTTP/1.1"]);
  });

  test("that is silent ends the request after the usual timeout", async () => {
    const { error } = await postThrough("", 60);
    expect(error).toMatchObject({ message: "no answer in 0.06 s", isTransient: true });
  });

  test("stays unused for hosts in NO_PROXY", async () => {
    const url = await rawServer((socket) => socket.write(finalAnswer));
    const proxies = { httpProxy: "http://127.0.0.1:1", httpsProxy: "", noProxy: "127.0.0.1" };
    expect((await post(clientFor({ proxies }), url)).body).toBe("done");
    await expect(post(clientFor({ proxies: { ...proxies, noProxy: "" } }), url)).rejects.toThrow(
      "the proxy 127.0.0.1:1: connection refused",
    );
  });

  test("is named if its host does not exist", async () => {
    const proxies = { ...noProxies, httpProxy: "http://proxy.invalid:3128" };
    await expect(post(clientFor({ proxies }), "http://b.invalid")).rejects.toThrow(/^the proxy proxy\.invalid: /);
    await expect(post(clientFor(), "http://b.invalid")).rejects.toThrow(/^(?!the proxy)/);
  });

  test("must be given as a URL", () => {
    expect(() => clientFor({ proxies: { ...noProxies, httpProxy: "no url" } })).toThrow(TypeError);
  });
});

describe("interim answers", () => {
  const interims = [
    "HTTP/1.1 100 Continue\r\n\r\n",
    "HTTP/1.0 100 Continue\r\n\r\n",
    "HTTP/1.1 102 Processing\r\na: b\r\n\r\n",
    "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n",
    `HTTP/1.1 100 Continue\r\na: ${"b".repeat(9000)}\r\n\r\n`,
  ];

  test.each(interims)("give way to the final answer: %j", async (interim) => {
    const url = await rawServer((socket) => socket.write(interim + finalAnswer));
    const client = clientFor();
    for (const _ of [1, 2]) expect(await post(client, url)).toMatchObject({ status: 200, body: "done" });
  });

  test.each([1, 7, 12, 13, 24])("give way to the final answer in pieces of %i bytes", async (size) => {
    const bytes = `HTTP/1.1 100 Continue\r\n\r\n${finalAnswer}`;
    const url = await rawServer(async (socket) => {
      socket.setNoDelay();
      for (let at = 0; at < bytes.length; at += size) {
        socket.write(bytes.slice(at, at + size));
        await sleep(1);
      }
    });
    expect(await post(clientFor(), url)).toMatchObject({ status: 200, body: "done" });
  });

  test.each([
    "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
    `HTTP/1.1 100 Continue\r\na: ${"b".repeat(20_000)}\r\n\r\n${finalAnswer}`,
  ])("cause a fault if of another kind or too long: %.40s", async (answer) => {
    const url = await rawServer((socket) => socket.end(answer));
    await expect(post(clientFor(), url)).rejects.toMatchObject({ isTransient: true });
  });
});
