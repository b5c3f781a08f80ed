/** Parts of commands that change keys, quotas and sessions: the author for the audit, and a warning. */
import { userInfo } from "node:os";
import type { Quota } from "../../state/quota/quota.js";
import { grouped } from "../../text.js";
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

/** Warns of a limit that is used up already. `cure` ends it where the quota does not renew. */
export function warnOfOveruse({ limit, used, renewsAt }: Quota, cure: string): void {
  if (limit === null || used <= limit) return;
  const end = renewsAt === null ? cure : "it renews";
  say(`${grouped(used)} units are used already, more than the limit: none is left until ${end}`);
}
