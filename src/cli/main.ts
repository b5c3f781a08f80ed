import { readFileSync } from "node:fs";
import { explainFailure, Interrupted } from "./errors.js";
import { createProgram, normalizeArguments } from "./program.js";
import { allPrinted } from "./terminal/standard-output.js";
import { say } from "./terminal/terminal.js";

/**
 * The program: parses, runs the command, maps what it throws, and leaves the exit code to the process. Nothing
 * else below sets it or ends the process, so that output that is still on its way arrives.
 *
 * @param argv node, the script, and what the user typed
 */
export async function main(argv: readonly string[]): Promise<void> {
  silenceWarnings();
  // Nobody is there to read it: not worth a stack trace.
  process.stderr.on("error", () => {});
  process.stdout.on("error", () => {});
  try {
    process.exitCode = 0;
    await createProgram(version()).parseAsync(normalizeArguments(argv));
    await allPrinted();
  } catch (thrown) {
    const error = await allPrinted().then(
      () => thrown,
      (failure) => (explainFailure(thrown).exitCode === 0 ? failure : thrown),
    );
    const { exitCode, message, stack } = explainFailure(error);
    process.exitCode = exitCode;
    if (message !== undefined) say(message);
    if (stack !== undefined) process.stderr.write(`${stack}\n`);
    // An open pipe on standard input would keep the process waiting for its end, and a reader that has stopped
    // reading, or never comes, would keep it from obeying a signal.
    process.stdin.destroy();
    if (error instanceof Interrupted) process.exit();
  }
}

function version(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** Node warns that its SQLite is experimental; that is not for our users to worry about. */
function silenceWarnings(): void {
  process.removeAllListeners("warning");
  process.on("warning", (warning) => {
    if (warning.name !== "ExperimentalWarning") say(`${warning.name}: ${warning.message}`);
  });
}
