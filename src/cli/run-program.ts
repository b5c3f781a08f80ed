/** Runs the command that the user typed, and maps its errors to exit codes. */
import { failureFor, Interrupted } from "./errors.js";
import { exitCodes } from "./exit-codes.js";
import { createProgram, normalizeArguments } from "./program.js";
import { allPrinted } from "./terminal/standard-output.js";
import { say, sayFailure } from "./terminal/terminal.js";
import { version } from "./version.js";

/**
 * Parses the words, runs the command, and reports its errors. It sets the exit code instead of ending the process, so that
 * output on its way still arrives.
 *
 * @param argv node, the script, and the words that the user typed
 */
export async function runProgram(argv: readonly string[]): Promise<void> {
  silenceWarnings();
  // The reader is gone: not worth a stack trace.
  process.stderr.on("error", () => {});
  process.stdout.on("error", () => {});
  endWithParent();
  // Node.js ends when there is nothing left to wait for, even if the command has not come to its end.
  const onStopped = () => {
    process.exitCode = exitCodes.bug;
    say("a bug in idv: the command stopped before its end; please report it");
  };
  process.once("beforeExit", onStopped);
  try {
    process.exitCode = 0;
    const words = argv.slice(2);
    const program = await createProgram(version(), words);
    await program.parseAsync(normalizeArguments(program, words), { from: "user" });
    await allPrinted();
  } catch (thrown) {
    const error = await allPrinted().then(
      () => thrown,
      (failure) => (failureFor(thrown).exitCode === 0 ? failure : thrown),
    );
    const failure = failureFor(error);
    const { exitCode, stack } = failure;
    process.exitCode = exitCode;
    sayFailure(failure);
    if (stack !== undefined) process.stderr.write(`${stack}\n`);
    // An open pipe on standard input would keep the process alive. After a signal, so would output that nobody reads.
    process.stdin.destroy();
    if (error instanceof Interrupted) process.exit();
  } finally {
    process.removeListener("beforeExit", onStopped);
  }
}

/** Ends the program when a process that has opened a channel to it is gone, as the service over a list. */
function endWithParent(): void {
  if (process.channel === undefined) return;
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  // The channel alone is no reason to go on.
  process.channel?.unref();
}

/** Hides the warning that Node's SQLite is experimental, which users cannot do anything about. */
function silenceWarnings(): void {
  process.removeAllListeners("warning");
  process.on("warning", (warning) => {
    if (warning.name !== "ExperimentalWarning") say(`${warning.name}: ${warning.message}`);
  });
}
