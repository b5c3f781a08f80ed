/** Looks at all files that are to be replaced, before the first of them is. */
import { Fault } from "../../../fault.js";
import { openCopy } from "../../../files/output.js";
import type { Plan } from "../plan/plan.js";
import { tryInput } from "./input.js";
import { checkReplaceable } from "./output.js";

export async function lookAhead(plans: readonly Plan[], signal: AbortSignal): Promise<void> {
  for (const plan of plans) {
    // The tables of archives have been opened already.
    if (plan.member) continue;
    const path = plan.input!;
    try {
      await checkReplaceable(path);
      if (plan.backup !== undefined) await openCopy(path, plan.backup);
      await tryInput(plan, signal);
    } catch (error) {
      if (error instanceof Fault) error.add("no file is replaced");
      throw error;
    }
  }
}
