/**
 * The figures of a report for programs, and for the next report in its place, which compares itself with them. A page and
 * Markdown carry them inside, where nobody sees them.
 */

import { percent } from "../text.js";
import { gradeOf } from "./grade.js";
import type { Figures, Report } from "./report.js";

const figuresOf = (report: Report): Figures => ({
  made: new Date(report.made).toISOString(),
  inputs: report.inputs,
  rows: report.rows,
  empty: report.emptyRows,
  distinct: report.distinct,
  statuses: Object.fromEntries(report.statuses),
  reasons: Object.fromEntries(report.reasons),
});

const start = "idv-figures:";

/** Returns the figures as text that ends neither an element nor a comment. */
export const hiddenFigures = (report: Report): string =>
  start + JSON.stringify(figuresOf(report)).replace(/[<>&-]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);

/** Returns the figures in an older report, of any kind; undefined if there are none. */
export function figuresIn(text: string): Figures | undefined {
  const [, hidden] = /idv-figures:(\{[^<>]*\})/.exec(text) ?? [];
  try {
    const found = JSON.parse(hidden ?? text) as Partial<Figures>;
    const counts = [found.rows, found.empty, ...Object.values(found.statuses ?? {})];
    const isWhole = /^\d{4}-\d\d-\d\dT/.test(String(found.made)) && counts.every(Number.isSafeInteger);
    return isWhole && found.statuses && Array.isArray(found.inputs) ? (found as Figures) : undefined;
  } catch {
    return undefined;
  }
}

/** Renders the whole report for programs. */
export const renderJson = (report: Report): string =>
  `${JSON.stringify(
    {
      ...figuresOf(report),
      kind: report.kind,
      grade: gradeOf(report)?.name ?? null,
      change: (report.before && changeSince(report, report.before)) ?? null,
      badRows: report.badRows,
      topDomains: report.topDomains,
      typos: report.typos.map(({ name, total }) => ({ name, rows: total })),
      providers: report.providers.map(({ name, total, counts }) => ({ name, rows: total, counts })),
      months: report.months?.counts.map(({ name, total, counts }) => ({ name, rows: total, counts })) ?? [],
      flags: Object.fromEntries(report.flags),
      units: report.charged,
      files: report.files,
    },
    undefined,
    2,
  )}\n`;

/** Returns a sentence about the share of bad rows, before and now; undefined if nothing was checked before. */
export function changeSince(
  report: Report,
  { made, inputs, rows, empty, statuses }: Figures,
): string | undefined {
  const [filledBefore, filled] = [rows - empty, report.rows - report.emptyRows];
  if (filledBefore <= 0 || filled <= 0) return undefined;
  const badBefore = badIn(statuses);
  const bad = badIn(Object.fromEntries(report.statuses));
  const [before, now] = [percent(badBefore, filledBefore), percent(bad, filled)];
  const isSame = String(inputs) === String(report.inputs);
  const day = `${made.slice(0, 10)}${isSame ? "" : `, which was on ${inputs.length === 1 ? inputs[0] : "other files"}`}`;
  if (before === now) return `As in the report of ${day}: ${now} of the rows are bad.`;
  const word = bad / filled < badBefore / filledBefore ? "Better" : "Worse";
  return `${word} than in the report of ${day}: ${now} of the rows are bad, and ${before} were.`;
}

const badIn = (statuses: Readonly<Record<string, number>>): number =>
  (statuses["fake"] ?? 0) + (statuses["disposable"] ?? 0);
