/** When rows came: their statuses by month, and the share of bad ones. */
import { max, sum } from "d3-array";
import { scaleBand, scaleLinear } from "d3-scale";
import { grouped, percent } from "../../../text.js";
import { shownStatus } from "../../validator/statuses.js";
import type { Breakdown, NamedCounts } from "../facts-schema.js";
import { badOf, monthsOf, mostMonths, slicesOf } from "../figures.js";
import { fewRows, isWorse, series } from "../groups.js";
import { Head, Key, Section } from "./parts.js";

const rowTicks = 3;

const width = 600;
const rowsHeight = 150;
const sharesHeight = 60;

export function Months({ breakdown }: { breakdown: Breakdown }) {
  const { months, attacks } = breakdown;
  if (months === null) return null;
  const all = monthsOf({ breakdown });
  const shown = all.slice(-mostMonths);
  const first = shown[0]!;
  const last = shown.at(-1)!;
  const top = topOf(shown);
  const sharesOf = (months: readonly NamedCounts[]) => ({
    rows: sum(months, ({ total }) => total),
    bad: sum(months, badOf),
  });
  const worst = top && isWorse(sharesOf([top]), sharesOf(shown)) ? top : undefined;
  const attacked = new Set(attacks.map(({ month }) => month));
  const names = shown.map(({ name }) => name);
  const x = scaleBand(names, [0, width]).padding(0.2);
  const bar = (name: string, top: number, bottom: number) => ({
    ...{ x: x(name)!.toFixed(2), width: x.bandwidth().toFixed(2) },
    ...{ y: top.toFixed(2), height: (bottom - top).toFixed(2) },
  });
  const y = scaleLinear([0, max(shown, ({ total }) => total)!], [rowsHeight, 0]).nice(rowTicks);
  const shareOf = (month: NamedCounts) => (month.total === 0 ? 0 : badOf(month) / month.total);
  const shareY = scaleLinear([0, top === undefined ? 1 : shareOf(top)], [sharesHeight, 0]);
  const grid = y.ticks(rowTicks).map((value) => `M0 ${y(value)}H${width}`);
  // Not over the names of the first and the last month.
  const years = shown
    .filter(({ name }) => name.endsWith("-01"))
    .map(({ name }) => [name, x(name)! / width] as const)
    .filter(([, share]) => share > 0.16 && share < 0.84);
  return (
    <Section heading="When they came">
      <p class="note">
        Rows by month, from the column "{months.column}".
        {all.length > mostMonths && ` The last ${mostMonths} months are shown.`}
        {worst && ` The worst was ${worst.name}: ${percent(badOf(worst), worst.total)} bad, in red.`}
        {top &&
          names.some((name) => name !== worst?.name && attacked.has(name)) &&
          ` ${worst && attacked.has(worst.name) ? "Other months" : "Months"} of what looks like an attack are in amber.`}
      </p>
      <p class="legend">
        {series
          .filter((_, i) => shown.some(({ counts }) => (counts[i] ?? 0) > 0))
          .map((label) => (
            <span key={label}>
              <Key className={label} />
              {shownStatus(label)}
            </span>
          ))}
      </p>
      <div class="axis">
        <span>{grouped(y.domain()[1]!)} rows</span>
      </div>
      <svg
        class="months"
        viewBox={`0 0 ${width} ${rowsHeight}`}
        preserveAspectRatio="none"
        role="img"
        aria-label="Rows by month and status; the figures are in the table below"
      >
        <path class="grid" d={grid.join("")} />
        {shown.flatMap((month) => {
          let below = 0;
          return slicesOf(month)
            .filter(({ count }) => count > 0)
            .map(({ className, label, count }) => {
              const bottom = y(below);
              below += count;
              return (
                <rect key={`${month.name} ${label}`} class={className} {...bar(month.name, y(below), bottom)}>
                  <title>{`${month.name}: ${grouped(count)} ${shownStatus(label)}`}</title>
                </rect>
              );
            });
        })}
      </svg>
      {top && (
        <>
          <div class="axis">
            <span>{percent(badOf(top), top.total)} bad</span>
          </div>
          <svg
            class="shares"
            viewBox={`0 0 ${width} ${sharesHeight}`}
            preserveAspectRatio="none"
            role="img"
            aria-label="Share of bad rows by month; the figures are in the table below"
          >
            {shown.map((month) => {
              // A month with few rows may have a larger share.
              const y = Math.max(0, shareY(shareOf(month)));
              const mark = month === worst ? "fake" : attacked.has(month.name) ? "disposable" : "other";
              return (
                <rect key={month.name} class={mark} {...bar(month.name, y, sharesHeight)}>
                  <title>{`${month.name}: ${percent(badOf(month), month.total)} bad`}</title>
                </rect>
              );
            })}
          </svg>
        </>
      )}
      <svg class="years" aria-hidden="true">
        <text x="0" y="1em">
          {first.name}
        </text>
        {years.map(([name, share]) => (
          <text key={name} x={`${(100 * share).toFixed(1)}%`} y="1em" text-anchor="middle">
            {name.slice(0, 4)}
          </text>
        ))}
        {last !== first && (
          <text x="100%" y="1em" text-anchor="end">
            {last.name}
          </text>
        )}
      </svg>
      <ul class="printed">
        {shown.map((month) => (
          <li key={month.name}>
            {month.name}: {grouped(month.total)}, {percent(badOf(month), month.total)} bad
          </li>
        ))}
      </ul>
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
    </Section>
  );
}

function topOf(months: readonly NamedCounts[]): NamedCounts | undefined {
  const share = (month: NamedCounts) => badOf(month) / month.total;
  const some = months.filter((month) => month.total >= fewRows && badOf(month) > 0);
  return some.length === 0 ? undefined : some.reduce((worst, month) => (share(month) > share(worst) ? month : worst));
}
