/** The first page: used units, units left, and the health of the service. */
import { Head, Terms } from "../../../core/facts/render/parts.js";
import type { ApiKey, AuditEntry } from "../../../state/service/api-key.js";
import { grouped } from "../../../text.js";
import { type Span, totalOf } from "../usage-spans.js";
import { UsageChart } from "./chart.js";
import { QuotaMeter, Renewal, renderPage, Time } from "./layout.js";

interface Overview {
  readonly days: readonly Span[];
  readonly keys: readonly ApiKey[];
  readonly audit: readonly AuditEntry[];
  readonly refusals: number;
  readonly isWritable: boolean;
  readonly terms: readonly (readonly [term: string, text: string])[];
}

const mostUsed = 0.8;
const mostNear = 20;

export function overviewPage({ days, keys, audit, refusals, isWritable, terms }: Overview): string {
  const live = keys.filter(({ revoked, isSandbox }) => revoked === null && !isSandbox);
  const share = ({ quota: { used, limit } }: ApiKey) => (limit === null ? 0 : limit === 0 ? 1 : used / limit);
  const near = live.filter((key) => share(key) >= mostUsed).sort((a, b) => share(b) - share(a));
  const quotas = new Map(live.map((key) => [key.quotaName ?? `key ${key.id}`, key.quota]));
  const thisPeriod = [...quotas.values()].reduce((sum, { used }) => sum + used, 0);
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  const units = days.reduce((sum, span) => sum + span.units, 0);
  return renderPage({
    title: "Overview",
    current: "/dashboard",
    children: (
      <>
        {!isWritable && (
          <p class="fault" role="alert">
            The state cannot be written: requests are answered with 503. The server's log says why.
          </p>
        )}
        <div class="cards">
          <Card figure={days.at(-1)!.units} label="units today (UTC)" />
          <Card figure={thisPeriod} label="units in the current periods" />
          <Card figure={units} label="units in 30 days" />
          <Card figure={totalOf(days).quota_exceeded} label="items not checked in 30 days: no units left" />
          <Card figure={refusals} label="requests refused by this server since its start: no units left" />
        </div>
        <section>
          <h2>30 days</h2>
          <UsageChart spans={days} />
        </section>
        <section>
          <h2>Keys with at least 80 % of their units used</h2>
          {keys.length === 0 ? (
            <p class="empty-state">
              No keys yet: <a href="/dashboard/keys#create">create one</a>.
            </p>
          ) : near.length === 0 ? (
            <p class="empty-state">None: every key has more than 20 % of its units left.</p>
          ) : (
            <table class="cards-table">
              <Head columns={["Key", "Used", "Renews"]} />
              <tbody>
                {near.slice(0, mostNear).map((key) => (
                  <tr key={key.id}>
                    <td class="name">
                      <a href={`/dashboard/keys/${key.id}`}>{key.name || key.id}</a>
                    </td>
                    <td data-label="Used">
                      <QuotaMeter quota={key.quota} />
                    </td>
                    <td data-label="Renews">
                      <Renewal quota={key.quota} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
          {near.length > mostNear && (
            <p class="note">
              and {grouped(near.length - mostNear)} more: <a href="/dashboard/keys?sort=used">all keys</a>
            </p>
          )}
        </section>
        <div class="columns">
          <section>
            <h2>Changes</h2>
            {audit.length === 0 ? (
              <p class="empty-state">Nothing was done yet.</p>
            ) : (
              <ul>
                {audit.map(({ at, who, what, keyId }) => (
                  <li key={`${at} ${keyId} ${what}`}>
                    <Time at={at} />: {keyId === "" ? "" : `${names.get(keyId) || keyId} was `}
                    {what} ({who})
                  </li>
                ))}
              </ul>
            )}
          </section>
          <section>
            <h2>This service</h2>
            <Terms terms={[["State", isWritable ? "can be read and written" : "cannot be written"], ...terms]} />
          </section>
        </div>
      </>
    ),
  });
}

const Card = ({ figure, label }: { figure: number; label: string }) => (
  <div class="card">
    <b>{grouped(figure)}</b>
    {label}
  </div>
);
