/** The chart of usage: stacked columns over a y axis, whose values show on hover, and with the arrow keys on focus. */
import { sum } from "d3-array";
import { scaleLinear } from "d3-scale";
import { Key } from "../../../core/facts/render/parts.js";
import { grouped } from "../../../text.js";
import { minuteText } from "../../../time.js";
import { dayName, type Series, type Span, series } from "../usage-spans.js";
import { CardTable } from "./card-table.js";

/** Pixels, as in the style. */
const height = 160;

export type SpanUnit = "hour" | "day" | "week";

const headings: Readonly<Record<SpanUnit, string>> = { hour: "Hour (UTC)", day: "Day (UTC)", week: "Week from (UTC)" };

export const spanName = (start: number, unit: SpanUnit): string =>
  unit === "hour" ? minuteText(start) : dayName(start);

const heightOf = ({ counts }: Span): number => sum(series, (name) => counts[name]);
const mostIn = (spans: readonly Span[]): number => Math.max(...spans.map(heightOf));

/** Ticks of the axis: about three. */
const ticks = 2;

export const axisEnd = (spans: readonly Span[]): number =>
  scaleLinear([0, Math.max(1, mostIn(spans))], [])
    .nice(ticks)
    .domain()[1]!;

const shown = (text: string): string => (text === "quota_exceeded" ? "not checked" : text);

function sayColumn(span: Span, unit: SpanUnit): string {
  const counts = series.filter((name) => span.counts[name] > 0);
  const parts = counts.map((name) => `${shown(name)} ${grouped(span.counts[name])}`);
  return `${spanName(span.start, unit)} UTC: ${[`${grouped(span.units)} units`, ...parts].join(", ")}`;
}

export function UsageChart({
  spans,
  unit = "day",
  end = axisEnd(spans),
}: {
  spans: readonly Span[];
  unit?: SpanUnit;
  end?: number;
}) {
  const used = series.filter((name) => spans.some(({ counts }) => counts[name] > 0));
  if (used.length === 0) return <p class="empty-state">No units were used in this time.</p>;
  const y = scaleLinear([0, end], [height, 0]);
  const values = y.ticks(ticks).filter(Number.isInteger);
  return (
    <figure class="chart" data-chart>
      <div class="y-axis" aria-hidden="true">
        {values.toReversed().map((value) => (
          <span key={value}>{grouped(value)}</span>
        ))}
      </div>
      <svg
        class="chart-columns"
        viewBox={`0 0 ${spans.length * 10} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Units by ${unit}, up to ${grouped(mostIn(spans))}`}
      >
        <path class="grid" d={values.map((value) => `M0 ${y(value)}H${spans.length * 10}`).join("")} />
        {used.map((name) => (
          <path key={name} class={name} d={pathOf(spans, name, y)} />
        ))}
        <g class="hits">
          {spans.map((span, i) => (
            <rect key={span.start} x={i * 10}>
              <title>{sayColumn(span, unit)}</title>
            </rect>
          ))}
        </g>
      </svg>
      <div class="axis">
        <span>{spanName(spans[0]!.start, unit)}</span>
        <span>UTC</span>
        <span>{spanName(spans.at(-1)!.start, unit)}</span>
      </div>
      <figcaption class="legend">
        {used.map((name) => (
          <span key={name}>
            <Key className={name} />
            {shown(name)}
          </span>
        ))}
      </figcaption>
      <output class="said" />
    </figure>
  );
}

function pathOf(spans: readonly Span[], name: Series, y: (units: number) => number): string {
  const before = series.slice(0, series.indexOf(name));
  return spans
    .map(({ counts }, i) => {
      if (counts[name] === 0) return "";
      const below = sum(before, (each) => counts[each]);
      const bottom = Math.round(y(below));
      const rise = Math.round(y(below + counts[name])) - bottom;
      return `M${i * 10 + 1} ${bottom}v${rise}h8v${-rise}z`;
    })
    .join("");
}

export function UsageTable({ spans, unit }: { spans: readonly Span[]; unit: SpanUnit }) {
  const most = unit === "hour" ? 8 : 31;
  const used = spans.filter((span) => heightOf(span) > 0);
  const columns = series.filter((name) => used.some(({ counts }) => counts[name] > 0));
  return (
    <>
      <CardTable
        rows={used.toReversed().slice(0, most)}
        columns={[
          [headings[unit], ({ start }) => spanName(start, unit)],
          ["Units", ({ units }) => grouped(units), "number"],
          ...columns.map((name) => [shown(name), ({ counts }: Span) => grouped(counts[name]), "number"] as const),
        ]}
      />
      {used.length > most && <p class="note">The newest {most}; all are in the CSV file.</p>}
    </>
  );
}
