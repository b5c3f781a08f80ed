/** Usage by hours or days, for charts, tables and CSV. Must not know pages. */
import { sum } from "d3-array";
import type { ServiceStore } from "../../state/service/service-store.js";
import type { KeyTotal, UsageQuery, UsageSum } from "../../state/service/usage.js";

export const series = ["ok", "alias", "disposable", "fake", "other", "quota_exceeded"] as const;
export type Series = (typeof series)[number];

/** In UTC. */
export const dayName = (time: number): string => new Date(time).toISOString().slice(0, 10);

export interface Span {
  readonly start: number;
  readonly counts: Readonly<Record<Series, number>>;
  /** All but `quota_exceeded`. */
  readonly units: number;
}

export async function lastSpans(
  store: Pick<ServiceStore, "usage">,
  now: number,
  count: number,
  span: number,
  keyId?: string,
): Promise<readonly Span[]> {
  const query = { ...lastQuery(now, count, span), ...(keyId !== undefined && { keyId }) };
  return spansOf(await store.usage(query), query);
}

/** The last spans, with the one that is not over. */
export function lastQuery(now: number, count: number, span: number): UsageQuery {
  const to = now - (now % span) + span;
  return { from: to - count * span, to, span };
}

/** Units by the ids of keys, without items that were not checked. */
export function unitsByKey(totals: readonly KeyTotal[]): ReadonlyMap<string, number> {
  const units = new Map<string, number>();
  for (const { keyId, status, units: count } of totals)
    if (status !== "quota_exceeded") units.set(keyId, (units.get(keyId) ?? 0) + count);
  return units;
}

const seriesOf = (status: string): Series => series.find((name) => name === status) ?? "other";

export function spansOf(usage: readonly UsageSum[], { from, to, span: length }: UsageQuery): readonly Span[] {
  const first = Math.floor(from / length);
  const counts = Array.from({ length: Math.ceil(to / length) - first }, () => countsOf(() => 0));
  for (const { start, status, units } of usage) {
    const span = counts[start / length - first];
    if (span) span[seriesOf(status)] += units;
  }
  return counts.map((counts, i) => ({ start: (first + i) * length, counts, units: chargedIn(counts) }));
}

/** Adds up spans, `count` at a time, so that the last part is whole. */
export function merged(spans: readonly Span[], count: number): readonly Span[] {
  const first = spans.length % count || count;
  const parts = [spans.slice(0, first)];
  for (let i = first; i < spans.length; i += count) parts.push(spans.slice(i, i + count));
  return parts.map((part) => {
    const counts = totalOf(part);
    return { start: part[0]!.start, counts, units: chargedIn(counts) };
  });
}

const chargedIn = (counts: Readonly<Record<Series, number>>): number =>
  sum(series, (name) => (name === "quota_exceeded" ? 0 : counts[name]));

const countsOf = (countOf: (name: Series) => number) =>
  Object.fromEntries(series.map((name) => [name, countOf(name)])) as Record<Series, number>;

export const totalOf = (spans: readonly Span[]): Readonly<Record<Series, number>> =>
  countsOf((name) => sum(spans, ({ counts }) => counts[name]));
