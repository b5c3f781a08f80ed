import { CommanderError } from "commander";
import { StoreError } from "../store/sqlite.js";
import { ClosedPipe, TableChoiceError, TableError } from "../table/errors.js";
import { AuthorisationError, ServiceError } from "../validator/errors.js";
import { exitCodes } from "./exit-codes.js";

/** The command line asks for something that cannot be. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The run was ended by a signal. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";

  constructor(
    readonly signal: "SIGINT" | "SIGTERM" | "SIGHUP",
    message: string,
  ) {
    super(message);
  }
}

/** What the program does about an error: its exit code, and what stderr says, if anything. */
export interface Failure {
  readonly exitCode: number;
  readonly message?: string;
  /** Where a bug is: lines that follow the message. */
  readonly stack?: string;
}

/** Maps every error that can end the program. Errors that it does not know are bugs and keep their stack. */
export function explainFailure(error: unknown): Failure {
  if (error instanceof ClosedPipe) return { exitCode: exitCodes.done };
  if (error instanceof CommanderError) {
    // commander has printed its message, the help or the version itself.
    return { exitCode: error.exitCode === 0 ? exitCodes.done : exitCodes.usage };
  }
  if (error instanceof UsageError || error instanceof TableChoiceError) {
    return { exitCode: exitCodes.usage, message: error.message };
  }
  if (error instanceof AuthorisationError) {
    return { exitCode: exitCodes.notAuthorised, message: error.message };
  }
  if (error instanceof ServiceError) return { exitCode: exitCodes.service, message: error.message };
  if (error instanceof TableError || error instanceof StoreError) {
    return { exitCode: exitCodes.inputOutput, message: error.message };
  }
  if (error instanceof Interrupted) {
    const signalNumbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };
    return { exitCode: 128 + signalNumbers[error.signal], message: error.message };
  }
  return {
    exitCode: exitCodes.bug,
    message: "a bug in idv; please report it with the lines that follow",
    stack: error instanceof Error ? (error.stack ?? error.message) : String(error),
  };
}
