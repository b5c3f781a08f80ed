/** haproxy in front of servers of the test, with the file that `src/package/deploy/proxies` gives. */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { afterFile } from "./clean-up.js";
import { freePort } from "./free-port.js";
import { temporaryFolder } from "./temporary-folder.js";

const file = fileURLToPath(new URL("../../src/package/deploy/proxies/haproxy.cfg", import.meta.url));

/**
 * Writes a configuration for servers, given as host and port, into a folder and returns its path. Everything but addresses stays
 * as it is in `src/package/deploy/proxies`.
 */
export function haproxyFile(folder: string, port: number, servers: readonly string[]): string {
  const text = readFileSync(file, "utf8");
  const lines = servers.map((server, i) => `  server server${i + 1} ${server}\n`).join("");
  const changed = text.replace("bind :8080", `bind 127.0.0.1:${port}`).replace(/(?: {2}server server\d .*\n)+/, lines);
  for (const part of [`127.0.0.1:${port}`, ...servers]) expect(changed).toContain(part);
  const path = join(folder, "haproxy.cfg");
  writeFileSync(path, changed);
  return path;
}

/** Starts haproxy in front of servers and returns its URL, once all of them are behind it. */
export async function startHaproxy(servers: readonly { readonly url: string }[]): Promise<string> {
  const port = await freePort();
  const hosts = servers.map(({ url }) => new URL(url).host);
  const child = spawn("haproxy", ["-db", "-f", haproxyFile(temporaryFolder(), port, hosts)], { stdio: "ignore" });
  afterFile(() => child.kill("SIGTERM"));
  const url = `http://127.0.0.1:${port}`;
  const status = () =>
    fetch(`${url}/readyz`).then(
      (response) => response.status,
      () => 0,
    );
  await expect.poll(status, { timeout: 120_000 }).toBe(200);
  return url;
}
