// Starts the servers of the benchmarks, each in its own process.
import { execFileSync, spawn } from "node:child_process";

export const root = new URL("../..", import.meta.url).pathname;

/** Starts a server and resolves when it prints its address. */
export async function startServer(...command) {
  const child = spawn(process.execPath, command, { cwd: root, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  const url = await new Promise((resolve, reject) => {
    child.once("exit", () => reject(new Error(said)));
    child.stderr.on("data", (chunk) => {
      said += chunk;
      const [, address] = /listening on (http:\S+)/.exec(said) ?? [];
      if (address) resolve(address);
    });
  });
  return { child, url };
}

/** Starts `idv serve` with a key that has a limit, so that every request is a durable transaction. */
export async function startIdvServe(state) {
  const create = ["bin/idv.js", "keys", "create", "--name", "bench", "--limit", "1000000000000"];
  const options = { cwd: root, stdio: ["ignore", "pipe", "ignore"] };
  const key = String(execFileSync(process.execPath, [...create, "--state", state], options)).trim();
  const server = await startServer("bin/idv.js", "serve", "--port", "0", "--quiet", "--state", state);
  return { ...server, key };
}
