/** The list of the day: each name with its first and last day. `idv data update` adds to a copy of castle-days.tsv. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readBuilt } from "../../package/own-files.js";

export const dailyListUrl =
  "https://raw.githubusercontent.com/castle/disposable-email-domains/main/disposable-email-domains.txt";

/** Names come back for weeks, so that each stays for a year after it was last seen. */
const keptDays = 365;
const dayMilliseconds = 86_400_000;

export interface Days {
  readonly names: ReadonlyMap<string, { readonly first: string; readonly last: string }>;
  readonly lastDay: string;
}

export function readDays(text: string): Days {
  const names = new Map<string, { first: string; last: string }>();
  let lastDay = "";
  for (const line of text.trim().split("\n").slice(1)) {
    const [name = "", first = "", last = ""] = line.split("\t");
    names.set(name, { first, last });
    if (last > lastDay) lastDay = last;
  }
  return { names, lastDay };
}

export function withDay({ names }: Days, list: readonly string[], day: string): Days {
  const oldest = new Date(Date.parse(day) - keptDays * dayMilliseconds).toISOString().slice(0, 10);
  const kept = new Map([...names].filter(([, { last }]) => last >= oldest));
  for (const name of list.map((each) => each.trim().toLowerCase()))
    kept.set(name, { first: kept.get(name)?.first ?? day, last: day });
  return { names: kept, lastDay: day };
}

export const textOfDays = ({ names }: Days): string =>
  `domain\tfirst seen\tlast seen\n${[...names].map(([name, { first, last }]) => `${name}\t${first}\t${last}\n`).join("")}`;

export const listOfDays = ({ names }: Days) => ({
  list: [...names.keys()],
  again: new Set([...names].flatMap(([name, { first, last }]) => (first === last ? [] : [name]))),
});

export const daysPath = (table: string): string => join(dirname(table), "castle-days.tsv");

export function findDays(table: string): Days {
  const builtIn = readDays(Buffer.from(readBuilt("data/castle-days.tsv")).toString());
  try {
    const installed = readDays(readFileSync(daysPath(table), "utf8"));
    return installed.lastDay >= builtIn.lastDay ? installed : builtIn;
  } catch {
    return builtIn;
  }
}
