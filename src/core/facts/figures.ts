/** Figures that the page and the Markdown of a report show alike: months, providers, flags, and what was paid. */
import { range, sum } from "d3-array";
import { grouped } from "../../text.js";
import { minuteText } from "../../time.js";
import { flagWords } from "../classifier/flags/flag-names.js";
import type { Facts, InputFacts } from "./facts.js";
import type { NamedCounts } from "./facts-schema.js";
import { isBad, series } from "./groups.js";
import { itemsOf, type Slice } from "./words.js";

export const badOf = ({ counts }: NamedCounts): number =>
  sum(counts, (count, nth) => (isBad(series[nth]!) ? count : 0));

export const slicesOf = ({ counts }: NamedCounts): Slice[] =>
  series.map((label, i) => ({ className: label, label, count: counts[i] ?? 0 }));

export const mostMonths = 60;

/** From the first month to the last one, with those between them that have no rows. */
export function monthsOf({ breakdown }: Pick<Facts, "breakdown">): readonly NamedCounts[] {
  const { counts = [] } = breakdown?.months ?? {};
  if (counts.length === 0) return [];
  const known = new Map(counts.map((month) => [monthNumber(month.name), month]));
  return range(Math.min(...known.keys()), Math.max(...known.keys()) + 1).map((number) => {
    const name = `${Math.floor(number / 12)}-${String(1 + (number % 12)).padStart(2, "0")}`;
    return known.get(number) ?? { name, counts: [], total: 0 };
  });
}

function monthNumber(name: string): number {
  const [year = 0, month = 0] = name.split("-").map(Number);
  return 12 * year + month - 1;
}

/** Domains of addresses with bad rows; those with most of them first. */
export function badProviders({ kind, breakdown }: Facts): readonly (NamedCounts & { readonly bad: number })[] {
  if (kind === "domain") return [];
  return (breakdown?.providers ?? [])
    .map((provider) => ({ ...provider, bad: badOf(provider) }))
    .filter(({ bad }) => bad > 0)
    .sort((a, b) => b.bad - a.bad || b.total - a.total);
}

export const flagsHeading = ({ kind }: Facts): string => `Kinds of ${itemsOf({ kind })}`;

export const flagsOf = ({ breakdown }: Facts): readonly (readonly [words: string, rows: number])[] =>
  Object.entries(breakdown?.flags ?? {}).map(([flag, count]) => [
    flagWords[flag as keyof typeof flagWords] ?? flag,
    count,
  ]);

/** Limit on the kinds of bad rows that are shown; each input has its own kinds. */
const mostKinds = 12;
const oneOfSeveral = "for one entry, though another is ok or alias";

const withLines = (what: string, { count, lines }: InputFacts["outvoted"]): string =>
  `${grouped(count)} ${what}${lines.length === 0 ? "" : `; first lines: ${lines.join(", ")}`}`;

type Term = readonly [term: string, text: string];

/** Returns units paid and saved, and counts of rows that are left out elsewhere. */
export function costOf(facts: Facts): { readonly heading: string; readonly terms: readonly Term[] } {
  const { inputs, cached, prechecked, distinct, units, badRows } = facts;
  const isPaid = facts.requests !== null || units.limited === true;
  const left = units.left === null ? "no limit" : `${grouped(units.left)} left`;
  const isRenewed = units.limited === true && units.renews !== null;
  const renews = isRenewed ? `, renews ${minuteText(units.renews)} UTC` : "";
  const kinds = inputs.flatMap(({ badRowKinds }) => badRowKinds).slice(0, mostKinds);
  const outvoted = inputs.map((input) => input.outvoted).filter(({ count }) => count > 0);
  const paid = `${grouped(units.used + units.paidBefore)} of ${grouped(distinct)} different ${itemsOf(facts)}`;
  const terms: (Term | false)[] = [
    isPaid && ["Paid", paid],
    cached > 0 && ["Free", `${grouped(cached)} from the cache`],
    prechecked > 0 && ["Free", `${grouped(prechecked)} undeliverable by syntax`],
    units.limited !== null && isPaid && ["Quota", `${left}${renews}`],
    badRows > 0 && ["Bad rows", `${grouped(badRows)}, not counted above`],
    ...kinds.map((kind): Term => ["Of these", withLines(kind.kind, kind)]),
    ...outvoted.slice(0, mostKinds).map((rows): Term => ["Left out or bad", withLines(oneOfSeveral, rows)]),
  ];
  return {
    heading: isPaid ? "Quota and cost" : "Rows that were not counted",
    terms: terms.filter((term) => term !== false),
  };
}
