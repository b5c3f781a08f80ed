/**
 * Runs the command line over a list, as a child process: a list that needs too much memory or time ends only that
 * process. Reads the lines of JSON that it writes to standard error.
 */
import type { ChildProcess } from "node:child_process";
import type { Kind } from "../validator/validator.js";
import { ListFault } from "./list-fault.js";

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

export type Line = Readonly<Record<string, unknown>>;

export interface ProgramEnd {
  readonly exitCode: number;
  /** The last lines of JSON, without those about progress. */
  readonly lines: readonly Line[];
}

export const command = (kind: Kind, name: string, args: readonly string[]): readonly string[] => [
  kind === "email" ? "emails" : "domains",
  name.startsWith("-") ? `./${name}` : name,
  ...args,
  ...["--log", "json"],
];

/**
 * Waits for the end of a process.
 *
 * @param onProgress is called with each line about progress
 * @throws ListFault when the process was ended by a signal
 */
export async function follow(child: ChildProcess, onProgress: (line: Line) => void): Promise<ProgramEnd> {
  const lines: Line[] = [];
  let rest = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => {
    const parts = (rest + text).split("\n");
    rest = (parts.pop() ?? "").slice(-100_000);
    for (const part of parts) {
      const line = parseLine(part);
      if (line === undefined) continue;
      if ("share" in line) onProgress(line);
      else lines.push(line);
      if (lines.length > 100) lines.shift();
    }
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (exitCode === null) {
    throw new ListFault(500, "The check was stopped: out of memory? Use the command line.");
  }
  return { exitCode, lines };
}

/** Returns undefined for a line of a bug, which may name paths of the server. */
function parseLine(text: string): Line | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Line;
  } catch {}
  return undefined;
}

/**
 * Returns the last fault that the command line named, in words for people who do not see its options.
 *
 * @param folder of the process, which the messages leave out
 */
export function faultIn(lines: readonly Line[], folder: string): string {
  const { message = "the list cannot be checked" } = lines.findLast(({ type }) => type === "error") ?? {};
  return String(message)
    .replaceAll(`${folder}/`, "")
    .replaceAll("./", "")
    .replace(', or all with -c "*"', "")
    .replace(/, or pass --.*$/, "")
    .replace("the column with -c", "the column")
    .replace(/ with -c\b/, " as the column");
}
