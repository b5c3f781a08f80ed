/** The first page: what was checked and refused, keys near their limits, and the health of the service. */
import { greatest, sum } from "d3-array";
import type { ComponentChildren } from "preact";
import { Section, Terms } from "../../../core/facts/render/parts.js";
import type { ApiKey, AuditEntry } from "../../../state/service/api-key.js";
import { isUsable } from "../../../state/service/rules.js";
import { counted, grouped, percent } from "../../../text.js";
import type { ServerFigures } from "../../service/metrics.js";
import { type Span, totalOf } from "../usage-spans.js";
import { CardTable } from "./card-table.js";
import { UsageChart } from "./chart.js";
import { FaultBox, nameOfKey, Page, QuotaMeter, Renewal, Time } from "./layout.js";

interface Overview extends ServerFigures {
  readonly days: readonly Span[];
  readonly now: number;
  readonly keys: readonly ApiKey[];
  readonly audit: readonly AuditEntry[];
  /** Units of the days by the ids of keys. */
  readonly units: ReadonlyMap<string, number>;
  readonly isWritable: boolean;
  readonly terms: readonly (readonly [term: string, text: string])[];
}

const mostUsed = 0.8;
const mostNear = 20;

export function overviewPage(overview: Overview) {
  const { now, days, units, keys, audit, refused, mostSeconds, isWritable, terms } = overview;
  const live = keys.filter((key) => isUsable(key, now) && !key.isSandbox);
  const share = ({ quota: { used, limit } }: ApiKey) => (limit === null ? 0 : limit === 0 ? 1 : used / limit);
  const near = live.filter((key) => share(key) >= mostUsed).sort((a, b) => share(b) - share(a));
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  const counts = totalOf(days);
  const allUnits = sum(days, (span) => span.units);
  const open = counts.quota_exceeded;
  const notChecked = open > 0 ? `, ${counted(open, "item")} not checked` : "";
  const busiest = greatest(
    keys.filter(({ id }) => (units.get(id) ?? 0) > 0),
    ({ id }) => units.get(id),
  );
  return (
    <Page title="Overview" current="/dashboard">
      {!isWritable && (
        <FaultBox text="The state cannot be written: requests are answered with 503. The server's log says why." />
      )}
      <div class="cards">
        <Card figure={grouped(days.at(-1)!.units)}>units today (UTC)</Card>
        {allUnits > 0 && (
          <Card figure={percent(counts.disposable + counts.fake, allUnits)}>
            of the items of 30 days were disposable or fake
          </Card>
        )}
        {busiest !== undefined && (
          <Card figure={grouped(units.get(busiest.id)!)}>
            units in 30 days by the busiest key, <a href={`/dashboard/keys/${busiest.id}`}>{nameOfKey(busiest)}</a>
          </Card>
        )}
        <Card figure={grouped(counts.quota_exceeded)}>items not checked in 30 days: no units left</Card>
        <Card figure={grouped(refused)}>
          requests refused by this server since its start: a wrong key, no permission, no units, or too many
        </Card>
        {mostSeconds !== undefined && (
          <Card figure={mostSeconds === Number.POSITIVE_INFINITY ? "over 2.5 s" : `${grouped(1000 * mostSeconds)} ms`}>
            at most for 95 of 100 checks by this server
          </Card>
        )}
      </div>
      <Section heading={`30 days: ${counted(allUnits, "unit")}${notChecked}`}>
        <UsageChart spans={days} />
      </Section>
      <Section heading="Keys with at least 80 % of their units used">
        {keys.length === 0 ? (
          <p class="empty-state">
            No keys yet: <a href="/dashboard/keys#create">create one</a>.
          </p>
        ) : near.length === 0 ? (
          <p class="empty-state">None: every key has more than 20 % of its units left.</p>
        ) : (
          <CardTable
            rows={near.slice(0, mostNear)}
            columns={[
              ["Key", (key) => <a href={`/dashboard/keys/${key.id}`}>{nameOfKey(key)}</a>, "name"],
              ["Used", ({ quota }) => <QuotaMeter quota={quota} />],
              ["Renews", ({ quota }) => <Renewal quota={quota} />],
            ]}
          />
        )}
        {near.length > mostNear && (
          <p class="note">
            and {grouped(near.length - mostNear)} more: <a href="/dashboard/keys?sort=used">all keys</a>
          </p>
        )}
      </Section>
      <div class="columns">
        <Section heading="Changes">
          {audit.length === 0 ? (
            <p class="empty-state">Nothing was done yet.</p>
          ) : (
            <ul>
              {audit.map(({ at, who, what, keyId }) => (
                <li key={`${at} ${keyId} ${what}`}>
                  <Time at={at} />: {keyId === "" ? "" : `${names.get(keyId) || keyId}: `}
                  {what} ({who})
                </li>
              ))}
            </ul>
          )}
        </Section>
        <Section heading="This service">
          <Terms terms={[["State", isWritable ? "can be read and written" : "cannot be written"], ...terms]} />
        </Section>
      </div>
    </Page>
  );
}

const Card = ({ figure, children }: { figure: string; children: ComponentChildren }) => (
  <div class="card">
    <b>{figure}</b>
    {children}
  </div>
);
