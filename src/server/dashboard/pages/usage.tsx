/** Usage by time and key, as a chart, a table and CSV. */

import { stringify } from "csv-stringify/sync";
import { sum } from "d3-array";
import { Section } from "../../../core/facts/render/parts.js";
import type { ApiKey } from "../../../state/service/api-key.js";
import { counted, grouped } from "../../../text.js";
import { day } from "../../../time.js";
import { dayName, merged, type Span, series } from "../usage-spans.js";
import { axisEnd, type SpanUnit, spanName, UsageChart, UsageTable } from "./chart.js";
import { Choice, Field } from "./field.js";
import { FaultBox, nameOfKey, Page } from "./layout.js";

export interface UsageForm {
  readonly from: string;
  readonly to: string;
  /** Names or ids of keys; the second is compared with the first. Empty for all keys, and for no comparison. */
  readonly key: string;
  readonly other: string;
  readonly by: "day" | "hour";
  /** What was changed to have something to show. */
  readonly fault?: string;
}

export type ShownUsage = { readonly key: ApiKey | undefined; readonly spans: readonly Span[] };

const mostColumns = 120;

const ranges: readonly (readonly [name: string, days: number, by: "day" | "hour"])[] = [
  ["Today", 1, "hour"],
  ["7 days", 7, "hour"],
  ["30 days", 30, "day"],
  ["90 days", 90, "day"],
  ["12 months", 365, "day"],
];

export function usagePage(query: UsageForm, shown: readonly ShownUsage[], keys: readonly ApiKey[], now: number) {
  const isHour = query.by === "hour";
  const isLong = shown[0]!.spans.length > mostColumns;
  const unit = isLong && !isHour ? "week" : query.by;
  const parts = shown.map(({ key, spans }) => ({ key, spans: unit === "week" ? merged(spans, 7) : spans }));
  const end = axisEnd(parts.flatMap(({ spans }) => spans));
  const { fault, ...form } = query;
  const queryOf = (changed: Partial<UsageForm>) =>
    new URLSearchParams({ ...form, ...changed } as Record<string, string>).toString();
  return (
    <Page title="Usage" current="/dashboard/usage">
      {fault !== undefined && <FaultBox text={fault} />}
      <form method="get" action="/dashboard/usage" class="box">
        <p class="ranges">
          {ranges.map(([name, days, by]) => {
            const from = dayName(now - (days - 1) * day);
            return (
              <a key={name} href={`/dashboard/usage?${queryOf({ from, to: dayName(now), by })}`}>
                {name}
              </a>
            );
          })}
        </p>
        <div class="fields">
          <Field label="From" type="date" name="from" value={query.from} required />
          <Field label="To" type="date" name="to" value={query.to} required />
          <Field label="Key" hint="name or id; empty for all" name="key" value={query.key} maxLength={100} />
          <Field label="Compared with" hint="another key" name="other" value={query.other} maxLength={100} />
          <Choice label="By" name="by" options={["day", "hour"]} chosen={query.by} />
        </div>
        <div class="actions">
          <button type="submit">Show</button>
          <a href={`/dashboard/usage.csv?${queryOf({})}`}>As CSV</a>
        </div>
      </form>
      {parts.map(({ key, spans }, i) => {
        const units = sum(spans, (span) => span.units);
        const chosen = key === undefined ? keys : [key];
        const quotas = new Map(chosen.map((key) => [key.quotaName ?? key.id, key.quota.used]));
        return (
          <Section key={i} heading={`${key === undefined ? "All keys" : nameOfKey(key)}: ${counted(units, "unit")}`}>
            <p class="note">
              The quotas have counted {grouped(sum(quotas.values()))} units in their current periods
              {key === undefined ? "" : ", over all keys that share this key's quota"}.
            </p>
            <UsageChart spans={spans} unit={unit} end={end} />
            {units > 0 && <UsageTable spans={spans} unit={unit} />}
          </Section>
        );
      })}
    </Page>
  );
}

export function usageCsv(spans: readonly Span[], unit: SpanUnit): string {
  const rows = spans.map(({ start, units, counts }) => [
    spanName(start, unit),
    units,
    ...series.map((name) => counts[name]),
  ]);
  return stringify([["time", "units", ...series], ...rows], { record_delimiter: "windows" });
}
