/** Entry point. Answers `--version` before it loads anything else, which takes half of the time that commander adds. */
import { writeSync } from "node:fs";
import { version, versionFacts } from "./version.js";

/** Sets the exit code instead of ending the process, so that pending output still arrives. */
export async function main(argv: readonly string[]): Promise<void> {
  const words = argv.slice(2);
  const isVersion = words.some((word) => word === "--version" || word === "-V");
  const isJson = words.length === 2 && words.includes("--json");
  if (isVersion && (words.length === 1 || isJson)) {
    try {
      writeSync(1, `${isJson ? JSON.stringify(versionFacts()) : version()}\n`);
      return;
    } catch {
      // The program below reports the fault of the output.
    }
  }
  const { runProgram } = await import("./run-program.js");
  await runProgram(argv);
}
