/** `idv quota`: the quota of the offline engine, in its own file or shared. */
import { FileError } from "../../../files/errors.js";
import { isAbsent } from "../../../files/found.js";
import { stateOfTag } from "../../../files/processes.js";
import { periods } from "../../../state/quota/period.js";
import type { Quota, QuotaChange } from "../../../state/quota/quota.js";
import { freshQuota, openQuotaFile } from "../../../state/quota/quota-file.js";
import type { Quotas } from "../../../state/quota/quotas.js";
import { deathIn } from "../../../state/quota/run-reservation.js";
import type { QuotaOwner } from "../../../state/service/api-key.js";
import { grouped, printable } from "../../../text.js";
import { commandLine } from "../../bulk/command-line.js";
import { type QuotaLocation, quotaLocation, type SharedQuota } from "../../config/quota-location.js";
import { openState } from "../../config/service-state.js";
import { openSharedQuota } from "../../engines/shared-quota.js";
import { UsageError } from "../../errors.js";
import { jsonOption, type OptionValues, optionRecords } from "../../options/option.js";
import { quotaOptions } from "../../options/quota.js";
import { unitLimit } from "../../options/values.js";
import { print } from "../../terminal/standard-output.js";
import { say } from "../../terminal/terminal.js";
import { fromNow } from "../../terminal/time.js";
import { commandLineAuthor, sayUsed } from "../changes.js";
import { commandsOf, type DefineCommand, describe } from "../command.js";

const showOptions = optionRecords({ ...quotaOptions, ...jsonOption });

const setOptions = optionRecords({
  ...quotaOptions,
  limit: { flags: "--limit <N|none>", help: "units a period", parse: unitLimit },
  period: { flags: "--period <PERIOD>", help: "none, hour, day or month of the UTC calendar", choices: periods },
});

export const define: DefineCommand = (quota) => {
  describe(quota, {
    description: "Shows or changes the quota of the offline engine.",
    details: [
      "",
      "Charged units count as used; undelivered ones are given back. Delivered means:",
      "  a file: when it is renamed into place",
      "  standard output: at the end of the run, if it is a file or IDV_RUN is set",
      "  a pipe: with each flush",
      "  a list of a service: when it is done",
      "Units of a run that was killed block others for at most 15 seconds.",
    ],
    examples: ["quota show", "quota set --limit 10000 --period month"],
    environment: ["IDV_QUOTA", "XDG_STATE_HOME"],
  });
  const define = commandsOf(quota);
  define(
    "show",
    { options: showOptions },
    "Print limit, used and left units, and when they renew.",
    ...["quota show", "quota show --json"],
  ).action(showQuota);
  define(
    "set",
    { options: setOptions },
    "Set the limit, the period or both. Units used in this period stay used.",
    ...["quota set --limit 10000 --period month", "quota set --limit none"],
    "quota set --quota postgres://db.example.com/idv#nightly --limit 1000000",
  ).action(setQuota);
  const reset = define("reset", { options: quotaOptions }, "Set the used units of a quota file to 0.", "quota reset");
  reset.action(resetQuota);
};

/** A quota file that does not exist is not created. */
async function showQuota(options: OptionValues<typeof showOptions>): Promise<void> {
  const location = quotaLocation(options, process.env);
  let quota = freshQuota;
  if ("state" in location) {
    const { store, quotas } = await openSharedQuota(location, process.env);
    quota = await read(quotas).finally(() => store.close());
  } else if (!isAbsent(location.path)) {
    quota = await withQuotaFile(location.path, read);
  } else if (location.isNamed) say(noFile(location.path).message);
  report(location, quota, options.json === true);
}

async function setQuota(options: OptionValues<typeof setOptions>): Promise<void> {
  const { limit, period } = options;
  if (limit === undefined && period === undefined) {
    throw new UsageError("quota set needs --limit N|none or --period none|hour|day|month");
  }
  const location = quotaLocation(options, process.env);
  const change = {
    ...(limit !== undefined && { limit: limit === "none" ? null : limit }),
    ...(period !== undefined && { period }),
  };
  const quota = await ("state" in location
    ? setSharedQuota(location, change)
    : withQuotaFile(location.path, (quotas) => quotas.configure(change)));
  report(location, quota, false);
  if (quota.limit === null && quota.period !== "none") say("the period has no effect without a limit; add --limit N");
  const { quota: named } = options;
  const reset = commandLine(["quota", "reset", ...(named === undefined ? [] : ["--quota", named])]);
  sayUsed(quota, "state" in location ? undefined : reset);
}

async function resetQuota(options: OptionValues<typeof quotaOptions>): Promise<void> {
  const location = quotaLocation(options, process.env);
  if ("state" in location) {
    throw new UsageError(
      "a shared quota cannot be reset: it would no longer agree with idv usage; raise its limit with idv quota set",
    );
  }
  if (location.isNamed && isAbsent(location.path)) throw noFile(location.path);
  report(location, await withQuotaFile(location.path, (quotas) => quotas.reset()), false);
}

const noFile = (path: string): FileError =>
  new FileError(`${path}: there is no such file; idv quota set --limit N creates it`);

async function setSharedQuota({ state, isOption, from }: SharedQuota, change: QuotaChange): Promise<Quota> {
  if ("keyId" in from) throw new UsageError("the quota of a key is changed with idv keys set");
  const store = await openState(state, isOption ? "--quota" : undefined, process.env, { creates: true });
  const { limit, period } = change;
  const what = [
    ...(limit === undefined ? [] : [`limit ${limit ?? "none"}`]),
    ...(period === undefined ? [] : [`period ${period}`]),
  ].join(", ");
  try {
    const quota = await store.quotas(from).configure(change);
    await store.record({ who: commandLineAuthor(), what: `quota ${from.quotaName} set: ${what}`, keyId: "" });
    return quota;
  } finally {
    await store.close();
  }
}

const read = (quotas: Quotas): Promise<Quota> => quotas.read(deathIn(stateOfTag, quotas.isServer));

async function withQuotaFile(path: string, work: (quotas: Quotas) => Promise<Quota>): Promise<Quota> {
  const file = await openQuotaFile(path, Date.now);
  try {
    return await work(file.quotas);
  } finally {
    await file.close();
  }
}

function report(location: QuotaLocation, { limit, period, used, left, renewsAt }: Quota, json: boolean): void {
  const renews = renewsAt === null ? null : new Date(renewsAt).toISOString();
  const ownerOf = (from: QuotaOwner) => ("keyId" in from ? `key ${from.keyId}` : from.quotaName);
  const named = "state" in location ? { quota: ownerOf(location.from) } : { file: location.path };
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
