/** Covers deadlines: a request ends at whatever stage a proxy or the service falls silent. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { finished, idv, startIdv } from "../../support/run-idv.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { some } from "../../support/tier.js";

const servers: Server[] = [];
const sockets = new Set<Socket>();
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});

/** Starts a loopback server that sends `answer` after the first bytes of each connection, then nothing. */
async function silentServer(answer?: string): Promise<string> {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => answer !== undefined && socket.write(answer));
  });
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return `127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

function homeWithList(): string {
  const home = temporaryFolder();
  writeFileSync(join(home, "list.csv"), "email\nann@larch-and-oak.com\n");
  return home;
}

const limits = ["--set", "timeout=300ms", "--set", "retryBudget=1s", "--set", "maxRetries=2"];

/** Silent proxies and services, each with the base URL and the environment that lead to it. */
const silences: readonly (readonly [string, () => Promise<{ url: string; env?: Record<string, string> }>])[] = [
  [
    "a proxy that does not answer CONNECT",
    async () => ({ url: "https://validation.example.com", env: { HTTPS_PROXY: `http://${await silentServer()}` } }),
  ],
  [
    "a tunnel that stays silent",
    async () => ({
      url: "https://validation.example.com",
      env: { HTTPS_PROXY: `http://${await silentServer("HTTP/1.1 200 OK\r\n\r\n")}` },
    }),
  ],
  ["a service without a TLS handshake", async () => ({ url: `https://${await silentServer()}` })],
  ["a service that sends no header", async () => ({ url: `http://${await silentServer()}` })],
  [
    "a service that sends half a body",
    async () => ({ url: `http://${await silentServer("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{")}` }),
  ],
];

describe("a run ends within timeout and retryBudget", () => {
  test.each(some(silences, 2))("with %s", async (_, make) => {
    const { url, env } = await make();
    const { code, stderr } = await idv(["emails", "list.csv", "--base-url", url, ...limits], {
      home: homeWithList(),
      env: { IDV_API_KEY: "sk_1", ...env },
    });
    expect(code).toBe(5);
    expect(stderr).toContain(`${url}: no answer in 0.`);
  });
});

describe("SIGTERM ends a run while it waits", () => {
  test.each(some(silences, 2))("for %s", async (_, make) => {
    const { url, env } = await make();
    const child = startIdv(["emails", "list.csv", "--base-url", url], {
      home: homeWithList(),
      env: { IDV_API_KEY: "sk_1", ...env },
    });
    const outcome = finished(child);
    // Once the silent server has a connection, the request is on its way.
    const before = sockets.size;
    await expect.poll(() => sockets.size).toBeGreaterThan(before);
    child.kill("SIGTERM");
    expect((await outcome).code).toBe(143);
  });
});
