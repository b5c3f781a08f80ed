/** The summary of a run for a terminal: statuses with shares and bars; beside them reasons and disposable domains. */
import { reasonOf } from "../../../classifier/rules/rules.js";
import { mostTopDomains } from "../../../run/run-options.js";
import { grouped, printable } from "../../../text.js";
import { barOf, statusColour, type TerminalStyle } from "../../terminal/bars.js";
import type { Summary } from "./result.js";

export function fakeReasonCounts(
  reasons: ReadonlyMap<string, number>,
): readonly (readonly [string, number])[] {
  return Array.from(reasons)
    .filter(([code]) => reasonOf(code)?.status === "fake")
    .map(([code, count]) => [reasonOf(code)!.words, count] as const)
    .sort((a, b) => b[1] - a[1]);
}

/** `width` does not count the escapes of colours. */
interface Block {
  readonly lines: readonly string[];
  readonly width: number;
}

const gap = 4;
/** Width of a terminal, in columns, below which there is one block without bars. */
const narrow = 60;
const mostEntries = 4;

/** Returns the middle of the summary: as many blocks side by side as fit. `counts` are rows by status, in order. */
export function statusLines(
  { report }: Summary,
  counts: readonly (readonly [string, number])[],
  style: TerminalStyle,
): string[] {
  const fakes = report.statuses.get("fake") ?? 0;
  const domains = report.topDomains.map(({ domain, items }) => [domain, items] as const);
  const blocks = [
    statusBlock(report.rows, counts, style),
    ...(fakes === 0 ? [] : listBlock(`Why fake ${grouped(fakes)}`, fakeReasonCounts(report.reasons))),
    ...listBlock("Disposable domains", domains),
  ];
  const { columns } = style;
  let room = columns - 3;
  const fitting = blocks.filter(({ width }, i) => {
    room -= width + (i === 0 ? 0 : gap);
    return i === 0 || (columns >= narrow && room >= 0);
  });
  const height = Math.max(...fitting.map(({ lines }) => lines.length));
  return Array.from({ length: height }, (_, i) => {
    const cells = fitting.map(({ lines, width }) => {
      const line = lines[i] ?? "";
      return line + " ".repeat(Math.max(0, width - visibleLength(line)));
    });
    return `  ${cells.join(" ".repeat(gap))}`.trimEnd();
  });
}

const visibleLength = (text: string): number => text.replace(/\u001b\[[\d;]*m/g, "").length;

function statusBlock(
  rows: number,
  counts: readonly (readonly [string, number])[],
  { chalk, columns, isUnicode }: TerminalStyle,
): Block {
  const nameWidth = Math.max(10, ...counts.map(([status]) => printable(status).length));
  const countWidth = Math.max(5, ...counts.map(([, count]) => grouped(count).length));
  const barWidth = columns < narrow ? 0 : 20;
  const lines = counts.map(([status, count]) => {
    const share = rows === 0 ? 0 : count / rows;
    const name = printable(status).padEnd(nameWidth);
    const colour = statusColour(chalk, status);
    const figures = `${grouped(count).padStart(countWidth)}  ${(100 * share).toFixed(1).padStart(5)} %`;
    const bar = barWidth === 0 ? "" : `  ${colour(barOf(share, barWidth, isUnicode))}`;
    return `${colour(name)}  ${figures}${bar}`;
  });
  return { lines, width: nameWidth + countWidth + 11 + (barWidth === 0 ? 0 : barWidth + 2) };
}

function listBlock(heading: string, entries: readonly (readonly [string, number])[]): Block[] {
  if (entries.length === 0) return [];
  const shown = entries.slice(0, entries.length > mostEntries ? mostEntries - 1 : mostEntries);
  const names = shown.map(([name]) => printable(name).slice(0, 30));
  const nameWidth = Math.max(heading.length - 6, ...names.map(({ length }) => length));
  const countWidth = Math.max(...shown.map(([, count]) => grouped(count).length));
  const lines = shown.map(
    ([, count], i) => `${names[i]!.padEnd(nameWidth)}  ${grouped(count).padStart(countWidth)}`,
  );
  const more = entries.length - shown.length;
  return [
    {
      // A list of mostTopDomains may be cut: then the number of further entries is unknown.
      lines: [
        heading,
        ...lines,
        ...(more === 0 ? [] : [entries.length < mostTopDomains ? `+ ${more} more` : "+ more"]),
      ],
      width: Math.max(heading.length, nameWidth + 2 + countWidth),
    },
  ];
}
