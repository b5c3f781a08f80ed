/** The sentences and the words of the report, which its page and its Markdown share. */
import { reasonOf } from "../classifier/rules/rules.js";
import { counted, grouped } from "../text.js";
import { knownStatuses } from "../validator/validator.js";
import { changeSince } from "./figures.js";
import type { Report } from "./report.js";

export const rows = (count: number): string => counted(count, "row");
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

/** What is behind a reason, for people who do not know its name. */
const plainly: Readonly<Record<string, string>> = {
  syntax: "not written as an address",
  "typo-domain": "one letter from a large provider",
  "unknown-tld": "nothing ends like this",
  "public-suffix": "an ending, without a name before it",
  "special-use": "reserved by the standards, receives no mail",
  "disposable-name": "temporary mail, by its name",
  "similar-domain": "one letter from a large provider, and perhaps right",
  placeholder: "typed to fill a form, such as test or asdf",
  "impossible-mailbox": "the provider gives out no such name",
  "no-reply": "nobody reads it",
  "sub-address": "ann+news reaches the mailbox of ann",
  relay: "forwards to a mailbox, and can be switched off",
};

/** Returns the sentences after the first one. */
export function detailsOf(report: Report): string {
  const lost = countOf(report, "fake") + countOf(report, "disposable");
  const open = countOf(report, "quota_exceeded");
  const typos = report.repairable;
  const isFilled = report.rows > report.emptyRows;
  return [
    lost > 0
      ? `${rows(lost)} ${lost === 1 ? "is" : "are"} fake or disposable.`
      : isFilled && "None is fake or disposable.",
    typos > 0 && `${rows(typos)} only ${typos === 1 ? "has" : "have"} a mistyped domain.`,
    open > 0 && `${rows(open)} could not be checked: the quota is used up.`,
    (report.before && changeSince(report, report.before)) ?? false,
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
    .map(([code, count]) => {
      const { words } = reasonOf(code)!;
      return [plainly[code] === undefined ? words : `${words}: ${plainly[code]}`, count] as const;
    });

/** Returns what to do next, a sentence each. */
export function nextStepsOf(report: Report): readonly string[] {
  const [typos, disposable] = [report.repairable, countOf(report, "disposable")];
  const fake = countOf(report, "fake");
  const open = countOf(report, "quota_exceeded");
  return [
    ...(open > 0 ? ["Check the rest when the quota has units again."] : []),
    ...(typos > 0 ? [`Correct the ${rows(typos)} with a mistyped domain; idv can do it.`] : []),
    ...(fake - typos > 0
      ? [`Take out the ${rows(fake - typos)} that would bounce and cannot be corrected.`]
      : []),
    ...(disposable > 0
      ? [`Take out the ${rows(disposable)} with disposable ${itemsOf(report)}, or ask for others.`]
      : []),
    ...(fake + disposable + open === 0 && report.rows > report.emptyRows
      ? ["Nothing: the list can be used."]
      : []),
  ];
}
