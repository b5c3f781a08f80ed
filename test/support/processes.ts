/** Processes that tests start: what they say, and how they end. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { command, finished, shellCommand } from "./run-idv.js";
import type { Outcome } from "./run-settings.js";

/** Another user to run the program as if the tests run as root, who may write anywhere. */
export const asSomebody = process.getuid?.() === 0 ? { uid: 65_534 } : {};

/** Returns how to read all that a stream has given so far. */
export function collected(stream: Readable | null): () => string {
  let text = "";
  stream?.on("data", (chunk: Buffer) => {
    text += chunk;
  });
  return () => text;
}

/** Sends a signal to a process, and returns its exit code and the signal that has ended it. */
export async function endedBy(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown[]> {
  const exited = once(child, "exit");
  child.kill(signal);
  return exited;
}

/** Sends a signal to a run once something is so, or when it has ended. Returns its outcome. */
export async function killedWhen(
  child: ChildProcess,
  isSo: () => boolean | Promise<boolean>,
  signal: NodeJS.Signals = "SIGKILL",
): Promise<Outcome> {
  const outcome = finished(child);
  while (child.exitCode === null && !(await isSo())) await sleep(5);
  child.kill(signal);
  return outcome;
}

/** Starts a line of bash in a home; `"$@"` in it, and `idv ` at the start of a command, are the program with its words. */
export function startInShell(line: string, args: readonly string[], home: string) {
  const env = { PATH: process.env["PATH"], HOME: home, XDG_STATE_HOME: join(home, "state") };
  const script = line.replaceAll("idv ", `${shellCommand} `);
  return spawn("bash", ["-c", script, "_", ...command, ...args], {
    ...{ cwd: home, env: { ...env, NODE_DISABLE_COMPILE_CACHE: "1" } },
  });
}

/** Puts `idv` into the folder `bin` of a home. Returns a PATH with it. */
export function pathWithIdv(home: string): string {
  const bin = join(home, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "idv"), `#!/bin/sh\nexec ${shellCommand} "$@"\n`);
  chmodSync(join(bin, "idv"), 0o755);
  return `${bin}:${process.env["PATH"]}`;
}

/** Returns the address at which a server says on standard error that it listens. */
export async function addressOf(child: ChildProcess): Promise<string> {
  const said = collected(child.stderr);
  for (;;) {
    const address = /listening on (http:\S+)/.exec(said())?.[1];
    if (address) return address;
    await once(child.stderr!, "data");
  }
}

/** Opens a connection to a server, writes to it, and returns all that arrives until it closes. */
export async function talk(url: string, text: string, write?: (socket: Socket) => unknown): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on("error", () => {});
  const said = collected(socket);
  socket.write(text);
  write?.(socket);
  // It may end with an error, too.
  await new Promise((resolve) => socket.once("close", resolve));
  return said();
}
