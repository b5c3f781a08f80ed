/**
 * Runs a command line of the program in this process, on the sources. Use it for what a run reads, writes and says: it takes some
 * milliseconds, a process several hundred. Signals, descriptors, limits of the system and the built files need run-idv.ts.
 */

import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { vi } from "vitest";
import { failureFor } from "../../src/cli/errors.js";
import { createProgram, normalizeArguments } from "../../src/cli/program.js";
import { allPrinted, standardOutput } from "../../src/cli/terminal/standard-output.js";
import { prepareLog, sayFailure } from "../../src/cli/terminal/terminal.js";
import { version } from "../../src/cli/version.js";
import type { Outcome, RunSettings } from "./run-settings.js";
import { temporaryFolder } from "./temporary-folder.js";

interface Settings extends Omit<RunSettings, "uid"> {
  /** Come on standard input one after another, as through a slow pipe. */
  readonly pieces?: readonly Uint8Array[];
  /** Columns of the terminal that standard error is taken for; none by default. */
  readonly columns?: number;
}

let hasBegun = false;

/** Returns whether a command is running in this process, which then runs no other. */
export const isRunning = (): boolean => hasBegun;

/**
 * Runs a command line as `idv` in run-idv.ts does, with the same results. One at a time: it changes the environment, the
 * working folder and the standard streams of this process until it ends. Not in threads, which have no working folder of their own:
 * the tests that Stryker runs (test/mutations/vitest.config.mjs) cannot use it.
 */
export async function idv(
  args: readonly string[],
  { home = temporaryFolder(), stdin = "", pieces = [], env = {}, columns }: Settings = {},
): Promise<Outcome> {
  if (hasBegun) throw new Error("a command is running in this process; wait for its end");
  hasBegun = true;
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  const restore = [
    keepSignals(),
    keepMask(),
    setEnvironment({ HOME: home, XDG_STATE_HOME: join(home, "state"), ...env }),
    setFolder(home),
    setArguments(args),
    setInput([Buffer.from(stdin), ...pieces]),
    setColumns(columns),
    holdWarnings(),
    collect(stdout, stderr),
  ];
  const { exitCode } = process;
  try {
    return { code: await run(args), ...decoded(stdout, stderr) };
  } finally {
    process.exitCode = exitCode;
    for (const undo of restore.reverse()) undo();
    hasBegun = false;
  }
}

/** Returns how to restore the mask of new files, which takes rights from the files of later tests. */
function keepMask(): () => void {
  const mask = process.umask();
  return () => {
    process.umask(mask);
  };
}

/** Runs the command as `runProgram` does, which would change this process for good. Returns the exit code. */
async function run(words: readonly string[]): Promise<number> {
  try {
    process.exitCode = 0;
    prepareLog(words);
    const program = await createProgram(version(), words);
    await program.parseAsync(normalizeArguments(program, words), { from: "user" });
    await allPrinted();
    return Number(process.exitCode);
  } catch (error) {
    await allPrinted();
    const failure = failureFor(error);
    // A bug, which a test must not take for a refusal.
    if (failure.stack !== undefined) throw error;
    sayFailure(failure);
    return failure.exitCode;
  }
}

const decoded = (stdout: readonly Buffer[], stderr: readonly Buffer[]) => ({
  stdout: Buffer.concat(stdout).toString("latin1"),
  stderr: Buffer.concat(stderr).toString("utf8"),
});

/** A command that has ended well ignores signals until its process ends, which is this one. */
function keepSignals(): () => void {
  const before = signals.map((name) => [name, process.listeners(name)] as const);
  return () => {
    for (const [name, listeners] of before) {
      process.removeAllListeners(name);
      for (const listener of listeners) process.on(name, listener);
    }
  };
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Leaves only PATH and the given variables. Returns what restores the others. */
function setEnvironment(variables: Readonly<Record<string, string>>): () => void {
  const before = { ...process.env };
  for (const name of Object.keys(before)) if (name !== "PATH") delete process.env[name];
  Object.assign(process.env, variables);
  return () => {
    for (const name of Object.keys(variables)) delete process.env[name];
    Object.assign(process.env, before);
  };
}

function setFolder(folder: string): () => void {
  const before = process.cwd();
  process.chdir(folder);
  return () => process.chdir(before);
}

function setArguments(args: readonly string[]): () => void {
  const before = process.argv;
  process.argv = [...before.slice(0, 2), ...args];
  return () => {
    process.argv = before;
  };
}

function setInput(pieces: readonly Uint8Array[]): () => void {
  const before = Object.getOwnPropertyDescriptor(process, "stdin")!;
  async function* slowly() {
    for (const piece of pieces) {
      yield piece;
      if (pieces.length > 1) await setTimeout(5);
    }
  }
  const value = Readable.from(slowly(), { objectMode: false });
  Object.defineProperty(process, "stdin", { configurable: true, value });
  return () => Object.defineProperty(process, "stdin", before);
}

function setColumns(columns: number | undefined): () => void {
  const { stderr } = process;
  const before = { isTTY: stderr.isTTY, columns: stderr.columns };
  Object.assign(stderr, { isTTY: columns !== undefined, columns });
  return () => void Object.assign(stderr, before);
}

/** Keeps warnings of Node.js, which may be about tests before, out of standard error until the run has ended. */
function holdWarnings(): () => void {
  const listeners = process.listeners("warning");
  const held: Error[] = [];
  const hold = (warning: Error) => void held.push(warning);
  process.removeAllListeners("warning").on("warning", hold);
  return () => {
    process.removeListener("warning", hold);
    for (const listener of listeners) process.on("warning", listener);
    for (const warning of held) for (const listener of listeners) listener(warning);
  };
}

function collect(stdout: Buffer[], stderr: Buffer[]): () => void {
  const output = vi.spyOn(standardOutput, "write").mockImplementation(async (bytes) => {
    // The caller reuses its memory.
    stdout.push(Buffer.from(bytes));
  });
  const errors = vi.spyOn(process.stderr, "write").mockImplementation((text: string | Uint8Array) => {
    stderr.push(Buffer.from(text));
    return true;
  });
  return () => {
    output.mockRestore();
    errors.mockRestore();
  };
}
