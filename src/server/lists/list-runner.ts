/** Runs the command line over a list as a child process: a list that needs too much memory or time ends only that process. */
import type { ChildProcess } from "node:child_process";
import type { ProgramEnd } from "../../child-program.js";
import type { Kind } from "../../core/validator/validator.js";

/** Implemented by the caller that composes the service. */
export interface ListRunner {
  /**
   * Starts idv in a folder. The process ends with this one.
   *
   * @param charge key whose quota is charged, the name under which all attempts at a list are paid once, and the reservation of this one; undefined
   *   for a dry run
   */
  readonly start: (
    args: readonly string[],
    folder: string,
    charge: { readonly keyId: string; readonly run: string; readonly reservation: string } | undefined,
  ) => ChildProcess;
  /** Time limit of the dry run that detects the table, in milliseconds. */
  readonly lookMilliseconds: number;
}

export const command = (kind: Kind, name: string, args: readonly string[]): readonly string[] => [
  kind === "email" ? "emails" : "domains",
  name.startsWith("-") ? `./${name}` : name,
  ...args,
  ...["--log", "json"],
];

/** Returns the fault of a run that has failed, in words for people who do not see options. */
export const faultIn = ({ fault }: ProgramEnd): string => fault?.plain ?? "the list cannot be checked";
