/** idv as a child process, for the service, `idv mcp` and the GitHub Action: reads its log (`--log json`). */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import type { Facts } from "./core/facts/facts.js";

export interface OwnProgram {
  readonly program: string;
  readonly words: readonly string[];
}

export interface Progress {
  readonly rows: number;
  readonly share: number | null;
  readonly units: number;
}

interface ProgramFault {
  readonly code: string;
  readonly message: string;
  readonly plain: string;
}

export interface ProgramEnd {
  readonly exitCode: number | null;
  /** Facts of the last file, or of all files of several. */
  readonly facts: Facts | undefined;
  readonly fault: ProgramFault | undefined;
}

/** In characters: the facts of many files, or of a table with many columns, are one line. */
const longestLine = 16_777_216;

type Line = { readonly type?: unknown } & Readonly<Record<string, unknown>>;

export const startProgram = (
  { program, words }: OwnProgram,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess => spawn(program, [...words, ...args], options);

/** Waits for the end of a child. @throws Error when it could not be started */
export async function endOf(
  child: ChildProcess,
  onProgress: (progress: Progress) => void = () => {},
): Promise<ProgramEnd> {
  let facts: Facts | undefined;
  let fault: ProgramFault | undefined;
  let rest = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
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

export function factsIn(lines: readonly string[]): readonly Facts[] {
  const found = lines.map(lineOf);
  const of = (type: string) => found.filter((line) => line?.type === type) as unknown as Facts[];
  const totals = of("total");
  return totals.length > 0 ? totals : of("summary");
}

/** Returns undefined for lines that are not objects, such as those of a bug, which may name paths. */
function lineOf(text: string): Line | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Line) : undefined;
  } catch {
    return undefined;
  }
}
