/** The report as Markdown, for pages that show it: summaries of jobs, issues, wikis. */

import { grouped, percent } from "../../../text.js";
import type { Facts } from "../facts.js";
import { gradeOf } from "../grade.js";
import { badRowsOf, nameOfOthers, worstFirst } from "../groups.js";
import { attacksOf, detailsOf, leadOf, nextStepsOf, reasonsFor, statusesOf, termsOf, titleOf } from "../words.js";
import { embeddedFacts } from "./json.js";

export function renderMarkdown(facts: Facts): string {
  const { made, topDomains, inputs, breakdown } = facts;
  const counted = (heading: string, column: string, figure: string, entries: (readonly [string, number])[]) =>
    entries.length === 0
      ? []
      : [
          `### ${heading}`,
          table(
            [column, figure],
            entries.map(([name, count]) => [name, grouped(count)]),
          ),
        ];
  const grade = gradeOf(facts);
  const date = made.slice(0, 16).replace("T", " ");
  const parts = [
    `## ${escaped(titleOf(facts))}`,
    `**${escaped(leadOf(facts))}** ${grade ? `${escaped(grade.text)} ` : ""}${escaped(detailsOf(facts))} Checked on ${date} UTC.`,
    ...(inputs.length > 1 ? [inputs.map(({ name }) => `- ${escaped(name)}`).join("\n")] : []),
    table(
      ["Status", "Rows", "Share", "What to do"],
      statusesOf(facts).map(({ label, count, advice }) => [label, grouped(count), percent(count, facts.rows), advice]),
    ),
    ...counted(
      "Repair these",
      "Mistyped domain, and the one that is probably meant",
      "Rows",
      breakdown?.typos.map(({ name, total }) => [name, total]) ?? [],
    ),
    ...(nextStepsOf(facts).length === 0
      ? []
      : [
          "### What to do next",
          nextStepsOf(facts)
            .map((step) => `- ${escaped(step)}`)
            .join("\n"),
        ]),
    ...counted("Why fake", "Reason", "Rows", reasonsFor(facts, "fake")),
    ...counted("Why alias", "Reason", "Rows", reasonsFor(facts, "alias")),
    ...counted(
      "Disposable domains",
      "Domain",
      "Addresses",
      topDomains.map(({ domain, items }) => [domain, items]),
    ),
    ...facts.groups.flatMap(({ column, values, others }) => [
      `### By ${escaped(column)}`,
      table(
        [column, "Rows", "Bad"],
        [...worstFirst(values), ...(others === null ? [] : [{ ...others, name: nameOfOthers(others) }])].map(
          (value) => [value.name, grouped(value.rows), percent(badRowsOf(value), value.rows)],
        ),
      ),
    ]),
    ...(attacksOf(facts).length === 0
      ? []
      : [
          "### Looks like an attack",
          table(
            ["When and where", "What they have in common", "Rows", "Share"],
            attacksOf(facts).map(({ place, pattern, rows, all }) => [
              place,
              pattern,
              grouped(rows),
              percent(rows, all),
            ]),
          ),
        ]),
    "### How it was made",
    table(
      ["", ""],
      termsOf(facts).map(([term, text]) => [term, text]),
    ),
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
