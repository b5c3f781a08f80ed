/** Covers deadlines: a request ends at whatever stage a proxy or the service falls silent. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { afterFile } from "../../support/clean-up.js";
import { endedBy } from "../../support/processes.js";
import { idv, startIdv } from "../../support/run-idv.js";
import { folderOf } from "../../support/temporary-folder.js";
import { some } from "../../support/tier.js";

const sockets = new Set<Socket>();
afterFile(() => {
  for (const socket of sockets) socket.destroy();
});

/** Starts a loopback server that sends `answer` after the first bytes of each connection, then nothing. */
async function silentServer(answer?: string): Promise<string> {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => answer !== undefined && socket.write(answer));
  });
  afterFile(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const limits = ["--set", "timeout=300ms", "--set", "retryBudget=1s", "--set", "maxRetries=2"];

/** Silent proxies and services: what each is, the start of the base URL that leads to it, and what it says first. */
type Silence = [what: string, scheme: "behind" | "http://" | "https://", answer?: string];
const silences: Silence[] = [
  ["a proxy that does not answer CONNECT", "behind"],
  ["a tunnel that stays silent", "behind", "HTTP/1.1 200 OK\r\n\r\n"],
  ["a service without a TLS handshake", "https://"],
  ["a service that sends no header", "http://"],
  ["a service that sends half a body", "http://", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"],
];

/** Starts a silent server. Returns the base URL, and the settings of a run. */
async function silence([, scheme, answer]: Silence) {
  const address = await silentServer(answer);
  const isProxy = scheme === "behind";
  const env = { IDV_API_KEY: "sk_1", ...(isProxy && { HTTPS_PROXY: `http://${address}` }) };
  const home = folderOf({ "list.csv": "email\nann@larch-and-oak.com\n" });
  return { url: isProxy ? "https://validation.example.com" : scheme + address, settings: { home, env } };
}

test.each(some(silences, 2))("a run ends within timeout and retryBudget with %s", async (...made) => {
  const { url, settings } = await silence(made);
  const outcome = await idv(["emails", "list.csv", "--base-url", url, ...limits], settings);
  expect(outcome).toMatchObject({ code: 5, stderr: expect.stringContaining(`${url}: no answer in 0.`) });
});

test.each(some(silences, 2))("SIGTERM ends a run while it waits for %s", async (...made) => {
  const { url, settings } = await silence(made);
  const child = startIdv(["emails", "list.csv", "--base-url", url], settings);
  // Once the silent server has a connection, the request is on its way.
  const before = sockets.size;
  await expect.poll(() => sockets.size).toBeGreaterThan(before);
  expect(await endedBy(child, "SIGTERM")).toEqual([143, null]);
});
