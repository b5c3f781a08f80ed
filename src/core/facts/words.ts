/** The sentences and the words of the report, which its page and its Markdown share. */

import { counted, grouped, percent, sizeOf } from "../../text.js";
import { reasonOf } from "../classifier/rules/rules.js";
import { type StatusWords, shownStatus, statusWords } from "../validator/statuses.js";
import { countOf, type Facts, rowsByStatus } from "./facts.js";
import { gradeOf } from "./grade.js";
import { badRowsOf, series, shownValue, sumOfValues, worseValue } from "./groups.js";

const rows = (count: number): string => counted(count, "row");
const these = (count: number): string => (count === 1 ? "row" : rows(count));
export const itemsOf = ({ kind }: Pick<Facts, "kind">): string => (kind === "email" ? "addresses" : "domains");

const oneOf = ({ kind }: Pick<Facts, "kind">): string => (kind === "email" ? "address" : "domain");

export const titleOf = ({ inputs }: Facts): string =>
  `Report: ${inputs.length === 1 ? inputs[0]!.name : `${inputs.length} files`}`;

export function leadOf(facts: Facts): string {
  const filled = facts.rows - facts.empty;
  if (filled === 0) return `There are no ${itemsOf(facts)} in this list.`;
  const good = countOf(facts.statuses, "ok") + countOf(facts.statuses, "alias");
  if (countOf(facts.statuses, "quota_exceeded") === filled)
    return `None of ${counted(filled, oneOf(facts), itemsOf(facts))} was checked.`;
  const is = good === 1 || filled === 1 ? "is" : "are";
  const what = facts.kind === "domain" ? "neither undeliverable nor disposable" : "fit for a mailing";
  const all = repeatedIn(facts) > 0 ? rows(filled) : counted(filled, oneOf(facts), itemsOf(facts));
  return `${grouped(good)} of ${all} ${is} ${what}.`;
}

/** Rows whose item is in an earlier row. */
const repeatedIn = ({ rows, distinct, empty, kept }: Facts): number => Math.max(0, rows - empty - kept - distinct);

function detailsOf(facts: Facts): string {
  const lost = badRowsOf(facts);
  const open = countOf(facts.statuses, "quota_exceeded");
  const typos = typosIn(facts);
  const { fixed, badRows } = facts;
  const isFilled = facts.rows > facts.empty;
  return [
    lost > 0
      ? `${rows(lost)} ${lost === 1 ? "is" : "are"} undeliverable or disposable.`
      : isFilled && open === 0 && "None is undeliverable or disposable.",
    fixed > 0 && `${rows(fixed)} ${fixed === 1 ? "was" : "were"} corrected.`,
    typos > 0 && `${rows(typos)} ${typos === 1 ? "is" : "are"} only mistyped and can be repaired.`,
    badRows > 0 && `${rows(badRows)} ${badRows === 1 ? "is" : "are"} broken and could not be read.`,
    open > 0 && `${rows(open)} could not be checked: the quota is used up.`,
    changeSince(facts) ?? false,
  ]
    .filter((sentence) => sentence !== false)
    .join(" ");
}

/** Rows that could be corrected, and are not. */
const typosIn = ({ fixes, repairable }: Facts): number => (fixes ? 0 : repairable);

const wordsOf = (status: string): StatusWords | undefined =>
  Object.hasOwn(statusWords, status) ? statusWords[status as keyof typeof statusWords] : undefined;

export type Slice = { readonly className: string; readonly label: string; readonly count: number };

export const statusesOf = (facts: Facts): (Slice & { readonly advice: string })[] =>
  rowsByStatus(facts.statuses, facts.empty).map(([label, count]) => ({
    label,
    count,
    className: label === "(empty)" ? "empty" : series.includes(label) ? label : "other",
    advice: wordsOf(label)?.advice ?? "A status of the service that idv does not know.",
  }));

export const reasonsFor = (facts: Facts, status: "fake" | "alias"): (readonly [string, number])[] =>
  Object.entries(facts.reasons)
    .filter(([code]) => reasonOf(code)?.status === status)
    .sort((a, b) => b[1] - a[1])
    .map(([code, count]) => {
      const { words, plainly } = reasonOf(code)!;
      return [plainly === undefined ? words : `${words}: ${plainly}`, count] as const;
    });

export function nextStepsOf(facts: Facts): readonly string[] {
  const typos = typosIn(facts);
  const disposable = countOf(facts.statuses, "disposable");
  const fake = countOf(facts.statuses, "fake");
  const open = countOf(facts.statuses, "quota_exceeded");
  // With --dedupe or another filter, the output has fewer rows; with several columns, a row has several items.
  const isWhole = facts.written === facts.rows && facts.inputs.every(({ otherColumns }) => otherColumns.length === 0);
  const repeated = isWhole ? repeatedIn(facts) : 0;
  return [
    ...(facts.badRows > 0 ? [`Mend the ${these(facts.badRows)} that could not be read.`] : []),
    ...(open > 0 ? ["Check the rest when the quota has units again."] : []),
    ...(typos > 0 ? [`Correct the ${these(typos)} with a mistyped domain.`] : []),
    ...(fake - typos > 0 ? [`Take out the ${typos > 0 ? "other " : ""}${these(fake - typos)} that would bounce.`] : []),
    ...(disposable > 0
      ? [`Take out the ${these(disposable)} with disposable ${itemsOf(facts)}, or ask for others.`]
      : []),
    ...(repeated > 0
      ? [
          `Leave out the ${these(repeated)} that ${repeated === 1 ? "repeats" : "repeat"} ${facts.kind === "email" ? "an address" : "a domain"}.`,
        ]
      : []),
    ...attacksOf(facts).map(({ place, pattern, rows, all }) => {
      return `Ask those of ${place} to confirm: ${percent(rows, all)} of its rows are ${pattern}, as when a form is attacked.`;
    }),
    ...facts.groups.flatMap((group) => {
      const worst = worseValue(group);
      if (worst === undefined) return [];
      const { rows: all, bad } = sumOfValues(group);
      const share = percent(badRowsOf(worst), worst.rows);
      return [
        `Look at ${shownValue(worst.name)} (${group.column}): ${share} of its rows are bad; in the whole list, ${percent(bad, all)}.`,
      ];
    }),
    ...(fake + disposable + open + facts.badRows + repeated === 0 && facts.rows > facts.empty
      ? ["Nothing: the list can be used."]
      : []),
  ];
}

