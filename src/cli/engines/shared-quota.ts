/** Opens a shared quota, for runs of the offline engine. */
import { setTimeout as sleep } from "node:timers/promises";
import { StoreError } from "../../state/errors.js";
import { UnknownKeyError } from "../../state/service/api-key.js";
import type { SharedQuota } from "../config/quota-location.js";
import { openState } from "../config/service-state.js";
import { UsageError } from "../errors.js";

/** Time for retries, and the first pause between two tries, in milliseconds. */
const longestOutage = 120_000;
const firstPause = 250;
const longestPause = 5000;

/** @throws StoreError when the state cannot be opened, UsageError for no such quota or a password in the option */
export async function openSharedQuota({ state, isOption, from }: SharedQuota, env: NodeJS.ProcessEnv) {
  const store = await openState(state, isOption ? "--quota" : undefined, env);
  try {
    const quotas = store.quotas(from);
    return { store, quotas, secret: await quotas.secret() };
  } catch (error) {
    await store.close();
    throw error instanceof UnknownKeyError ? new UsageError(error.message) : error;
  }
}

/** Retries for up to two minutes, unless `signal` ends that. @throws UsageError when the key cannot be used any more */
export async function retrying<Result>(work: () => Promise<Result>, note: (text: string) => void, signal: AbortSignal) {
  const end = performance.now() + longestOutage;
  for (let pause = firstPause; ; pause = Math.min(2 * pause, longestPause)) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof UnknownKeyError) throw new UsageError(error.message);
      if (!(error instanceof StoreError) || performance.now() + pause > end) throw error;
      if (pause === firstPause) note(`${error.message}; trying again for up to 2 min`);
      await sleep(pause, undefined, { signal });
    }
  }
}

/** The reservation that a run of the service charges and the server delivers, with the tag of the server's process. */
export function guestOf(env: NodeJS.ProcessEnv): { readonly id?: string; readonly owner?: string } {
  const [, id, owner] = /^(\S+) (.+)$/.exec(env["IDV_RESERVATION"] ?? "") ?? [];
  return id === undefined || owner === undefined ? {} : { id, owner };
}
