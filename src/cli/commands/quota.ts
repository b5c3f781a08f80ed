/** `idv quota`: the quota of the offline engine, in its file or shared. */
import { statSync } from "node:fs";
import { Option } from "commander";
import { type Period, periods } from "../../store/period.js";
import type { Quota, QuotaChange } from "../../store/quota.js";
import { freshQuota, QuotaFile } from "../../store/quota-file.js";
import { unitLimit } from "../config/option-values.js";
import { type QuotaOptions, type QuotaPlace, quotaPlace, type SharedQuota } from "../config/quota-place.js";
import { openState } from "../engines/service-state.js";
import { openSharedQuota } from "../engines/shared-quota.js";
import { UsageError } from "../errors.js";
import { print } from "../terminal/standard-output.js";
import { grouped, printable, say } from "../terminal/terminal.js";
import { fromNow } from "../terminal/time.js";
import { type DefineCommand, describe, quotaOptions } from "./command.js";

interface Options extends QuotaOptions {
  readonly limit?: number | "none";
  readonly period?: Period;
  readonly json?: true;
}

const environment = ["IDV_QUOTA_FILE", "IDV_QUOTA", "IDV_QUOTA_NAME", "XDG_STATE_HOME"] as const;

export const define: DefineCommand = (quota) => {
  describe(quota, {
    description: "Shows or changes the quota of the offline engine.",
    examples: ["quota show", "quota set --limit 10000 --period month"],
    environment,
  });
  const define = (name: string, description: string, ...examples: readonly string[]) => {
    const command = quota.command(name).summary(description);
    for (const option of quotaOptions()) command.addOption(option);
    return describe(command, { description, examples, environment });
  };
  define("show", "Print limit, used and left units, and when they renew.", "quota show", "quota show --json")
    .option("--json", "print a JSON object")
    .action(showQuota);
  define(
    "set",
    "Set the limit, the period or both. Units used in this period stay used.",
    ...["quota set --limit 10000 --period month", "quota set --limit none"],
    "quota set --quota postgres://db.example.com/idv --quota-name nightly --limit 1000000",
  )
    .option("--limit <N|none>", "units a period", unitLimit)
    .addOption(
      new Option("--period <PERIOD>", "none, hour, day or month of the UTC calendar").choices(periods),
    )
    .action(setQuota);
  define("reset", "Set the used units of a quota file to 0.", "quota reset").action(resetQuota);
};

/** Prints the quota. A file that does not exist yet is not created. */
async function showQuota(options: Options): Promise<void> {
  const place = quotaPlace(options, process.env);
  let quota = freshQuota;
  if ("state" in place) {
    const { store } = await openSharedQuota(place, process.env);
    quota = await store.quotaOf(place.from).finally(() => store.close());
  } else if (!isAbsent(place.path)) {
    quota = await withQuotaFile(place.path, (file) => file.read());
  }
  report(place, quota, options.json === true);
}

/** Changes the limit, the period or both. */
async function setQuota(options: Options): Promise<void> {
  const { limit, period } = options;
  if (limit === undefined && period === undefined) {
    throw new UsageError("quota set needs --limit N|none or --period none|hour|day|month");
  }
  const place = quotaPlace(options, process.env);
  const change = {
    ...(limit !== undefined && { limit: limit === "none" ? null : limit }),
    ...(period !== undefined && { period }),
  };
  const quota = await ("state" in place
    ? setSharedQuota(place, change)
    : withQuotaFile(place.path, (file) => file.configure(change)));
  report(place, quota, false);
  if (quota.limit !== null && quota.used > quota.limit) {
    const isRaised = "state" in place ? "until its limit is raised" : "until idv quota reset";
    const until = quota.renewsAt === null ? isRaised : "until it renews";
    say(`${grouped(quota.used)} units are used already, more than the limit: none is left ${until}`);
  }
}

/** Sets the used units to 0. */
async function resetQuota(options: Options): Promise<void> {
  const place = quotaPlace(options, process.env);
  if ("state" in place) {
    throw new UsageError(
      "a shared quota cannot be reset: it would no longer agree with idv usage; raise its limit with idv quota set",
    );
  }
  report(place, await withQuotaFile(place.path, (file) => file.reset()), false);
}

/** Changes a shared quota, which is created if it does not exist. */
async function setSharedQuota({ state, isOption, from }: SharedQuota, change: QuotaChange): Promise<Quota> {
  if ("keyId" in from) throw new UsageError("the quota of a key is changed with idv keys set");
  const store = await openState(state, isOption ? "--quota" : undefined, process.env);
  return store.setSharedQuota(from.quotaName, change).finally(() => store.close());
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

function report(place: QuotaPlace, { limit, period, used, left, renewsAt }: Quota, json: boolean): void {
  const renews = renewsAt === null ? null : new Date(renewsAt).toISOString();
  const named =
    "state" in place
      ? { quota: "keyId" in place.from ? `key ${place.from.keyId}` : place.from.quotaName }
      : { file: place.path };
  const text = json
    ? JSON.stringify({ ...named, limit, period, used, left, renews })
    : [
        ...Object.entries(named).map(([name, value]) => `${`${name}:`.padEnd(8)} ${printable(value)}`),
        `limit:   ${limit === null ? "none" : grouped(limit)}`,
        `period:  ${period}`,
        `used:    ${grouped(used)}`,
        `left:    ${left === null ? "no limit" : grouped(left)}`,
        `renews:  ${(process.stdout.isTTY && renewsAt !== null ? fromNow(renewsAt, Date.now()) : renews) ?? "never"}`,
      ].join("\n");
  print(`${text}\n`);
}
