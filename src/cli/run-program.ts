/** Runs the user's command, and maps its errors to exit codes. */
import { ClosedPipe } from "../files/errors.js";
import { keepCode } from "../package/own-files.js";
import { failureFor, Interrupted } from "./errors.js";
import { exitCodes } from "./exit-codes.js";
import { createProgram, normalizeArguments } from "./program.js";
import { isFinished } from "./terminal/interruption.js";
import { allPrinted } from "./terminal/standard-output.js";
import { prepareLog, say, sayFailure } from "./terminal/terminal.js";
import { version } from "./version.js";

export async function runProgram(argv: readonly string[]): Promise<void> {
  silenceWarnings();
  // The reader is gone: not worth a stack trace.
  process.stderr.on("error", () => {});
  process.stdout.on("error", () => {});
  endWithParent();
  // Node.js ends when it has nothing to wait for, even if the command has not finished.
  const onStopped = () => {
    process.exitCode = exitCodes.bug;
    say("a bug in idv: the command stopped before its end; please report it");
  };
  process.once("beforeExit", onStopped);
  try {
    process.exitCode = 0;
    const words = argv.slice(2);
    prepareLog(words);
    const program = await createProgram(version(), words);
    await program.parseAsync(normalizeArguments(program, words), { from: "user" });
    keepCodeAtExit();
    await allPrinted();
    await allSaid();
    // When Node.js ends by itself, it first stops listening to signals: one that comes then would end it, with another code.
    if (isFinished()) process.exit();
  } catch (thrown) {
    const error = await allPrinted().then(
      () => thrown,
      (failure) => (failureFor(thrown).exitCode === 0 ? failure : thrown),
    );
    const failure = failureFor(error);
    const { exitCode, stack } = failure;
    process.exitCode = exitCode;
    if (error instanceof ClosedPipe) keepCodeAtExit();
    sayFailure(failure);
    if (stack !== undefined) process.stderr.write(`${stack}\n`);
    // An open pipe on standard input would keep the process alive. After a signal, so would output that is never read.
    process.stdin.destroy();
    if (error instanceof Interrupted) process.exit();
  } finally {
    process.removeListener("beforeExit", onStopped);
  }
}

/** A command that fails, or only prints its help, has compiled too little for the next one. */
const keepCodeAtExit = () => process.once("exit", keepCode);

/** Longest wait for a reader of standard error, in milliseconds. */
const patience = 60_000;

/** A pipe takes 64 KiB at once, and a summary of many files is longer. */
const allSaid = (): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, patience);
    process.stderr.write("", () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** A parent that opened a channel, such as the service that runs a list, may be gone. */
function endWithParent(): void {
  if (process.channel === undefined) return;
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel?.unref();
}

/** Hides the warning that Node's SQLite is experimental: users can do nothing about it. */
function silenceWarnings(): void {
  process.removeAllListeners("warning");
  process.on("warning", (warning) => {
    if (warning.name !== "ExperimentalWarning") say(`${warning.name}: ${warning.message}`);
  });
}
