/**
 * idv as a child process, for whoever lets the command line do the work: the service, `idv mcp` and the GitHub Action. The child
 * writes an object a line to standard error (`--log json`): facts, faults, notes and progress.
 */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import type { Facts } from "./core/facts/facts.js";

/** The words that start idv. */
export interface OwnProgram {
  readonly program: string;
  readonly words: readonly string[];
}

export interface Progress {
  readonly rows: number;
  /** From 0 to 1; null if it is not known. */
  readonly share: number | null;
  readonly units: number;
}

interface ProgramFault {
  readonly code: string;
  readonly message: string;
  /** The message for people who do not see options. */
  readonly plain: string;
}

export interface ProgramEnd {
  /** Null if a signal has ended it. */
  readonly exitCode: number | null;
  /** Those of the last file, or of all files of several. */
  readonly facts: Facts | undefined;
  readonly fault: ProgramFault | undefined;
}

/** Longest line that is read, in characters: the facts of many files, or of a table with many columns. */
const longestLine = 16_777_216;

type Line = { readonly type?: unknown } & Readonly<Record<string, unknown>>;

export const startProgram = (
  { program, words }: OwnProgram,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess => spawn(program, [...words, ...args], options);

/**
 * Waits for the end of a child.
 *
 * @param onProgress is called with each line about progress
 * @throws Error when it could not be started
 */
export async function endOf(
  child: ChildProcess,
  onProgress: (progress: Progress) => void = () => {},
): Promise<ProgramEnd> {
  let facts: Facts | undefined;
  let fault: ProgramFault | undefined;
  let rest = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    // A line that is longer is no fact; what is left of it is not JSON.
    rest = (lines.pop() ?? "").slice(-longestLine);
    for (const line of lines) {
      const value = lineOf(line);
      if (value?.type === "progress") onProgress(value as unknown as Progress);
      else if (value?.type === "error") fault = value as unknown as ProgramFault;
      else if (value !== undefined) facts = factsIn([line])[0] ?? facts;
      // Commands without facts have no --log.
      else if (line.startsWith("idv: ")) fault = textFault(line.slice("idv: ".length));
    }
  });
  const [exitCode] = (await once(child, "close")) as [number | null];
  return { exitCode, facts, fault };
}

const textFault = (message: string): ProgramFault => ({ code: "", message, plain: message });

/** Returns the facts in lines of a log: those of all files together or, where a run has ended before, those of each. */
export function factsIn(lines: readonly string[]): readonly Facts[] {
  const found = lines.map(lineOf);
  const of = (type: string) => found.filter((line) => line?.type === type) as unknown as Facts[];
  const totals = of("total");
  return totals.length > 0 ? totals : of("summary");
}

/** Returns undefined for what is no object, such as the lines of a bug, which may name paths. */
function lineOf(text: string): Line | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Line) : undefined;
  } catch {
    return undefined;
  }
}
