/** Parts of commands that change keys, quotas and sessions: the author for the audit, and what is used. */
import { userInfo } from "node:os";
import type { Quota } from "../../state/quota/quota.js";
import { counted, grouped } from "../../text.js";
import { say } from "../terminal/terminal.js";

/** Author of changes that are made on the command line, for the audit. */
export function commandLineAuthor(): string {
  try {
    return `command line (${userInfo().username})`;
  } catch {
    // In a container, the user may have a number alone.
    return "command line";
  }
}

/** Notes how much of a new limit is used already. `reset` is the command that sets it to 0, if there is one. */
export function sayUsed({ limit, used, renewsAt }: Quota, reset?: string): void {
  if (limit === null || used === 0) return;
  const units = counted(used, "unit is", "units are");
  const end = renewsAt === null ? (reset ?? "its limit is raised") : "it renews";
  const again = reset === undefined ? "" : `; ${reset} sets them to 0`;
  say(
    used > limit
      ? `${units} used already, more than the limit; none are left until ${end}`
      : `${units} used already, of ${grouped(limit)}${again}`,
  );
}
