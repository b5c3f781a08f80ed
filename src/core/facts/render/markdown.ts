/** The report as Markdown, for pages that show it: summaries of jobs, issues, wikis. */

import { grouped, percent } from "../../../text.js";
import { minuteText } from "../../../time.js";
import { shownStatus } from "../../validator/statuses.js";
import type { Facts } from "../facts.js";
import { badOf, badProviders, costOf, flagsHeading, flagsOf, monthsOf, mostMonths } from "../figures.js";
import { badRowsOf, nameOfOthers, shownValue, worstFirst } from "../groups.js";
import { attacksOf, duplicatesOf, nextStepsOf, opening, reasonsFor, statusesOf, termsOf, titleOf } from "../words.js";
import { embeddedFacts } from "./json.js";

export function renderMarkdown(facts: Facts): string {
  const { kind, made, topDomains, inputs, breakdown } = facts;
  const section = (heading: string, header: readonly string[], lines: readonly (readonly string[])[]) =>
    lines.length === 0 ? [] : [`### ${heading}`, table(header, lines)];
  const reasons = (status: "fake" | "alias") =>
    reasonsFor(facts, status).map(([name, count]) => [name, grouped(count)]);
  const steps = nextStepsOf(facts).map((step) => `- ${escaped(step)}`);
  const { lead, grade, worst, details } = opening(facts);
  const duplicates = duplicatesOf(facts);
  const cost = costOf(facts);
  const parts = [
    `## ${escaped(titleOf(facts))}`,
    `**${escaped(lead)}** ${[grade, worst, details].map((text) => (text ? `${escaped(text)} ` : "")).join("")}Checked on ${minuteText(made)} UTC.`,
    ...(inputs.length > 1 ? [inputs.map(({ name }) => `- ${escaped(name)}`).join("\n")] : []),
    table(
      ["Status", "Rows", "Share", "What to do"],
      statusesOf(facts).map(({ label, count, advice }) => {
        const shown = shownStatus(label);
        return [shown === label ? label : `${shown} (${label})`, grouped(count), percent(count, facts.rows), advice];
      }),
    ),
    ...section(
      "Repair these",
      ["Mistyped domain, and the one that is probably meant", "Rows"],
      breakdown?.typos.map(({ name, total }) => [name, grouped(total)]) ?? [],
    ),
    ...(steps.length === 0 ? [] : ["### What to do next", steps.join("\n")]),
    ...section("Why undeliverable", ["Reason", "Rows"], reasons("fake")),
    ...section("Why alias", ["Reason", "Rows"], reasons("alias")),
    ...section(
      "Disposable domains",
      ["Domain", kind === "email" ? "Addresses" : "Domains"],
      topDomains.map(({ domain, items }) => [domain, grouped(items)]),
    ),
    ...facts.groups.flatMap(({ column, values, others }) => [
      `### By ${escaped(column)}`,
      table(
        [column, "Rows", "Bad"],
        [...worstFirst(values), ...(others === null ? [] : [{ ...others, name: nameOfOthers(others) }])].map(
          (value) => [shownValue(value.name), grouped(value.rows), percent(badRowsOf(value), value.rows)],
        ),
      ),
    ]),
    ...section(
      "Looks like an attack",
      ["When and where", "What they have in common", "Rows", "Share"],
      attacksOf(facts).map(({ place, pattern, rows, all }) => [place, pattern, grouped(rows), percent(rows, all)]),
    ),
    ...section(
      "Providers by bad rows",
      ["Domain", "Rows", "Bad"],
      badProviders(facts).map(({ name, total, bad }) => [name, grouped(total), percent(bad, total)]),
    ),
    ...section(
      flagsHeading(facts),
      ["Flag", "Rows"],
      flagsOf(facts).map(([words, count]) => [words, grouped(count)]),
    ),
    ...section(
      "When they came",
      [`Month (${breakdown?.months?.column})`, "Rows", "Bad"],
      monthsOf(facts)
        .slice(-mostMonths)
        .map((month) => [month.name, grouped(month.total), percent(badOf(month), month.total)]),
    ),
    ...(duplicates === "" ? [] : ["### Duplicates", duplicates]),
    ...section(cost.heading, ["", ""], cost.terms),
    ...section("How it was made", ["", ""], termsOf(facts)),
  ];
  const data = `<details>\n<summary>Figures as JSON</summary>\n\n\`\`\`json\n${embeddedFacts(facts)}\n\`\`\`\n\n</details>`;
  return `${parts.join("\n\n")}\n\n${data}\n`;
}

function table(header: readonly string[], lines: readonly (readonly string[])[]): string {
  const isFigure = (column: number) => column > 0 && lines.every((line) => /^[\d,.]+ ?%?$/.test(line[column]!));
  const line = (cells: readonly string[]) => `| ${cells.map(escaped).join(" | ")} |`;
  return [
    line(header),
    `| ${header.map((_, i) => (isFigure(i) ? "---:" : "---")).join(" | ")} |`,
    ...lines.map(line),
  ].join("\n");
}

// CommonMark 2.4; names are from others. The dot of `www.` would make a link (GFM 6.9), and signs at the start a list.
const escaped = (text: string): string =>
  text
    .replace(/[\r\n\t\p{Cc}\u2028\u2029]+/gu, " ")
    .trim()
    // `:smile:` becomes a picture, `http://` a link.
    .replace(/[\\`*_{}[\]<>#|~&!@$]|:(?=[\w+-]+:|\/\/)/g, "\\$&")
    .replace(/^(\d*)([-+.)])(?=\s)/, "$1\\$2")
    .replace(/www\./gi, (match) => match.replace(".", "\\."));
