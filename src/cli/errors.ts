/** Maps errors to exit codes and messages. */
import { fileURLToPath } from "node:url";
import { CommanderError } from "commander";
import { TooManyItems } from "../core/kernel/distinct-table.js";
import { TableError } from "../core/table/errors.js";
import { AuthorisationError, ServiceError } from "../core/validator/errors.js";
import { Fault, faultKinds, type Place } from "../fault.js";
import { ClosedPipe } from "../files/errors.js";
import { StoreError } from "../state/errors.js";
import { UnitsLost } from "../state/quota/units-lost.js";
import { type ExitCode, exitCodes } from "./exit-codes.js";

export class UsageError extends Error {
  override readonly name = "UsageError";
}

export class EmptyInput extends Error {
  override readonly name = "EmptyInput";
}

export class Interrupted extends Error {
  override readonly name = "Interrupted";

  constructor(
    readonly signal: "SIGINT" | "SIGTERM" | "SIGHUP",
    message: string,
  ) {
    super(message);
  }
}

export interface Failure {
  readonly code?: string;
  readonly exitCode: number;
  readonly at?: Place;
  readonly message?: string;
  readonly plain?: string;
  /** Shown on terminals only: logs must not hold addresses. */
  readonly excerpt?: TableError["excerpt"];
  readonly stack?: string;
}

const exitCodesByError: readonly (readonly [new (...given: never[]) => Error, ExitCode])[] = [
  [UsageError, exitCodes.usage],
  [EmptyInput, exitCodes.failOn],
  [AuthorisationError, exitCodes.notAuthorised],
  [UnitsLost, exitCodes.quotaExhausted],
  [ServiceError, exitCodes.service],
  [StoreError, exitCodes.inputOutput],
  [TooManyItems, exitCodes.inputOutput],
];

/** Unknown errors are bugs and keep their stack. */
export function failureFor(error: unknown): Failure {
  if (error instanceof ClosedPipe) return { exitCode: exitCodes.done };
  // commander has printed its message, the help or the version itself.
  if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? exitCodes.done : exitCodes.usage };
  if (!(error instanceof Error)) return { exitCode: exitCodes.bug, message: bug, stack: String(error) };
  const { message } = error;
  if (error instanceof Fault) {
    const { code, at, plain } = error;
    const excerpt = error instanceof TableError ? error.excerpt : undefined;
    const { exitCode } = faultKinds[code];
    return { code, exitCode, message, plain, ...(at && { at }), ...(excerpt && { excerpt }) };
  }
  const [, known] = exitCodesByError.find(([type]) => error instanceof type) ?? [];
  if (known !== undefined) return { exitCode: known, message };
  const signalNumbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };
  if (error instanceof Interrupted) return { exitCode: 128 + signalNumbers[error.signal], message };
  const want = wantOf(error);
  if (want !== undefined) return { exitCode: exitCodes.inputOutput, message: want };
  const part = missingPart(error);
  if (part !== undefined) {
    return { exitCode: exitCodes.bug, message: `a part of idv is missing: ${part}; install idv again` };
  }
  return { exitCode: exitCodes.bug, message: bug, stack: error.stack ?? message };
}

const bug = "a bug in idv; please report it with the lines that follow";

function missingPart({ code, path, message }: NodeJS.ErrnoException): string | undefined {
  if (code === "MODULE_NOT_FOUND" || code === "ERR_MODULE_NOT_FOUND") return /'(.+?)'/.exec(message)?.[1];
  const folder = fileURLToPath(new URL("..", import.meta.url));
  return code === "ENOENT" && path?.startsWith(folder) ? path : undefined;
}

function wantOf({ code, syscall }: NodeJS.ErrnoException): string | undefined {
  if (syscall === "uv_cwd") return "the working folder does not exist any more; change to another one";
  if (code === "EMFILE" || code === "ENFILE") return "too many open files; raise the limit with ulimit -n";
  return undefined;
}
