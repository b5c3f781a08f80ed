/** Runs the command line over a list as a child process: too much memory or time ends only that process. */
import type { ChildProcess } from "node:child_process";
import type { ProgramEnd } from "../../child-program.js";
import type { Kind } from "../../core/validator/validator.js";

export interface ListRunner {
  /** Ends with this process. `charge` names the key, the run (paid once) and its attempt; undefined for a dry run. */
  readonly start: (
    args: readonly string[],
    folder: string,
    charge: { readonly keyId: string; readonly run: string; readonly reservation: string } | undefined,
  ) => ChildProcess;
  /** Time limit of the dry run that detects the table. */
  readonly lookMilliseconds: number;
}

export const command = (kind: Kind, name: string, args: readonly string[]): readonly string[] => [
  kind === "email" ? "emails" : "domains",
  name.startsWith("-") ? `./${name}` : name,
  ...args,
  ...["--log", "json"],
];

export const faultIn = ({ fault }: ProgramEnd): string => fault?.plain ?? "the list cannot be checked";
