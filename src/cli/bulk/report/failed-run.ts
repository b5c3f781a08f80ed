/** Ends the error message of a failed run with its cost, or with the command that resumes it. */
import { countsOf } from "../../../core/run/session.js";
import { counted } from "../../../text.js";
import { failureFor, Interrupted } from "../../errors.js";
import { exitCodes } from "../../exit-codes.js";
import { say } from "../../terminal/terminal.js";
import { commandLine } from "../command-line.js";
import type { Run } from "../open/engine.js";
import type { Plan } from "../plan/plan.js";

export function costOrResumption(error: Error, run: Run, { input, member, cache }: Plan): string {
  const { engine } = run;
  const isStandardInput = input === undefined || member?.container.name === "standard input";
  const again = `run: ${commandLine(process.argv.slice(2))}${isStandardInput ? ", with the same input" : ""}`;
  if (engine.verdictsAdded === undefined || !canBeResumed(error)) {
    const units = costOf(run);
    const cost = units > 0 && hasLimit(run) ? `; ${counted(units, "unit")} used` : "";
    if (!(error instanceof Interrupted)) return cost;
    // What was charged for files that are not there was given back.
    return `${units === 0 ? "; no units are used" : cost}; to start again, ${again}`;
  }
  const verdicts = counted(engine.verdictsAdded(), "new verdict");
  if (cache === "refresh") {
    return `; ${verdicts} cached; to resume with all cached verdicts, run the command without --cache refresh`;
  }
  return `; ${verdicts} cached; to resume, ${again}`;
}

/** Units that no summary has reported, and that stay charged; NaN for a dry run. */
function costOf({ engine: { dryRunItems }, session, totals }: Run): number {
  return dryRunItems === undefined ? countsOf(session).charged - totals.toldUnits : Number.NaN;
}

const isOffline = ({ engine: { validator } }: Run): boolean => validator.embedded !== undefined;

/** Whether the quota of the offline engine has a limit, as far as it is known. */
export const hasOwnLimit = (run: Run): boolean => isOffline(run) && run.session.quota?.()?.left !== null;

const hasLimit = (run: Run): boolean => !isOffline(run) || hasOwnLimit(run);

/** Rows of later files that are also in the failed one would be in no output. */
export function sayUnvalidated({ inputName, run }: Plan, later: readonly Plan[]): void {
  const others = later.length > 1 ? ` and ${counted(later.length - 1, "more file")}` : "";
  const reason = run === undefined ? "--dedupe compares all files" : "IDV_RUN needs the files in order";
  const why = `${inputName} failed, and ${reason}`;
  say(`${later[0]!.inputName}${others}: not validated: ${why}; correct ${inputName} and run all files again`);
}

function canBeResumed(error: Error): boolean {
  const { exitCode } = failureFor(error);
  return error instanceof Interrupted || exitCode === exitCodes.service || exitCode === exitCodes.notAuthorised;
}
