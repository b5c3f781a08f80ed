/**
 * Runs the program with a clean environment: the built one in a process of its own, and in the quick tier in this process where
 * a process proves nothing more.
 */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterFile } from "./clean-up.js";
import type { Outcome, RunSettings } from "./run-settings.js";
import { temporaryFolder } from "./temporary-folder.js";
import { isFull } from "./tier.js";

/** The built program, the one of the installed package (see install-package.ts), or a binary. */
export const program = process.env["IDV_TEST_PROGRAM"] ?? fileURLToPath(new URL("../../bin/idv.js", import.meta.url));
/** Words that start it: a script by Node.js, a binary by itself. */
export const command: readonly string[] = program.endsWith(".js") ? [process.execPath, program] : [program];
/** The same for a shell. */
export const shellCommand = command.map((word) => `'${word}'`).join(" ");
export const fixtures = fileURLToPath(new URL("../../fixtures/", import.meta.url));

/** Gives a copy of the program in a folder the SQLite that it needs with Node.js 20. */
export function linkSqlite(folder: string): void {
  const modules = fileURLToPath(new URL("../../node_modules/@photostructure", import.meta.url));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(modules, join(folder, "node_modules/@photostructure"));
}

/** Whether this file of tests has started the built program. */
let hasStarted = false;

/** Starts the built program. */
export function spawnProgram<Options extends SpawnOptions>(args: readonly string[], options: Options) {
  if (!hasStarted) afterFile(() => (hasStarted = false));
  hasStarted = true;
  const [file = "", ...words] = command;
  return spawn(file, [...words, ...args], options);
}

/** Starts the built program; its environment has only PATH, its own folders and `settings.env`. */
export function startIdv(args: readonly string[], settings: RunSettings = {}): ChildProcess {
  const home = settings.home ?? temporaryFolder();
  return spawnProgram(args, {
    cwd: home,
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      XDG_STATE_HOME: join(home, "state"),
      // A folder of compiled code would appear in each home.
      NODE_DISABLE_COMPILE_CACHE: "1",
      ...settings.env,
    },
    ...(settings.uid !== undefined && { uid: settings.uid }),
  });
}

/**
 * Runs the program to its end; `stdout` is decoded as Latin-1, which keeps every byte. In the quick tier, the first run of a file
 * of tests that has started no service either, and those at the same time as another, are the built program, and the others run in
 * this process.
 */
export async function idv(args: readonly string[], settings: RunSettings = {}): Promise<Outcome> {
  const isOfNode = Object.keys(settings.env ?? {}).some((name) => name.startsWith("NODE_"));
  // A service takes over what happens to its process.
  const isService = args[0] === "serve" && !args.includes("--check");
  const isOfProcess = isOfNode || settings.uid !== undefined || isService;
  if (!isFull && hasStarted && !isOfProcess) {
    const here = await import("./run-here.js");
    if (!here.isRunning()) return here.idv(args, settings);
  }
  return idvProcess(args, settings);
}

/** The same, always by the built program: for what depends on its process, such as its end or its number. */
export async function idvProcess(args: readonly string[], settings: RunSettings = {}): Promise<Outcome> {
  const child = startIdv(args, settings);
  child.stdin?.on("error", () => {});
  child.stdin?.end(settings.stdin ?? "");
  return finished(child);
}

/** Waits for the end of a started program; returns its output and exit code. */
export function finished(child: ChildProcess): Promise<Outcome> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr?.on("data", (chunk: Buffer) => stderr.push(chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) =>
      resolve({
        code,
        stdout: Buffer.concat(stdout).toString("latin1"),
        stderr: Buffer.concat(stderr).toString("utf8"),
      }),
    );
  });
}
