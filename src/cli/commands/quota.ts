import { statSync } from "node:fs";
import type { Period } from "../../store/period.js";
import type { Quota } from "../../store/quota.js";
import { freshQuota, QuotaFile } from "../../store/quota-file.js";
import { quotaFilePath } from "../config/paths.js";
import { UsageError } from "../errors.js";
import { print } from "../terminal/standard-output.js";
import { printable } from "../terminal/terminal.js";

interface QuotaOptions {
  readonly quotaFile?: string;
}

/** Runs `idv quota show`. A file that does not exist yet is not made. */
export async function showQuota(options: QuotaOptions & { readonly json?: true }): Promise<void> {
  const path = quotaFilePath(options.quotaFile, process.env);
  const quota = isAbsent(path) ? freshQuota : await withQuotaFile(path, (file) => file.read());
  report(path, quota, options.json === true);
}

/** Runs `idv quota set`. */
export async function setQuota(
  options: QuotaOptions & { readonly limit?: number | "none"; readonly period?: Period },
): Promise<void> {
  const { limit, period } = options;
  if (limit === undefined && period === undefined) {
    throw new UsageError("quota set needs --limit N|none or --period none|hour|day|month");
  }
  const path = quotaFilePath(options.quotaFile, process.env);
  const change = {
    ...(limit !== undefined && { limit: limit === "none" ? null : limit }),
    ...(period !== undefined && { period }),
  };
  report(path, await withQuotaFile(path, (file) => file.configure(change)), false);
}

/** Runs `idv quota reset`. */
export async function resetQuota(options: QuotaOptions): Promise<void> {
  const path = quotaFilePath(options.quotaFile, process.env);
  report(path, await withQuotaFile(path, (file) => file.reset()), false);
}

function isAbsent(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    // It cannot even be looked at: opening it says why.
    return false;
  }
}

async function withQuotaFile(path: string, work: (file: QuotaFile) => Promise<Quota>): Promise<Quota> {
  const file = await QuotaFile.open(path, Date.now);
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

function report(path: string, { limit, period, used, left, renewsAt }: Quota, json: boolean): void {
  const renews = renewsAt === null ? null : new Date(renewsAt).toISOString();
  const text = json
    ? JSON.stringify({ file: path, limit, period, used, left, renews })
    : [
        `file:    ${printable(path)}`,
        `limit:   ${limit === null ? "none" : limit.toLocaleString("en")}`,
        `period:  ${period}`,
        `used:    ${used.toLocaleString("en")}`,
        `left:    ${left === null ? "no limit" : left.toLocaleString("en")}`,
        `renews:  ${renews ?? "never"}`,
      ].join("\n");
  print(`${text}\n`);
}
