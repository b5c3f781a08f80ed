/** When rows came: their statuses by month, and the share of bad ones. */
import { grouped, percent } from "../../../text.js";
import { type Breakdown, series } from "../collector.js";
import type { NamedCounts } from "../top-counts.js";
import { Head, Key } from "./parts.js";
import { badOf, slicesOf } from "./sources.js";

const mostMonths = 60;

interface BarPlace {
  readonly className: string;
  readonly left: number;
  readonly y: number;
  readonly height: number;
  readonly all: number;
  readonly children: string;
}

/** One of `all` beside each other, 600 wide together. */
function Bar({ className, left, y, height, all, children }: BarPlace) {
  const step = 600 / all;
  const width = Math.min(40, step * 0.8);
  const x = left * step + (step - width) / 2;
  return (
    <rect class={className} x={x.toFixed(2)} y={y.toFixed(2)} width={width.toFixed(2)} height={height.toFixed(2)}>
      <title>{children}</title>
    </rect>
  );
}

export function Months({ breakdown: { months } }: { breakdown: Breakdown }) {
  if (months === null) return null;
  const all = withGaps(months.counts);
  const shown = all.slice(-mostMonths);
  const [first, last] = [shown[0]!, shown.at(-1)!];
  const most = Math.max(...shown.map(({ total }) => total));
  const worst = worstOf(shown);
  return (
    <section>
      <h2>When they came</h2>
      <p class="note">
        Rows by month, from the column "{months.column}". A month with many bad rows is often one in which a form was
        attacked.{all.length > mostMonths && ` The last ${mostMonths} months are shown.`}
        {worst && ` The worst was ${worst.name}: ${percent(badOf(worst), worst.total)} bad.`}
      </p>
      <p class="legend">
        {series
          .filter((_, i) => shown.some(({ counts }) => (counts[i] ?? 0) > 0))
          .map((label) => (
            <span key={label}>
              <Key className={label} />
              {label}
            </span>
          ))}
      </p>
      <div class="axis">
        <span>{grouped(most)} rows</span>
      </div>
      <svg
        class="months"
        viewBox="0 0 600 150"
        preserveAspectRatio="none"
        role="img"
        aria-label="Rows by month and status; the figures are in the table below"
      >
        {shown.flatMap((month, i) => {
          let y = 150;
          return slicesOf(month)
            .filter(({ count }) => count > 0)
            .map(({ className, label, count }) => {
              const height = (145 * count) / most;
              y -= height;
              return (
                <Bar
                  key={`${month.name} ${label}`}
                  className={className}
                  left={i}
                  y={y}
                  height={height}
                  all={shown.length}
                >
                  {`${month.name}: ${grouped(count)} ${label}`}
                </Bar>
              );
            });
        })}
      </svg>
      {worst && (
        <>
          <div class="axis">
            <span>{percent(badOf(worst), worst.total)} bad</span>
          </div>
          <svg
            class="shares"
            viewBox="0 0 600 60"
            preserveAspectRatio="none"
            role="img"
            aria-label="Share of bad rows by month; the figures are in the table below"
          >
            {shown.map((month, i) => {
              const height = month.total === 0 ? 0 : (58 * badOf(month) * worst.total) / (month.total * badOf(worst));
              return (
                <Bar
                  key={month.name}
                  className={month === worst ? "fake" : "other"}
                  left={i}
                  y={Math.max(0, 60 - height)}
                  height={Math.min(60, height)}
                  all={shown.length}
                >
                  {`${month.name}: ${percent(badOf(month), month.total)} bad`}
                </Bar>
              );
            })}
          </svg>
        </>
      )}
      <div class="axis">
        <span>{first.name}</span>
        {last !== first && <span>{last.name}</span>}
      </div>
      <details>
        <summary>Figures</summary>
        <table>
          <Head columns={["Month", { number: "Rows" }, { number: "Bad" }, { number: "Share" }]} />
          <tbody>
            {shown.map((month) => (
              <tr key={month.name}>
                <th scope="row">{month.name}</th>
                <td class="number">{grouped(month.total)}</td>
                <td class="number">{grouped(badOf(month))}</td>
                <td class="number">{percent(badOf(month), month.total)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </section>
  );
}

/** Least number of rows of a month that can be the worst. */
const fewRows = 5;

function worstOf(months: readonly NamedCounts[]): NamedCounts | undefined {
  const share = (month: NamedCounts) => badOf(month) / month.total;
  const some = months.filter((month) => month.total >= fewRows && badOf(month) > 0);
  return some.length === 0 ? undefined : some.reduce((worst, month) => (share(month) > share(worst) ? month : worst));
}

function withGaps(months: readonly NamedCounts[]): readonly NamedCounts[] {
  const known = new Map(months.map((month) => [month.name, month]));
  const all: NamedCounts[] = [];
  for (let [year, month] = months[0]!.name.split("-").map(Number) as [number, number]; ; month++) {
    if (month > 12) [year, month] = [year + 1, 1];
    const name = `${year}-${String(month).padStart(2, "0")}`;
    all.push(known.get(name) ?? { name, counts: [], total: 0 });
    if (name === months.at(-1)!.name) return all;
  }
}
