/** `idv usage`: the units that the keys of `idv serve` have used, by time, key and status. */
import { Option } from "commander";
import type { KeyUsageSum } from "../../store/usage.js";
import { quoteField } from "../../table/quotes.js";
import { knownStatuses } from "../../validator/validator.js";
import { day, duration, filled } from "../config/option-values.js";
import { openServiceState } from "../engines/service-state.js";
import { printListing } from "../terminal/listing.js";
import { allPrinted, print } from "../terminal/standard-output.js";
import { grouped } from "../terminal/terminal.js";
import { type DefineCommand, describe } from "./command.js";
import { stateOption } from "./state-option.js";

interface UsageOptions {
  readonly state?: string;
  readonly key?: string;
  /** Milliseconds before now. */
  readonly since: number;
  readonly by: "hour" | "day";
  readonly json?: true;
  readonly csv?: true;
}

export const define: DefineCommand = (command) => {
  describe(command, {
    description:
      "Prints the units used by time, key and kind, and their statuses.\nWithout quota_exceeded, their sum in a period is what the quotas have counted.",
    examples: ["usage", "usage --since 24h --by hour --key 04sX1bQ2z", "usage --since 90d --csv"],
    environment: ["IDV_STATE", "IDV_STATE_FILE", "XDG_STATE_HOME"],
  })
    .addOption(stateOption())
    .option("--key <ID>", "only this key", filled)
    .addOption(
      new Option("--since <TIME>", "how far back").argParser(duration(0, 3660 * day)).default(7 * day, "7d"),
    )
    .addOption(
      new Option("--by <SPAN>", "hour, or day of the UTC calendar").choices(["hour", "day"]).default("day"),
    )
    .addOption(new Option("--json", "print one JSON object a line").conflicts("csv"))
    .option("--csv", "print CSV with a header")
    .action(showUsage);
};

/** Units of a key and a kind in one span of time. */
interface Line {
  readonly time: string;
  readonly key: string;
  readonly name: string;
  readonly kind: string;
  /** Units that were charged. */
  units: number;
  /** Items by status; those that are `quota_exceeded` cost nothing. */
  readonly statuses: Record<string, number>;
}

/** Columns of statuses; `other` are those of runs on a quota, which the service does not know. */
const statusColumns = [...knownStatuses.filter((status) => status !== "quota_exceeded"), "other"] as const;
const header = ["time", "key", "name", "kind", "units", ...statusColumns, "quota_exceeded"];

async function showUsage({ state, key, since, by, json, csv }: UsageOptions): Promise<void> {
  const store = await openServiceState(state, process.env);
  try {
    const names = new Map((await store.list()).map(({ id, name }) => [id, name]));
    const now = Date.now();
    const span = by === "hour" ? day / 24 : day;
    // The whole first span: a part of a day would look like a quiet one.
    const from = now - since - ((now - since) % span);
    // Without an end: clocks of servers may have been ahead.
    const to = Number.MAX_SAFE_INTEGER;
    const spans = store.usageByKey({ from, to, span, ...(key !== undefined && { keyId: key }) });
    if (csv) print(`${header.join(",")}\n`);
    else if (!json) return await printListing({ header, rows: rowsOf(linesOf(spans, names, by)) });
    for await (const lines of linesOf(spans, names, by)) {
      print(lines.map((line) => `${json ? JSON.stringify(line) : csvOf(line)}\n`).join(""));
      await allPrinted();
    }
  } finally {
    await store.close();
  }
}

/** Yields the lines of one span at a time. */
async function* linesOf(
  spans: AsyncIterable<readonly KeyUsageSum[]>,
  names: ReadonlyMap<string, string>,
  by: "hour" | "day",
): AsyncGenerator<readonly Line[]> {
  for await (const sums of spans) {
    const lines = new Map<string, Line>();
    for (const { start, keyId, kind, status, units } of sums) {
      const at = new Date(start).toISOString();
      const line = lines.get(`${keyId} ${kind}`) ?? {
        time: by === "hour" ? `${at.slice(0, 16)}Z` : at.slice(0, 10),
        ...{ key: keyId, name: names.get(keyId) ?? "", kind, units: 0, statuses: {} },
      };
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

const csvOf = (line: Line): string =>
  rowOf(line, String)
    .map((field) => quoteField(field, ","))
    .join(",");

async function* rowsOf(
  pages: AsyncIterable<readonly Line[]>,
): AsyncGenerator<readonly (readonly string[])[]> {
  for await (const lines of pages) yield lines.map((line) => rowOf(line, grouped));
}
