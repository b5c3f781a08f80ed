// The report as one HTML page, for people who do not use a terminal: without network and script.
// preact-render-to-string escapes all text.

import type { ComponentChildren } from "preact";
import { grouped, percent, sizeOf } from "../../../text.js";
import { flagWords } from "../../classifier/flags/flag-names.js";
import { type Breakdown, series } from "../collector.js";
import type { Facts } from "../facts.js";
import { gradeOf } from "../grade.js";
import { badRowsOf, type Group, nameOfOthers, sumOfValues, worseValue, worstFirst } from "../groups.js";
import { reportPolicy } from "../policy.js";
import { mostNames, type NamedCounts } from "../top-counts.js";
import { detailsOf, itemsOf, leadOf, nextStepsOf, reasonsFor, rows, statusesOf, termsOf, titleOf } from "../words.js";
import { htmlPage, renderHtml } from "./html.js";
import { embeddedFacts } from "./json.js";
import { BarTable, Head, Key, type Slice, StackedBar, StatusTable, Terms } from "./parts.js";
import { style } from "./style.js";

export function renderPage(facts: Facts): string {
  const title = titleOf(facts);
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="Content-Security-Policy" content={reportPolicy} />
        <meta name="referrer" content="no-referrer" />
        <title>{title}</title>
        <style>{style}</style>
      </head>
      <body>
        <FactsView facts={facts} />
        <script type="application/json" dangerouslySetInnerHTML={{ __html: embeddedFacts(facts) }} />
      </body>
    </html>
  );
  return htmlPage(page);
}

export const renderParts = (facts: Facts) => ({
  result: renderHtml(<Result facts={facts} />),
  details: renderHtml(<Details facts={facts} />),
});

function FactsView({ facts }: { facts: Facts }) {
  return (
    <main>
      <Opening facts={facts} />
      <Result facts={facts} />
      <Details facts={facts} />
      {facts.breakdown && <ShownRows breakdown={facts.breakdown} isSeveral={facts.inputs.length > 1} />}
      <div class="columns">
        <Cost facts={facts} />
        <Section heading="How it was made">
          <Terms terms={termsOf(facts)} />
        </Section>
      </div>
    </main>
  );
}

const Result = ({ facts }: { facts: Facts }) => (
  <>
    <Statuses facts={facts} />
    <Next facts={facts} />
  </>
);

function Details({ facts }: { facts: Facts }) {
  const { breakdown, groups } = facts;
  const telling = groups.filter(worseValue);
  return (
    <>
      <div class="flow">
        {telling.map((group) => (
          <BySource key={group.column} group={group} />
        ))}
        {breakdown && <Typos breakdown={breakdown} />}
        <Reasons facts={facts} />
        {facts.groups
          .filter((group) => !telling.includes(group))
          .map((group) => (
            <BySource key={group.column} group={group} />
          ))}
        <DisposableDomains facts={facts} />
        {breakdown && facts.kind === "email" && <Providers breakdown={breakdown} />}
        {breakdown && <Flags breakdown={breakdown} kind={facts.kind} />}
      </div>
      {breakdown && <Months breakdown={breakdown} />}
      <Duplicates facts={facts} />
    </>
  );
}

function Section({ heading, children }: { heading: string; children: ComponentChildren }) {
  return (
    <section>
      <h2>{heading}</h2>
      {children}
    </section>
  );
}

function Opening({ facts }: { facts: Facts }) {
  const { inputs, made } = facts;
  const grade = gradeOf(facts);
  return (
    <header>
      <h1>
        {inputs
          .slice(0, 5)
          .map(({ name }) => name)
          .join(", ")}
        {inputs.length > 5 && ` and ${inputs.length - 5} more files`}
      </h1>
      <p class="lead">{leadOf(facts)}</p>
      {grade && <p class="grade">{grade.text}</p>}
      <p class="sub">
        {detailsOf(facts)} Checked on <time dateTime={made}>{made.slice(0, 16).replace("T", " ")} UTC</time>.
      </p>
    </header>
  );
}

