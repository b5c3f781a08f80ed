/** `idv usage`: the units that the keys of `idv serve` have used, by time, key and status. */
import { Option } from "commander";
import type { Usage } from "../../store/service-store.js";
import { quoteField } from "../../table/quotes.js";
import { knownStatuses } from "../../validator/validator.js";
import { day, duration, filled } from "../config/option-values.js";
import { openServiceState } from "../engines/service-state.js";
import { printListing } from "../terminal/listing.js";
import { print } from "../terminal/standard-output.js";
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

async function showUsage(options: UsageOptions): Promise<void> {
  const store = await openServiceState(options.state, process.env);
  try {
    const keys = new Map((await store.list()).map(({ id, name }) => [id, name]));
    const since = Date.now() - options.since;
    // The whole first span: a part of a day would look like a quiet one.
    const start = spanOf(since, options.by);
    show(linesOf(await store.usage(start, options.key), keys, options.by), options);
  } finally {
    await store.close();
  }
}

const spanOf = (time: number, by: "hour" | "day"): number => time - (time % (by === "hour" ? day / 24 : day));

function linesOf(
  usage: readonly Usage[],
  names: ReadonlyMap<string, string>,
  by: "hour" | "day",
): readonly Line[] {
  const lines = new Map<string, Line>();
  for (const { keyId, hour, kind, status, units } of usage) {
    const span = spanOf(hour, by);
    const time = new Date(span).toISOString().slice(0, by === "hour" ? 16 : 10) + (by === "hour" ? "Z" : "");
    const id = `${span} ${keyId} ${kind}`;
    const line = lines.get(id) ?? {
      time,
      key: keyId,
      name: names.get(keyId) ?? "",
      kind,
      units: 0,
      statuses: {},
    };
    lines.set(id, line);
    line.statuses[status] = (line.statuses[status] ?? 0) + units;
    if (status !== "quota_exceeded") line.units += units;
  }
  return [...lines.values()];
}

function show(lines: readonly Line[], { json, csv }: UsageOptions): void | Promise<void> {
  if (json) return print(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const others = lines.flatMap(({ statuses }) => Object.keys(statuses));
  const statuses = [...new Set<string>([...knownStatuses, ...others])];
  const header = ["time", "key", "name", "kind", "units", ...statuses];
  const rowsOf = (figure: (count: number) => string) =>
    lines.map((line) => [
      ...[line.time, line.key, line.name, line.kind, figure(line.units)],
      ...statuses.map((status) => figure(line.statuses[status] ?? 0)),
    ]);
  if (!csv) return printListing({ header, rows: rowsOf(grouped) });
  const rows = [header, ...rowsOf(String)].map((row) => row.map((field) => quoteField(field, ",")).join(","));
  print(`${rows.join("\n")}\n`);
}
