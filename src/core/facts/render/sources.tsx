/** Where bad rows come from: providers, and the values of columns with few of them. */
import { grouped, percent } from "../../../text.js";
import type { Facts, Group } from "../facts-schema.js";
import { badProviders, slicesOf } from "../figures.js";
import { badRowsOf, fewRows, nameOfOthers, shownValue, worstFirst } from "../groups.js";
import { mostNames } from "../top-counts.js";
import type { Slice } from "../words.js";
import { Head, Section, StackedBar } from "./parts.js";

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

export function Providers({ facts }: { facts: Facts }) {
  const bad = badProviders(facts).map((provider) => ({
    ...provider,
    rows: provider.total,
    slices: slicesOf(provider),
  }));
  const isApproximate = facts.kind === "email" && facts.breakdown?.isApproximate === true;
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
  return (
    <Section heading={`By ${column}`}>
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
