// The report as one HTML page, for people who do not use a terminal: without network and script.
// preact-render-to-string escapes all text.

import { grouped, percent } from "../../../text.js";
import { minuteText } from "../../../time.js";
import { shownStatus } from "../../validator/statuses.js";
import { rowsLookedAt } from "../attacks.js";
import type { Breakdown, Facts, Group } from "../facts-schema.js";
import { costOf, flagsHeading, flagsOf } from "../figures.js";
import { worseValue } from "../groups.js";
import {
  attacksOf,
  duplicatesOf,
  nextStepsOf,
  opening,
  reasonsFor,
  reasonText,
  statusesOf,
  termsOf,
  titleOf,
} from "../words.js";
import { htmlPage, renderHtml, reportPolicy } from "./html.js";
import { embeddedFacts } from "./json.js";
import { Months } from "./months.js";
import { BarTable, Head, Section, StatusTable, Terms } from "./parts.js";
import { BySource, Providers } from "./sources.js";
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
      {facts.repair !== null && (
        <p class="note">
          To correct the mistyped ones: <code>{facts.repair}</code>
        </p>
      )}
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

function Result({ facts }: { facts: Facts }) {
  const found = statusesOf(facts);
  return (
    <>
      {found.length > 0 && (
        <Section heading="Statuses">
          <StatusTable statuses={found} all={facts.rows} />
        </Section>
      )}
      <Next facts={facts} />
    </>
  );
}

function Details({ facts }: { facts: Facts }) {
  const { breakdown, groups, inputs, topDomains } = facts;
  const duplicates = duplicatesOf(facts);
  const telling = groups.filter(worseValue);
  const bySource = (group: Group) => <BySource key={group.column} group={group} />;
  return (
    <>
      <div class="flow">
        <Attacks facts={facts} />
        {telling.map(bySource)}
        <BarTable
          heading="Repair these"
          column="Mistyped domain → probably meant"
          entries={breakdown?.typos.map(({ name, total }) => [name, total]) ?? []}
          className="fake"
        />
        <BarTable heading="Why undeliverable" column="Reason" entries={reasonsFor(facts, "fake")} className="fake" />
        <BarTable heading="Why alias" column="Reason" entries={reasonsFor(facts, "alias")} className="alias" />
        {groups.filter((group) => !telling.includes(group)).map(bySource)}
        <BarTable
          heading="Disposable domains"
          column={inputs.length === 1 ? "Domain" : "Domain (of the 20 most frequent of each file)"}
          figure={facts.kind === "email" ? "Addresses" : "Domains"}
          entries={topDomains.map(({ domain, items }) => [domain, items])}
          className="disposable"
        />
        <Providers facts={facts} />
        <BarTable heading={flagsHeading(facts)} column="Flag" entries={flagsOf(facts)} className="ok" />
      </div>
      {breakdown && <Months breakdown={breakdown} />}
      {duplicates !== "" && (
        <Section heading="Duplicates">
          <p>{duplicates}</p>
        </Section>
      )}
    </>
  );
}

function Attacks({ facts }: { facts: Facts }) {
  const attacks = attacksOf(facts);
  if (attacks.length === 0) return null;
  return (
    <Section heading="Looks like an attack">
      <p class="note">
        Addresses of one pattern that came together, and hardly elsewhere in the list; there may be more.
        {facts.rows > rowsLookedAt && " In a list of this length, the figures are estimates."}
      </p>
      <table>
        <Head columns={["When and where", "What they have in common", { number: "Rows" }, { number: "Share" }]} />
        <tbody>
          {attacks.map(({ place, pattern, rows, all }) => (
            <tr key={`${place} ${pattern}`}>
              <td class="name">{place}</td>
              <td>{pattern}</td>
              <td class="number">{grouped(rows)}</td>
              <td class="number">{percent(rows, all)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

function Opening({ facts }: { facts: Facts }) {
  const { inputs, made } = facts;
  const { lead, grade, worst, details } = opening(facts);
  const shown = inputs.slice(0, 5).map(({ name }) => name);
  return (
    <header>
      <h1>
        {shown.join(", ")}
        {inputs.length > 5 && ` and ${inputs.length - 5} more files`}
      </h1>
      <p class="lead">{lead}</p>
      {grade && <p class="grade">{grade}</p>}
      {worst && <p class="grade">{worst}</p>}
      <p class="sub">
        {details} Checked on <time dateTime={made}>{minuteText(made)} UTC</time>.
      </p>
    </header>
  );
}

function Next({ facts }: { facts: Facts }) {
  const steps = nextStepsOf(facts);
  if (steps.length === 0) return null;
  return (
    <Section heading="What to do next">
      <ul>
        {steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ul>
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
          Undeliverable or disposable rows, the first 100 at most. This report holds addresses: handle it as you handle
          the list.
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
                {shownStatus(status)}
                {reason !== null && ` (${reasonText(reason).slice(0, 80)})`}
              </td>
              <td class="name">
                {suggestion && <span class="label">Did you mean </span>}
                {suggestion?.slice(0, 80)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

function Cost({ facts }: { facts: Facts }) {
  const { heading, terms } = costOf(facts);
  if (terms.length === 0) return null;
  return (
    <Section heading={heading}>
      <Terms terms={terms} />
    </Section>
  );
}
