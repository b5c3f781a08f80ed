/** `idv usage`: the units used by the keys of `idv serve`, by time, key and status. */
import { knownStatuses } from "../../../core/validator/validator.js";
import { unknownKey } from "../../../state/service/rules.js";
import type { KeyTotal, KeyUsageSum } from "../../../state/service/usage.js";
import { grouped } from "../../../text.js";
import { day } from "../../../time.js";
import { stateEnvironment, stateOptions, withServiceState } from "../../config/service-state.js";
import { csvOption, jsonLinesOption, type OptionValues, optionRecords } from "../../options/option.js";
import { filled, timeOr, wholeNumber } from "../../options/values.js";
import { printListing } from "../../terminal/listing.js";
import { allPrinted, print } from "../../terminal/standard-output.js";
import { type DefineCommand, describe } from "../command.js";

const options = optionRecords({
  ...stateOptions,
  key: { flags: "--key <ID>", help: "only this key", parse: filled },
  since: { flags: "--since <TIME>", help: "how far back", ...timeOr("7d", 0, 3660 * day) },
  by: { flags: "--by <SPAN>", help: "hour, or day of the UTC calendar", choices: ["hour", "day"], fallback: "day" },
  top: {
    flags: "--top <N>",
    help: "only the sums of the N keys with the most units, and of all keys",
    parse: wholeNumber(1, 1_000_000),
    conflicts: ["by"],
  },
  ...jsonLinesOption,
  ...csvOption,
});

export const define: DefineCommand = (command) => {
  describe(command, {
    description:
      "Prints the units used by time, key and kind, and their statuses.\nThe sum of all statuses but quota_exceeded equals the used units of the quotas.",
    examples: [
      "usage",
      "usage --since 24h --by hour --key 04sX1bQ2z",
      "usage --since 30d --top 10",
      "usage --since 90d --csv",
    ],
    options,
    environment: stateEnvironment,
  }).action(showUsage);
};

interface Line {
  readonly time: string;
  readonly key: string;
  readonly name: string;
  readonly kind: string;
  units: number;
  /** `quota_exceeded` items are not charged. */
  readonly statuses: Record<string, number>;
}

/** `other` counts the units of runs on a shared quota: the service does not know their statuses. */
const statusColumns = [...knownStatuses.filter((status) => status !== "quota_exceeded"), "other"] as const;
const header = ["time", "key", "name", "kind", "units", ...statusColumns, "quota_exceeded"];

const showUsage = (given: OptionValues<typeof options>): Promise<void> =>
  withServiceState(given, async (store) => {
    const { key, since, by, top, json, csv } = given;
    const names = new Map([["*", "all keys"]]);
    for (const { id, name } of await store.list()) names.set(id, name);
    if (key !== undefined && !names.has(key) && !key.startsWith("quota:")) throw unknownKey(key);
    const now = Date.now();
    const span = by === "hour" ? day / 24 : day;
    // The first span is shown in full: a part of it would look like little use.
    const from = now - since - ((now - since) % span);
    // Without an end: the clocks of servers may have been ahead.
    const to = Number.MAX_SAFE_INTEGER;
    const query = { from, to, span, ...(key !== undefined && { keyId: key }) };
    const spans = top === undefined ? store.usageByKey(query) : topOf(await store.totals(query), from, top);
    if (!json)
      return await printListing({
        header,
        rows: rowsOf(linesOf(spans, names, by), csv),
        isCsv: csv,
        none: "nothing was used",
      });
    for await (const lines of linesOf(spans, names, by)) {
      print(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
      await allPrinted();
    }
  });

/** Keys with the most units first; the sums of all keys are under "*". */
async function* topOf(totals: readonly KeyTotal[], start: number, most: number) {
  const byKey = new Map<string, KeyTotal[]>();
  const all = new Map<string, number>();
  for (const total of totals) {
    const { keyId, status, units } = total;
    byKey.set(keyId, [...(byKey.get(keyId) ?? []), total]);
    all.set(status, (all.get(status) ?? 0) + units);
  }
  const charged = (sums: readonly KeyTotal[]) =>
    sums.reduce((sum, { status, units }) => sum + (status === "quota_exceeded" ? 0 : units), 0);
  const keys = [...byKey.values()].sort((a, b) => charged(b) - charged(a)).slice(0, most);
  const ofAll = Array.from(all, ([status, units]) => ({ keyId: "*", status, units }));
  yield [...keys, ofAll].flat().map((sum) => ({ ...sum, start, kind: "all" }));
}

async function* linesOf(
  spans: AsyncIterable<readonly KeyUsageSum[]>,
  names: ReadonlyMap<string, string>,
  by: "hour" | "day",
): AsyncGenerator<readonly Line[]> {
  for await (const sums of spans) {
    const lines = new Map<string, Line>();
    for (const { start, keyId, kind, status, units } of sums) {
      const at = new Date(start).toISOString();
      const time = by === "hour" ? `${at.slice(0, 16)}Z` : at.slice(0, 10);
      const none = { time, key: keyId, name: names.get(keyId) ?? "", kind, units: 0, statuses: {} };
      const line: Line = lines.get(`${keyId} ${kind}`) ?? none;
      lines.set(`${keyId} ${kind}`, line);
      line.statuses[status] = units;
      if (status !== "quota_exceeded") line.units += units;
    }
    yield [...lines.values()];
  }
}

const rowOf = ({ time, key, name, kind, units, statuses }: Line, figure: (count: number) => string) => {
  const { quota_exceeded = 0, ...charged } = statuses;
  const known = statusColumns.map((status) => charged[status] ?? 0);
  known[known.length - 1] = units - known.reduce((sum, count) => sum + count);
  return [time, key, name, kind, ...[units, ...known, quota_exceeded].map(figure)];
};

async function* rowsOf(
  pages: AsyncIterable<readonly Line[]>,
  isCsv = false,
): AsyncGenerator<readonly (readonly string[])[]> {
  const figure = process.stdout.isTTY && !isCsv ? grouped : String;
  for await (const lines of pages) yield lines.map((line) => rowOf(line, figure));
}
