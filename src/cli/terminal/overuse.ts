/** Warns of a limit that is used up already. */
import type { Quota } from "../../state/quota/quota.js";
import { grouped } from "../../text.js";
import { say } from "./terminal.js";

/** `cure` ends it where the quota does not renew. */
export function warnOfOveruse({ limit, used, renewsAt }: Quota, cure: string): void {
  if (limit === null || used <= limit) return;
  const end = renewsAt === null ? cure : "it renews";
  say(`${grouped(used)} units are used already, more than the limit: none is left until ${end}`);
}
