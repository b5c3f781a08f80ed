/** The sentences and the words of the report, which its page and its Markdown share. */
import { reasonOf } from "../classifier/rules/rules.js";
import { knownStatuses } from "../validator/validator.js";
import { grouped } from "./parts.js";
import type { Report } from "./report.js";

export const rows = (count: number): string => `${grouped(count)} ${count === 1 ? "row" : "rows"}`;
const countOf = ({ statuses }: Report, status: string): number => statuses.get(status) ?? 0;
export const itemsOf = ({ kind }: Report): string => (kind === "email" ? "addresses" : "domains");

export const titleOf = ({ inputs }: Report): string =>
  `Report: ${inputs.length === 1 ? inputs[0] : `${inputs.length} files`}`;

/** Returns what counts most, in one sentence. */
export function leadOf(report: Report): string {
  const filled = report.rows - report.emptyRows;
  if (filled === 0) return `There are no ${itemsOf(report)} in this list.`;
  const good = countOf(report, "ok") + countOf(report, "alias");
  const what = report.kind === "email" ? "can be written to" : "domains are neither fake nor disposable";
  return `${grouped(good)} of ${grouped(filled)} ${what}.`;
}

/** Returns the sentences after the first one. */
export function detailsOf(report: Report): string {
  const lost = countOf(report, "fake") + countOf(report, "disposable");
  const open = countOf(report, "quota_exceeded");
  const typos = report.reasons.get("typo-domain") ?? 0;
  const isFilled = report.rows > report.emptyRows;
  return [
    lost > 0
      ? `${rows(lost)} ${lost === 1 ? "is" : "are"} fake or disposable.`
      : isFilled && "None is fake or disposable.",
    typos > 0 && `${rows(typos)} only ${typos === 1 ? "has" : "have"} a mistyped domain.`,
    open > 0 && `${rows(open)} could not be checked: the quota is used up.`,
  ]
    .filter((sentence) => sentence !== false)
    .join(" ");
}

const advice: Readonly<Record<string, string>> = {
  ok: "Keep.",
  alias: "Keep: mail arrives. The owner uses a sub-address or a relay, and may switch it off.",
  disposable: "Drop, or ask for another address: the mailbox lasts for minutes or days.",
  fake: "Drop, or repair the mistyped ones: mail to these bounces.",
  quota_exceeded: "Not checked: the units ended. Check the rest when there are some again.",
  "(empty)": "These rows have nothing to check.",
};

/** Returns the statuses that rows have, with their numbers and what to do; the last is that of rows without an item. */
export function statusesOf(report: Report): { label: string; count: number; advice: string }[] {
  const order = [...new Set([...knownStatuses, ...report.statuses.keys()])];
  return [
    ...order.map((label) => [label, countOf(report, label)] as const),
    ["(empty)", report.emptyRows] as const,
  ]
    .filter(([, count]) => count > 0)
    .map(([label, count]) => ({
      label,
      count,
      advice: advice[label] ?? "A status of the service that idv does not know.",
    }));
}

/** Returns the reasons of a status in the words for people, the most frequent first. */
export const reasonsFor = (report: Report, status: "fake" | "alias"): (readonly [string, number])[] =>
  Array.from(report.reasons)
    .filter(([code]) => reasonOf(code)?.status === status)
    .sort((a, b) => b[1] - a[1])
    .map(([code, count]) => [reasonOf(code)!.words, count] as const);
