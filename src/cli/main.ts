/** Entry point of the program. */
import { writeSync } from "node:fs";
import { version } from "./version.js";

/**
 * Runs the program. The exit code is set instead of ending the process, so that output on its way still arrives.
 *
 * @param argv node, the script, and the words that the user typed
 */
export async function main(argv: readonly string[]): Promise<void> {
  const words = argv.slice(2);
  if (words.length === 1 && ["--version", "-V"].includes(words[0]!)) {
    try {
      // To load the rest of the program would take twice as long as Node.js itself.
      writeSync(1, `${version()}\n`);
      return;
    } catch {
      // The program says what is wrong with the output.
    }
  }
  const { runProgram } = await import("./run-program.js");
  await runProgram(argv);
}
