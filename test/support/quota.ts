/** Sets and reads the quota of the offline engine, as `idv quota` does. */
import { join } from "node:path";
import type { Quota, QuotaChange } from "../../src/store/quota/quota.js";
import { QuotaFile } from "../../src/store/quota/quota-file.js";

/** Changes the quota of a home, and sets its used units to 0. */
export async function setQuota(home: string, change: QuotaChange): Promise<void> {
  await withQuota(home, async (quota) => {
    await quota.configure(change);
    await quota.reset();
  });
}

/** Returns the quota of a home. */
export const readQuota = (home: string): Promise<Quota> => withQuota(home, (quota) => quota.read());

async function withQuota<Result>(home: string, work: (quota: QuotaFile) => Promise<Result>): Promise<Result> {
  const quota = await QuotaFile.open(join(home, "state/idv/quota.db"), Date.now);
  try {
    return await work(quota);
  } finally {
    await quota.close();
  }
}
