/** The summary of a run for a terminal: statuses with shares and bars; beside them reasons and disposable domains. */
import { reasonOf } from "../../../core/classifier/rules/rules.js";
import { countOf, type Facts } from "../../../core/facts/facts.js";
import { mostTopDomains } from "../../../core/run/run-options.js";
import { grouped, printable } from "../../../text.js";
import { barOf, statusColour, type TerminalStyle } from "../../terminal/bars.js";

export function fakeReasonCounts({ reasons, statuses }: Pick<Facts, "reasons" | "statuses">) {
  const fakes = Object.entries(reasons).filter(([code]) => reasonOf(code)?.status === "fake");
  const counts = fakes.map(([code, count]) => [reasonOf(code)!.words, count] as const).sort((a, b) => b[1] - a[1]);
  // A service may give none for its own verdicts, and rows that keep a status have none.
  const rest = countOf(statuses, "fake") - counts.reduce((sum, [, count]) => sum + count, 0);
  return counts.length > 0 && rest > 0 ? [...counts, ["without a reason", rest] as const] : counts;
}

/** `width` does not count the escapes of colours. */
type Block = { readonly lines: readonly string[]; readonly width: number };

const gap = 4;
/** Narrower terminals, in columns, get one block without bars. */
const narrow = 60;
const mostEntries = 4;

export function statusLines(
  { rows, statuses, reasons, topDomains }: Pick<Facts, "rows" | "statuses" | "reasons" | "topDomains">,
  counts: readonly (readonly [string, number])[],
  style: TerminalStyle,
): string[] {
  const fakes = countOf(statuses, "fake");
  const domains = topDomains.map(({ domain, items }) => [domain, items] as const);
  const room = style.columns - 3;
  const blocks = [
    statusBlock(rows, counts, style),
    ...(fakes === 0 ? [] : listBlock(`Why fake ${grouped(fakes)}`, fakeReasonCounts({ reasons, statuses }), room)),
    ...listBlock("Disposable domains", domains, room),
  ];
  const widthOf = (band: readonly Block[]) => band.reduce((sum, { width }) => sum + width + gap, -gap);
  const bands: Block[][] = [];
  for (const block of blocks) {
    const band = bands.at(-1);
    if (band !== undefined && style.columns >= narrow && widthOf([...band, block]) <= room) band.push(block);
    else bands.push([block]);
  }
  return bands.flatMap(sideBySide);
}

function sideBySide(blocks: readonly Block[]): string[] {
  const height = Math.max(...blocks.map(({ lines }) => lines.length));
  return Array.from({ length: height }, (_, i) => {
    const cells = blocks.map(({ lines, width }) => {
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

function listBlock(heading: string, entries: readonly (readonly [string, number])[], room: number): Block[] {
  if (entries.length === 0) return [];
  const shown = entries.slice(0, entries.length > mostEntries ? mostEntries - 1 : mostEntries);
  const countWidth = Math.max(...shown.map(([, count]) => grouped(count).length));
  const names = shown.map(([name]) => printable(name).slice(0, Math.min(30, room - 2 - countWidth)));
  const nameWidth = Math.max(heading.length - 6, ...names.map(({ length }) => length));
  const lines = shown.map(([, count], i) => `${names[i]!.padEnd(nameWidth)}  ${grouped(count).padStart(countWidth)}`);
  const more = entries.length - shown.length;
  // A list of mostTopDomains may be cut: then the number of further entries is unknown.
  const end = more === 0 ? [] : [entries.length < mostTopDomains ? `+ ${more} more` : "+ more"];
  return [{ lines: [heading, ...lines, ...end], width: Math.max(heading.length, nameWidth + 2 + countWidth) }];
}
