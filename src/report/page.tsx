/**
 * The report as one HTML page, for people who do not use a terminal. The page needs no network and no script.
 * Components get plain data, and preact-render-to-string escapes all text.
 */

import type { ComponentChildren } from "preact";
import { grouped, percent } from "../text.js";
import { series } from "./collector.js";
import { hiddenFigures } from "./figures.js";
import { gradeOf } from "./grade.js";
import { htmlPage } from "./html.js";
import { BarTable, Key, type Slice, StackedBar, StatusTable, Terms } from "./parts.js";
import { reportPolicy } from "./policy.js";
import type { Report } from "./report.js";
import { style } from "./style.js";
import { mostNames, type NamedCounts } from "./top-counts.js";
import { detailsOf, itemsOf, leadOf, nextStepsOf, reasonsFor, rows, statusesOf, titleOf } from "./words.js";

export function renderPage(report: Report): string {
  const title = titleOf(report);
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
        <ReportView report={report} />
        <script type="application/json" dangerouslySetInnerHTML={{ __html: hiddenFigures(report) }} />
      </body>
    </html>
  );
  return htmlPage(page);
}

function ReportView({ report }: { report: Report }) {
  return (
    <main>
      <Opening report={report} />
      <Statuses report={report} />
      <Next report={report} />
      <div class="columns">
        <div>
          <Typos report={report} />
          <Reasons report={report} />
        </div>
        <div>
          <DisposableDomains report={report} />
          <Providers report={report} />
          <Flags report={report} />
        </div>
      </div>
      <Months report={report} />
      <Duplicates report={report} />
      <ShownRows report={report} />
      <div class="columns">
        <Cost report={report} />
        <Section heading="How it was made">
          <Terms terms={report.terms} />
        </Section>
      </div>
    </main>
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

function Opening({ report }: { report: Report }) {
  const { inputs, made } = report;
  const grade = gradeOf(report);
  return (
    <header>
      <h1>
        {inputs.slice(0, 5).join(", ")}
        {inputs.length > 5 && ` and ${inputs.length - 5} more files`}
      </h1>
      <p class="lead">{leadOf(report)}</p>
      {grade && <p class="grade">{grade.text}</p>}
      <p class="sub">
        {detailsOf(report)} Checked on{" "}
        <time dateTime={new Date(made).toISOString()}>
          {new Date(made).toISOString().slice(0, 16).replace("T", " ")} UTC
        </time>
        .
      </p>
    </header>
  );
}

function Next({ report }: { report: Report }) {
  const { files } = report;
  const steps = nextStepsOf(report);
  if (steps.length === 0 && files.length === 0) return null;
  return (
    <Section heading="What to do next">
      <ul>
        {steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
        {files.map(({ path, bytes }) => (
          <li key={path}>
            Written: {path} ({grouped(Math.ceil(bytes / 1024))} kB)
          </li>
        ))}
      </ul>
    </Section>
  );
}

const classOf = (status: string): string =>
  status === "(empty)" ? "empty" : series.includes(status) ? status : "other";

function Statuses({ report }: { report: Report }) {
  const found = statusesOf(report);
  if (found.length === 0) return null;
  return (
    <Section heading="Statuses">
      <StatusTable
        statuses={found.map((status) => ({ ...status, className: classOf(status.label) }))}
        all={report.rows}
      />
    </Section>
  );
}

function Typos({ report: { typos } }: { report: Report }) {
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

function Reasons({ report }: { report: Report }) {
  const [fakes, aliases] = [reasonsFor(report, "fake"), reasonsFor(report, "alias")];
  return (
    <div>
      {fakes.length > 0 && <BarTable heading="Why fake" column="Reason" entries={fakes} className="fake" />}
      {aliases.length > 0 && (
        <BarTable heading="Why alias" column="Reason" entries={aliases} className="alias" />
      )}
    </div>
  );
}

function DisposableDomains({ report: { topDomains, inputs } }: { report: Report }) {
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

const flagWords: Readonly<Record<string, string>> = {
  role: "mailbox of a function (role)",
  "free-provider": "free provider",
  "no-reply": "nobody reads it (no-reply)",
  relay: "forwards to another mailbox (relay)",
  "sms-gateway": "becomes a text message (sms-gateway)",
  "dotted-variant": "one of many spellings of a mailbox (dotted-variant)",
  gibberish: "typed to get past a form (gibberish)",
  parked: "domain for sale (parked)",
};

function Flags({ report: { flags, kind } }: { report: Report }) {
  if (flags.length === 0) return null;
  const entries = flags.map(([flag, count]) => [flagWords[flag] ?? flag, count] as const);
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

function Providers({ report: { providers, isApproximate, kind } }: { report: Report }) {
  if (providers.length === 0 || kind === "domain") return null;
  return (
    <section>
      <h2>Providers by bad rows</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">Domain</th>
            <th scope="col" class="number">
              Rows
            </th>
            <th scope="col" class="number">
              Bad
            </th>
            <th scope="col">By status</th>
          </tr>
        </thead>
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
      {isApproximate && (
        <p class="note">
          The list has more than {grouped(mostNames)} domains: rows of domains that were rare at first may be
          missing here.
        </p>
      )}
    </section>
  );
}

const badOf = ({ counts }: NamedCounts): number =>
  (counts[series.indexOf("disposable")] ?? 0) + (counts[series.indexOf("fake")] ?? 0);

const mostMonths = 60;

function Months({ report: { months } }: { report: Report }) {
  if (months === undefined) return null;
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
        Rows by month, from the column "{months.column}". A month with many bad rows is often one in which a
        form was attacked.{all.length > mostMonths && ` The last ${mostMonths} months are shown.`}
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
      <div class="axis">
        <span>{first.name}</span>
        {last !== first && <span>{last.name}</span>}
      </div>
      <details>
        <summary>Figures</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">Month</th>
              <th scope="col" class="number">
                Rows
              </th>
              <th scope="col" class="number">
                Bad
              </th>
              <th scope="col" class="number">
                Share
              </th>
            </tr>
          </thead>
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
  return some.length === 0
    ? undefined
    : some.reduce((worst, month) => (share(month) > share(worst) ? month : worst));
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

function Duplicates({ report }: { report: Report }) {
  const { distinct, sameMailbox, emptyRows, kept } = report;
  const repeated = Math.max(0, report.rows - emptyRows - kept - distinct);
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

function ShownRows({ report: { shownRows: shown, inputs } }: { report: Report }) {
  if (shown === undefined || shown.length === 0) return null;
  return (
    <Section heading="Rows to look at">
      <table class="shown">
        <caption>
          Fake or disposable rows, the first 100 at most. This report holds addresses: handle it as you handle
          the list.
        </caption>
        <thead>
          <tr>
            <th scope="col" class="number">
              Line
            </th>
            <th scope="col">Entry</th>
            <th scope="col">Reason</th>
            <th scope="col">Did you mean</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ file, line, item, status, reason, suggestion }) => (
            <tr key={`${file}:${line}`}>
              <td class="number">
                {inputs.length > 1 && `${file.slice(-40)}:`}
                {line === undefined ? "–" : grouped(line)}
              </td>
              <td class="name">{item.slice(0, 80)}</td>
              <td class="name">
                {status}
                {reason !== undefined && ` (${reason.slice(0, 80)})`}
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

function Cost({ report }: { report: Report }) {
  const { charged, cached, prechecked, distinct, quota, badRows } = report;
  const left = quota === undefined || quota.left === null ? "no limit" : `${grouped(quota.left)} left`;
  const renews =
    quota?.renewsAt == null
      ? ""
      : `, renews ${new Date(quota.renewsAt).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  const terms: (readonly [string, string])[] = [
    ["Paid", `${grouped(charged)} of ${grouped(distinct)} different ${itemsOf(report)}`],
    ...(cached > 0 ? [["Free", `${grouped(cached)} from the cache`] as const] : []),
    ...(prechecked > 0 ? [["Free", `${grouped(prechecked)} fake by syntax`] as const] : []),
    ...(quota === undefined ? [] : [["Quota", `${left}${renews}`] as const]),
    ...(badRows > 0 ? [["Bad rows", `${grouped(badRows)}, not counted above`] as const] : []),
    ...report.badRowKinds
      .slice(0, mostKinds)
      .map(
        ({ kind, count, lines }) =>
          ["Of these", `${grouped(count)} ${kind}; first lines: ${lines.join(", ")}`] as const,
      ),
    ...report.outvoted
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
