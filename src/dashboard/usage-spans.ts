/** Usage by hours or days, for charts, tables and CSV. Knows no pages. */
import type { UsageQuery, UsageSum } from "../store/state/usage.js";

/** Parts of a chart: the known statuses, and all others. */
export const series = ["ok", "alias", "disposable", "fake", "other", "quota_exceeded"] as const;
export type Series = (typeof series)[number];

/** Length of an hour and of a day in milliseconds. */
export const [hour, day] = [3_600_000, 86_400_000];

/** Units in a span of time. */
export interface Span {
  /** Start in milliseconds since the epoch. */
  readonly start: number;
  readonly counts: Readonly<Record<Series, number>>;
  /** Units that were charged: all but those that are `quota_exceeded`. */
  readonly units: number;
}

const seriesOf = (status: string): Series => series.find((name) => name === status) ?? "other";

/** Returns the spans of a question, with their usage; those without usage are empty. */
export function spansOf(usage: readonly UsageSum[], { from, to, span: length }: UsageQuery): readonly Span[] {
  const first = Math.floor(from / length);
  const counts = Array.from({ length: Math.ceil(to / length) - first }, () =>
    Object.fromEntries(series.map((name) => [name, 0])),
  ) as Record<Series, number>[];
  for (const { start, status, units } of usage) {
    const span = counts[start / length - first];
    if (span) span[seriesOf(status)] += units;
  }
  return counts.map((counts, i) => ({ start: (first + i) * length, counts, units: chargedIn(counts) }));
}

/** Adds up the units that were charged. */
const chargedIn = (counts: Readonly<Record<Series, number>>): number =>
  series.reduce((sum, name) => (name === "quota_exceeded" ? sum : sum + counts[name]), 0);

/** Adds up spans. */
export const totalOf = (spans: readonly Span[]): Readonly<Record<Series, number>> =>
  Object.fromEntries(
    series.map((name) => [name, spans.reduce((sum, { counts }) => sum + counts[name], 0)]),
  ) as Record<Series, number>;