/** Attacks with their places in words. */
export const attacksOf = ({ breakdown }: Facts) =>
  (breakdown?.attacks ?? []).map(({ month, source, ...attack }) => {
    return {
      ...attack,
      place: [month, source && `${shownValue(source.value)} (${source.column})`].filter(Boolean).join(", "),
    };
  });

export function duplicatesOf(facts: Facts): string {
  const sameMailbox = facts.breakdown?.sameMailbox ?? 0;
  const repeated = repeatedIn(facts);
  const reach = sameMailbox === 1 ? "address reaches" : "addresses reach";
  return [
    repeated > 0 && `${rows(repeated)} ${repeated === 1 ? "repeats" : "repeat"} the entry of an earlier row.`,
    sameMailbox > 0 &&
      `${grouped(sameMailbox)} ${reach} the mailbox of another one in the list, with other dots, in another case or with a sub-address.`,
  ]
    .filter((sentence) => sentence !== false)
    .join(" ");
}

function changeSince({ rows: all, empty, statuses, inputs, before }: Facts): string | undefined {
  if (before === null) return undefined;
  const filledBefore = before.rows - before.empty;
  const filled = all - empty;
  if (filledBefore <= 0 || filled <= 0) return undefined;
  const badBefore = badRowsOf(before);
  const bad = badRowsOf({ statuses });
  const then = percent(badBefore, filledBefore);
  const now = percent(bad, filled);
  const isSame = String(before.inputs) === String(inputs.map(({ name }) => name));
  const on = before.inputs.length === 1 ? before.inputs[0] : "other files";
  const day = `${before.made.slice(0, 10)}${isSame ? "" : `, which was on ${on}`}`;
  if (then === now) return `As in the report of ${day}: ${now} of the rows are bad.`;
  const word = bad / filled < badBefore / filledBefore ? "Better" : "Worse";
  return `${word}: ${now} of the rows are bad; in the report of ${day}, ${then} were.`;
}

export function termsOf(facts: Facts): readonly (readonly [term: string, text: string])[] {
  const { engine, engineReason, distinct, inputs, dns, dataDays, outputs, seconds, madeBy } = facts;
  const [{ column, columnName, otherColumns, passedOver }] = inputs as readonly [Facts["inputs"][number]];
  return [
    ["Engine", engineReason === "" ? engine : `${engine} (${engineReason})`],
    ["Column", columnName === null ? String(column) : `${columnName} (column ${column})`],
    ...otherColumns.map(({ name, statuses }) => {
      const found = Object.entries(statuses).filter(([, count]) => count > 0);
      const text = found.map(([status, count]) => `${grouped(count)} ${shownStatus(status)}`).join(", ");
      return [`Column ${name}`, `${text}; not counted above`] as const;
    }),
    ...(passedOver.length === 0 ? [] : [["Not checked", passedOver.join(", ")] as const]),
    ["Distinct", counted(distinct, oneOf(facts), itemsOf(facts))],
    ["DNS", dns === null ? "not asked" : `${counted(dns.asked + dns.cached, "domain")} asked`],
    ...(dataDays === null ? [] : [["Data", `newest list ${counted(dataDays, "day")} old`] as const]),
    ...outputs.map(({ path, bytes }) => ["Written", `${path.replace(/^.*[/\\]/, "")} (${sizeOf(bytes)})`] as const),
    ["Time", `${seconds.toFixed(1)} s`],
    ["Made by", madeBy],
  ];
}

/** Returns a sentence about the value with the worst share of bad rows, if one stands out. */
function worstOf({ groups }: Facts): string | undefined {
  const found = groups.flatMap((group) => {
    const value = worseValue(group);
    return value === undefined ? [] : [{ group, value, share: badRowsOf(value) / value.rows }];
  });
  const [worst] = found.sort((one, other) => other.share - one.share);
  if (worst === undefined) return undefined;
  const { rows: all, bad } = sumOfValues(worst.group);
  const share = percent(badRowsOf(worst.value), worst.value.rows);
  return `By ${worst.group.column}, ${shownValue(worst.value.name)} is the worst: ${share} of its rows are bad; in the whole list, ${percent(bad, all)}.`;
}

export const opening = (facts: Facts) => ({
  lead: leadOf(facts),
  grade: gradeOf(facts)?.text,
  worst: worstOf(facts),
  details: detailsOf(facts),
});

export function reasonText(reason: string): string {
  const [code = "", ...subject] = reason.split(": ");
  return [reasonOf(code)?.words ?? code, ...subject].join(": ");
}
