/** Usage by time and key, as a chart, a table and CSV. */
import { grouped } from "../../report/parts.js";
import type { ApiKey } from "../../store/state/service-store.js";
import { type Span, series } from "../usage-spans.js";
import { renderPage, spanName, UsageChart, UsageTable } from "./layout.js";

export interface UsageForm {
  /** As in `2026-11-22`. */
  readonly from: string;
  readonly to: string;
  readonly key: string;
  readonly by: "day" | "hour";
}

export function usagePage(query: UsageForm, spans: readonly Span[], keys: readonly ApiKey[]): string {
  const units = spans.reduce((sum, span) => sum + span.units, 0);
  const chosen = query.key === "" ? keys : keys.filter(({ id }) => id === query.key);
  const quotas = new Map(chosen.map((key) => [key.quotaName ?? key.id, key.quota.used]));
  const counted = [...quotas.values()].reduce((sum, used) => sum + used, 0);
  const isHour = query.by === "hour";
  return renderPage({
    title: "Usage",
    current: "/dashboard/usage",
    children: (
      <>
        <form method="get" action="/dashboard/usage" class="box">
          <div class="fields">
            <label>
              From
              <input type="date" name="from" value={query.from} required />
            </label>
            <label>
              To
              <input type="date" name="to" value={query.to} required />
            </label>
            <label>
              Key
              <select name="key">
                <option value="">all keys</option>
                {keys.map(({ id, name }) => (
                  <option key={id} value={id} selected={id === query.key}>
                    {name || id}
                  </option>
                ))}
              </select>
            </label>
            <label>
              By
              <select name="by">
                <option selected={!isHour}>day</option>
                <option selected={isHour}>hour</option>
              </select>
            </label>
          </div>
          <div class="actions">
            <button type="submit">Show</button>
            <a href={`/dashboard/usage.csv?${new URLSearchParams({ ...query })}`}>As CSV</a>
          </div>
        </form>
        <section>
          <h2>
            {grouped(units)} {units === 1 ? "unit" : "units"}
          </h2>
          <p class="note">
            The quotas have counted {grouped(counted)} units in their current periods
            {query.key === "" ? "" : ", over all keys that share this key's quota"}.
          </p>
          <UsageChart spans={spans} isHour={isHour} />
        </section>
        {units > 0 && (
          <section>
            <h2>By {query.by}</h2>
            <UsageTable
              spans={spans.filter((span) => span.units + span.counts.quota_exceeded > 0)}
              isHour={isHour}
            />
          </section>
        )}
      </>
    ),
  });
}

export function usageCsv(spans: readonly Span[], isHour: boolean): string {
  const lines = spans.map(({ start, units, counts }) =>
    [spanName(start, isHour), units, ...series.map((name) => counts[name])].join(","),
  );
  return [["time", "units", ...series].join(","), ...lines].map((line) => `${line}\r\n`).join("");
}
