/** What the error of a failed run says besides its reason: what the run has cost, or how to resume it. */
import type { RunSession } from "../../run/session.js";
import type { Engine } from "../engines/engine.js";
import { failureFor, Interrupted } from "../errors.js";
import { exitCodes } from "../exit-codes.js";
import { counted } from "../terminal/terminal.js";
import { commandLine } from "./command-line.js";
import type { Opened } from "./open.js";

/** Returns whether the units of a run are missed: they are a service's, or those of a quota with a limit. */
export const isCharged = ({ validator }: Engine, { quota }: RunSession): boolean =>
  validator.embedded === undefined || quota?.()?.left !== null;

/**
 * Returns the end of the error message: the command that resumes the run with the verdicts in the cache, or else the units
 * that were not told yet. Empty if there is neither.
 */
export function costOrResumption(
  error: Error,
  { engine, cost }: Opened,
  inputs: readonly string[],
  refresh = false,
): string {
  if (engine?.kept === undefined || !canBeResumed(error)) {
    const units = cost?.() ?? 0;
    if (units === 0) return "";
    const next = engine?.leavesReceipts?.() ? "; the next run of this list counts them" : "";
    return `; ${counted(units, "unit")} used${next}`;
  }
  const verdicts = counted(engine.kept(), "new verdict is", "new verdicts are");
  if (refresh) {
    // That command would take the verdicts from before this run, too.
    return `; ${verdicts} in the cache; the same command without --refresh uses them, and older ones for the rest`;
  }
  const input = inputs.length === 0 || inputs[0] === "-" ? ", with the same input" : "";
  return `; ${verdicts} in the cache; to resume, run: ${commandLine(process.argv.slice(2))}${input}`;
}

/** Returns whether running the same command again may succeed. */
function canBeResumed(error: Error): boolean {
  const { exitCode } = failureFor(error);
  return (
    error instanceof Interrupted || exitCode === exitCodes.service || exitCode === exitCodes.notAuthorised
  );
}
