/** Where bad rows come from: providers, and the values of columns with few of them. */
import { sum } from "d3-array";
import { grouped, percent } from "../../../text.js";
import { series } from "../collector.js";
import type { Breakdown, Group, NamedCounts } from "../facts-schema.js";
import { badRowsOf, fewRows, isBad, nameOfOthers, shownValue, sumOfValues, worseValue, worstFirst } from "../groups.js";
import { mostNames } from "../top-counts.js";
import { Head, Section, type Slice, StackedBar } from "./parts.js";

export const badOf = ({ counts }: NamedCounts): number =>
  sum(counts, (count, nth) => (isBad(series[nth]!) ? count : 0));

export const slicesOf = ({ counts }: NamedCounts): Slice[] =>
  series.map((label, i) => ({ className: label, label, count: counts[i] ?? 0 }));

type Source = { readonly name: string; readonly rows: number; readonly bad: number; readonly slices: readonly Slice[] };

const SourceTable = ({ column, sources }: { column: string; sources: readonly Source[] }) => (
  <table>
    <Head columns={[column, { number: "Rows" }, { number: "Bad" }, "By status"]} />
    <tbody>
      {sources.map(({ name, rows, bad, slices }) => (
        <tr key={name}>
          <td class="name">{name}</td>
          <td class="number">{grouped(rows)}</td>
          <td class="number">{percent(bad, rows)}</td>
          <td class="chart">
            <StackedBar slices={slices} className="mini" />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

export function Providers({ breakdown: { providers, isApproximate } }: { breakdown: Breakdown }) {
  const bad = providers
    .map((provider) => ({ ...provider, rows: provider.total, bad: badOf(provider), slices: slicesOf(provider) }))
    .filter((provider) => provider.bad > 0)
    .sort((a, b) => b.bad - a.bad || b.rows - a.rows);
  if (bad.length === 0 && !isApproximate) return null;
  return (
    <Section heading="Providers by bad rows">
      {bad.length > 0 && <SourceTable column="Domain" sources={bad} />}
      {isApproximate && (
        <p class="note">
          The list has more than {grouped(mostNames)} domains: rows of domains that were rare at first may be missing
          here.
        </p>
      )}
    </Section>
  );
}

const mostGroupValues = 8;

export function BySource({ group }: { group: Group }) {
  const { column, values, others } = group;
  const sorted = worstFirst(values);
  const shown = sorted.slice(0, mostGroupValues).map((value) => {
    const slices = Object.entries(value.statuses).map(([label, count]) => ({ className: label, label, count }));
    return { ...value, name: shownValue(value.name), bad: badRowsOf(value), slices };
  });
  const worst = worseValue(group);
  const { rows: all, bad } = sumOfValues(group);
  return (
    <Section heading={`By ${column}`}>
      {worst && (
        <p class="note">
          Worst: {shownValue(worst.name)}, where {percent(badRowsOf(worst), worst.rows)} of the rows are bad; in the
          whole list, {percent(bad, all)}.
        </p>
      )}
      <SourceTable column={column} sources={shown} />
      {values.some(({ rows }) => rows < fewRows) && (
        <p class="note">Values with fewer than {fewRows} rows come last.</p>
      )}
      {shown.length < sorted.length && (
        <p class="note">{grouped(sorted.length - shown.length)} more values have a smaller share, or few rows.</p>
      )}
      {others && (
        <p class="note">
          Besides, {nameOfOthers(others)}: {grouped(others.rows)} rows, {percent(badRowsOf(others), others.rows)} bad.
        </p>
      )}
    </Section>
  );
}
