/** Where bad rows come from: providers, and the values of columns with few of them. */
import { grouped, percent } from "../../../text.js";
import { type Breakdown, series } from "../collector.js";
import { badRowsOf, type Group, nameOfOthers, sumOfValues, worseValue, worstFirst } from "../groups.js";
import { mostNames, type NamedCounts } from "../top-counts.js";
import { Head, type Slice, StackedBar } from "./parts.js";

export const badOf = ({ counts }: NamedCounts): number =>
  (counts[series.indexOf("disposable")] ?? 0) + (counts[series.indexOf("fake")] ?? 0);

export const slicesOf = ({ counts }: NamedCounts): Slice[] =>
  series.map((label, i) => ({ className: label, label, count: counts[i] ?? 0 }));

function ProviderTable({ providers }: { providers: readonly NamedCounts[] }) {
  return (
    <table>
      <Head columns={["Domain", { number: "Rows" }, { number: "Bad" }, "By status"]} />
      <tbody>
        {providers
          .toSorted((a, b) => badOf(b) - badOf(a) || b.total - a.total)
          .map((provider) => (
            <tr key={provider.name}>
              <td class="name">{provider.name}</td>
              <td class="number">{grouped(provider.total)}</td>
              <td class="number">{percent(badOf(provider), provider.total)}</td>
              <td class="chart">
                <StackedBar slices={slicesOf(provider)} className="mini" />
              </td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}

export function Providers({ breakdown: { providers, isApproximate } }: { breakdown: Breakdown }) {
  const bad = providers.filter((provider) => badOf(provider) > 0);
  if (bad.length === 0 && !isApproximate) return null;
  return (
    <section>
      <h2>Providers by bad rows</h2>
      {bad.length === 0 ? <p>None of the most frequent domains has any.</p> : <ProviderTable providers={bad} />}
      {isApproximate && (
        <p class="note">
          The list has more than {grouped(mostNames)} domains: rows of domains that were rare at first may be missing
          here.
        </p>
      )}
    </section>
  );
}

const mostGroupValues = 8;

export function BySource({ group }: { group: Group }) {
  const { column, values, others } = group;
  const sorted = worstFirst(values);
  const shown = sorted.slice(0, mostGroupValues);
  const worst = worseValue(group);
  const { rows: all, bad } = sumOfValues(group);
  return (
    <section>
      <h2>By {column}</h2>
      {worst && (
        <p class="note">
          Worst: {worst.name}, where {percent(badRowsOf(worst), worst.rows)} of the rows are bad; in the whole list,{" "}
          {percent(bad, all)}.
        </p>
      )}
      <table>
        <Head columns={[column, { number: "Rows" }, { number: "Bad" }, "By status"]} />
        <tbody>
          {shown.map((value) => (
            <tr key={value.name}>
              <td class="name">{value.name}</td>
              <td class="number">{grouped(value.rows)}</td>
              <td class="number">{percent(badRowsOf(value), value.rows)}</td>
              <td class="chart">
                <StackedBar
                  slices={Object.entries(value.statuses).map(([label, count]) => {
                    return { className: label, label, count };
                  })}
                  className="mini"
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < sorted.length && (
        <p class="note">{grouped(sorted.length - shown.length)} more values have a smaller share, or few rows.</p>
      )}
      {others && (
        <p class="note">
          Besides, {nameOfOthers(others)}: {grouped(others.rows)} rows, {percent(badRowsOf(others), others.rows)} bad.
        </p>
      )}
    </section>
  );
}
