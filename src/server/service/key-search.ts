/** Finds keys by their secrets. Unknown ones are remembered for a second, against floods; known ones are looked up. */

import { GroupCommit } from "../../state/group-commit.js";
import type { ApiKey, Found } from "../../state/service/api-key.js";
import { hashOf } from "../../state/service/secrets.js";
import type { ServiceStore } from "../../state/service/service-store.js";

/** Milliseconds. A key that is created meanwhile works after it. */
const remembered = 1000;
const mostRemembered = 10_000;
/** Statements at a time: one that hangs does not stop all look-ups. */
const lanes = 2;

export function keySearch(findAll: ServiceStore["findAll"]) {
  const searches = new GroupCommit<string, Found>(findAll);
  /** Times until which unknown secrets count, by their hashes; the oldest first. */
  const unknown = new Map<string, number>();
  let count = 0;

  return async (secret: string | undefined): Promise<ApiKey | undefined> => {
    if (secret === undefined) return undefined;
    const hash = Buffer.from(hashOf(secret)).toString("base64");
    if ((unknown.get(hash) ?? Number.NEGATIVE_INFINITY) > performance.now()) return undefined;
    const key = await searches.add(secret, String(count++ % lanes));
    if (key === undefined) {
      if (unknown.size >= mostRemembered) unknown.delete(unknown.keys().next().value!);
      // Moved to the end.
      unknown.delete(hash);
      unknown.set(hash, performance.now() + remembered);
    }
    return key === "ended" ? undefined : key;
  };
}
