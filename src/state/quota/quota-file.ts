/** The quota file of the offline engine: a state file with one quota. */
import { StoreError } from "../errors.js";
import { openStateFile, type StateDatabase } from "../service/database/state-database.js";
import { ask } from "../sql.js";
import { type LockWait, loadSqlite } from "../sqlite/database.js";
import { fileQuota, freshRow, type Quota, type QuotaRow, toQuota } from "./quota.js";
import { Quotas } from "./quotas.js";

export const freshQuota: Quota = toQuota(freshRow);

export interface QuotaFile {
  readonly quotas: Quotas;
  close(): Promise<void>;
}

/** Creates the file with {@link freshQuota} if it is absent. @throws StoreError when it has no quota of its own */
export async function openQuotaFile(path: string, now: () => number, wait: LockWait = {}): Promise<QuotaFile> {
  const database = await openStateFile(path, now, { ...wait, isQuota: true });
  try {
    await checkQuota(database);
  } catch (error) {
    await database.close();
    throw error;
  }
  return { quotas: new Quotas(database, fileQuota), close: () => database.close() };
}

async function checkQuota(database: StateDatabase): Promise<void> {
  const [found] = await database.read(() => ask(["SELECT id FROM {quota} WHERE name = ?", fileQuota.quotaName]));
  if (found!.length > 0) return;
  const { name } = database;
  throw new StoreError(
    `${name}: has no quota of its own, as the state of a service; name one of its quotas: --quota ${name}#NAME`,
  );
}

/** Reads a file that machines can share, without changing it. @throws an error of SQLite */
export async function peekQuota(path: string): Promise<Quota> {
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const [row] = database.prepare("SELECT * FROM quota WHERE name = ''").all() as QuotaRow[];
    return toQuota(row!);
  } finally {
    database.close();
  }
}