function Next({ facts }: { facts: Facts }) {
  const { outputs } = facts;
  const steps = nextStepsOf(facts);
  if (steps.length === 0 && outputs.length === 0) return null;
  return (
    <Section heading="What to do next">
      <ul>
        {steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
        {outputs.map(({ path, bytes }) => (
          <li key={path}>
            Written: {path} ({sizeOf(bytes)})
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Statuses({ facts }: { facts: Facts }) {
  const found = statusesOf(facts);
  if (found.length === 0) return null;
  return (
    <Section heading="Statuses">
      <StatusTable statuses={found} all={facts.rows} />
    </Section>
  );
}

function Typos({ breakdown: { typos } }: { breakdown: Breakdown }) {
  if (typos.length === 0) return null;
  return (
    <BarTable
      heading="Repair these"
      column="Mistyped domain → probably meant"
      entries={typos.map(({ name, total }) => [name, total])}
      className="fake"
    />
  );
}

function Reasons({ facts }: { facts: Facts }) {
  const [fakes, aliases] = [reasonsFor(facts, "fake"), reasonsFor(facts, "alias")];
  return (
    <>
      {fakes.length > 0 && <BarTable heading="Why fake" column="Reason" entries={fakes} className="fake" />}
      {aliases.length > 0 && <BarTable heading="Why alias" column="Reason" entries={aliases} className="alias" />}
    </>
  );
}

function DisposableDomains({ facts: { topDomains, inputs } }: { facts: Facts }) {
  if (topDomains.length === 0) return null;
  return (
    <BarTable
      heading="Disposable domains"
      column={inputs.length === 1 ? "Domain" : "Domain (of the 20 most frequent of each file)"}
      figure="Addresses"
      entries={topDomains.map(({ domain, items }) => [domain, items])}
      className="disposable"
    />
  );
}

function Flags({ breakdown: { flags }, kind }: { breakdown: Breakdown; kind: Facts["kind"] }) {
  const entries = Object.entries(flags).map(
    ([flag, count]) => [flagWords[flag as keyof typeof flagWords] ?? flag, count] as const,
  );
  if (entries.length === 0) return null;
  return (
    <BarTable
      heading={kind === "email" ? "Kinds of addresses" : "Kinds of domains"}
      column="Flag"
      entries={entries}
      className="ok"
    />
  );
}

const slicesOf = ({ counts }: NamedCounts): Slice[] =>
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

function Providers({ breakdown: { providers, isApproximate } }: { breakdown: Breakdown }) {
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

function BySource({ group }: { group: Group }) {
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

const badOf = ({ counts }: NamedCounts): number =>
  (counts[series.indexOf("disposable")] ?? 0) + (counts[series.indexOf("fake")] ?? 0);

const mostMonths = 60;

function Months({ breakdown: { months } }: { breakdown: Breakdown }) {
  if (months === null) return null;
  const all = withGaps(months.counts);
  const shown = all.slice(-mostMonths);
  const [first, last] = [shown[0]!, shown.at(-1)!];
  const most = Math.max(...shown.map(({ total }) => total));
  const worst = worstOf(shown);
  const step = 600 / shown.length;
  const width = Math.min(40, step * 0.8);
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
                <rect
                  key={`${month.name} ${label}`}
                  class={className}
                  x={(i * step + (step - width) / 2).toFixed(2)}
                  y={y.toFixed(2)}
                  width={width.toFixed(2)}
                  height={height.toFixed(2)}
                >
                  <title>{`${month.name}: ${grouped(count)} ${label}`}</title>
                </rect>
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
                <rect
                  key={month.name}
                  class={month === worst ? "fake" : "other"}
                  x={(i * step + (step - width) / 2).toFixed(2)}
                  y={Math.max(0, 60 - height).toFixed(2)}
                  width={width.toFixed(2)}
                  height={Math.min(60, height).toFixed(2)}
                >
                  <title>{`${month.name}: ${percent(badOf(month), month.total)} bad`}</title>
                </rect>
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

function Duplicates({ facts }: { facts: Facts }) {
  const { distinct, empty, kept } = facts;
  const sameMailbox = facts.breakdown?.sameMailbox ?? 0;
  const repeated = Math.max(0, facts.rows - empty - kept - distinct);
  if (repeated === 0 && sameMailbox === 0) return null;
  return (
    <Section heading="Duplicates">
      <p>
        {repeated > 0 &&
          `${rows(repeated)} ${repeated === 1 ? "repeats" : "repeat"} the entry of an earlier row; idv can leave out repetitions. `}
        {sameMailbox > 0 &&
          `${grouped(sameMailbox)} ${sameMailbox === 1 ? "address reaches" : "addresses reach"} the mailbox of another one in the list, with other dots, in another case or with a sub-address; idv can keep one of each.`}
      </p>
    </Section>
  );
}

function ShownRows({ breakdown, isSeveral }: { breakdown: Breakdown; isSeveral: boolean }) {
  const { shownRows: shown } = breakdown;
  if (shown === null || shown.length === 0) return null;
  return (
    <Section heading="Rows to look at">
      <table class="shown">
        <caption>
          Fake or disposable rows, the first 100 at most. This report holds addresses: handle it as you handle the list.
        </caption>
        <Head columns={[{ number: "Line" }, "Entry", "Reason", "Did you mean"]} />
        <tbody>
          {shown.map(({ file, line, item, status, reason, suggestion }) => (
            <tr key={`${file}:${line}`}>
              <td class="number">
                {isSeveral && `${file.slice(-40)}:`}
                {line === null ? "–" : grouped(line)}
              </td>
              <td class="name">{item.slice(0, 80)}</td>
              <td class="name">
                {status}
                {reason !== null && ` (${reason.slice(0, 80)})`}
              </td>
              <td class="name">{suggestion?.slice(0, 80)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

/** Limit on the kinds of bad rows that are shown; each input has its own kinds. */
const mostKinds = 12;

function Cost({ facts }: { facts: Facts }) {
  const { inputs, cached, prechecked, distinct, units, badRows } = facts;
  const left = units.left === null ? "no limit" : `${grouped(units.left)} left`;
  const isRenewed = units.limited === true && units.renews !== null;
  const renews = isRenewed ? `, renews ${units.renews.slice(0, 16).replace("T", " ")} UTC` : "";
  const terms: (readonly [string, string])[] = [
    ["Paid", `${grouped(units.used + units.paidBefore)} of ${grouped(distinct)} different ${itemsOf(facts)}`],
    ...(cached > 0 ? [["Free", `${grouped(cached)} from the cache`] as const] : []),
    ...(prechecked > 0 ? [["Free", `${grouped(prechecked)} fake by syntax`] as const] : []),
    ...(units.limited === null ? [] : [["Quota", `${left}${renews}`] as const]),
    ...(badRows > 0 ? [["Bad rows", `${grouped(badRows)}, not counted above`] as const] : []),
    ...inputs
      .flatMap(({ badRowKinds }) => badRowKinds)
      .slice(0, mostKinds)
      .map(
        ({ kind, count, lines }) =>
          ["Of these", `${grouped(count)} ${kind}; first lines: ${lines.join(", ")}`] as const,
      ),
    ...inputs
      .map(({ outvoted }) => outvoted)
      .filter(({ count }) => count > 0)
      .slice(0, mostKinds)
      .map(
        ({ count, lines }) =>
          [
            "Left out or bad",
            `${grouped(count)} for one entry, though another is ok or alias; first lines: ${lines.join(", ")}`,
          ] as const,
      ),
  ];
  return (
    <Section heading="Quota and cost">
      <Terms terms={terms} />
    </Section>
  );
}
