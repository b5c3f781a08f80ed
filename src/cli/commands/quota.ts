/** `idv quota`: the quota of the offline engine. */
import { statSync } from "node:fs";
import { Option } from "commander";
import { type Period, periods } from "../../store/period.js";
import type { Quota } from "../../store/quota.js";
import { freshQuota, QuotaFile } from "../../store/quota-file.js";
import { unitLimit } from "../config/option-values.js";
import { quotaFilePath } from "../config/paths.js";
import { UsageError } from "../errors.js";
import { print } from "../terminal/standard-output.js";
import { grouped, printable, say } from "../terminal/terminal.js";
import { fromNow } from "../terminal/time.js";
import { type DefineCommand, describe, quotaFileOption } from "./command.js";

interface QuotaOptions {
  readonly quotaFile?: string;
  readonly limit?: number | "none";
  readonly period?: Period;
  readonly json?: true;
}

const environment = ["IDV_QUOTA_FILE", "XDG_STATE_HOME"] as const;

export const define: DefineCommand = (quota) => {
  describe(quota, {
    description: "Shows or changes the quota of the offline engine.",
    examples: ["quota show", "quota set --limit 10000 --period month"],
    environment,
  });
  const define = (name: string, description: string, ...examples: readonly string[]) =>
    describe(quota.command(name).summary(description), { description, examples, environment }).addOption(
      quotaFileOption(),
    );
  define("show", "Print limit, used and left units, and when they renew.", "quota show", "quota show --json")
    .option("--json", "print a JSON object")
    .action(showQuota);
  define(
    "set",
    "Set the limit, the period or both. Units used in this period stay used.",
    ...["quota set --limit 10000 --period month", "quota set --limit none"],
  )
    .option("--limit <N|none>", "units a period", unitLimit)
    .addOption(
      new Option("--period <PERIOD>", "none, hour, day or month of the UTC calendar").choices(periods),
    )
    .action(setQuota);
  define("reset", "Set the used units to 0.", "quota reset").action(resetQuota);
};

/** Prints the quota. A file that does not exist yet is not created. */
async function showQuota(options: QuotaOptions): Promise<void> {
  const path = quotaFilePath(options.quotaFile, process.env);
  const quota = isAbsent(path) ? freshQuota : await withQuotaFile(path, (file) => file.read());
  report(path, quota, options.json === true);
}

/** Changes the limit, the period or both. */
async function setQuota(options: QuotaOptions): Promise<void> {
  const { limit, period } = options;
  if (limit === undefined && period === undefined) {
    throw new UsageError("quota set needs --limit N|none or --period none|hour|day|month");
  }
  const path = quotaFilePath(options.quotaFile, process.env);
  const change = {
    ...(limit !== undefined && { limit: limit === "none" ? null : limit }),
    ...(period !== undefined && { period }),
  };
  const quota = await withQuotaFile(path, (file) => file.configure(change));
  report(path, quota, false);
  if (quota.limit !== null && quota.used > quota.limit) {
    const until = quota.renewsAt === null ? "until idv quota reset" : "until it renews";
    say(`${grouped(quota.used)} units are used already, more than the limit: none is left ${until}`);
  }
}

/** Sets the used units to 0. */
async function resetQuota(options: QuotaOptions): Promise<void> {
  const path = quotaFilePath(options.quotaFile, process.env);
  report(path, await withQuotaFile(path, (file) => file.reset()), false);
}

function isAbsent(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    // Not accessible. Opening the file fails with an error that says why.
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
        `limit:   ${limit === null ? "none" : grouped(limit)}`,
        `period:  ${period}`,
        `used:    ${grouped(used)}`,
        `left:    ${left === null ? "no limit" : grouped(left)}`,
        `renews:  ${(process.stdout.isTTY && renewsAt !== null ? fromNow(renewsAt, Date.now()) : renews) ?? "never"}`,
      ].join("\n");
  print(`${text}\n`);
}
