// Refuses tables in which most of the first rows are bad: then the dialect is wrong, not each row. Names the option
// that would read them.
import { ChoiceError } from "../../../files/errors.js";
import { grouped } from "../../../text.js";
import type { BadRowListener } from "../bad-rows.js";
import { itemText } from "../bytes.js";
import type { Marks } from "../dialect.js";
import { parseObject } from "../json/json-values.js";
import type { TableShape } from "../records.js";
import type { ItemTest } from "../sniff/item-profile.js";
import { type LayoutOptions, layoutOf } from "../sniff/layout.js";
import { type SplitSample, startRecords } from "../sniff/sample.js";

const fewRows = 20;

const isMost = (bad: number, rows: number) => bad >= fewRows && bad > rows / 2;

const mostAreBad = (name: string, bad: number, rows: number, message: string, advice: string) =>
  new ChoiceError(`${name}: ${grouped(bad)} of the first ${grouped(rows)} rows are bad, such as ${message}`, {
    ...{ code: "format", advice },
  });

export function checkJsonStart({ name, firstLine }: TableShape, first: Buffer, comment: string | null): void {
  const lines = first.toString("latin1").split(/\r\n|\r|\n/, startRecords);
  const isRow = (line: string) => line.trim() !== "" && (comment === null || !line.startsWith(comment));
  const isBad = (line: string) => isRow(line) && parseObject(line) === undefined;
  const rows = lines.filter(isRow).length;
  const bad = lines.filter(isBad).length;
  if (!isMost(bad, rows)) return;
  const where = `line ${firstLine + lines.findIndex(isBad)}: not a JSON object`;
  throw mostAreBad(name, bad, rows, where, "write an object on each line");
}

/** Buffers the bad rows that are found while a table is opened, until it is known whether the dialect is wrong. */
export function badStart(
  { name, badRows, firstLine }: TableShape,
  onBadRow: BadRowListener,
  advise?: () => Promise<string | undefined>,
) {
  const held: Parameters<BadRowListener>[] = [];
  let isOver = false;
  const hold: BadRowListener = (fault, record) => {
    if (isOver) onBadRow(fault, record);
    else held.push([fault, Buffer.from(record)]);
  };
  /** `records` includes bad ones that are kept. @throws ChoiceError when more than half of the first rows are bad */
  const end = async (records: number) => {
    isOver = true;
    const rows = Math.min(startRecords, badRows === "keep" ? records : records + held.length);
    const bad = held.filter(([{ line }]) => line - firstLine <= startRecords).length;
    if (advise !== undefined && isMost(bad, rows)) {
      const advice = (await advise()) ?? "check the quotes and the delimiter";
      const [{ line, what }] = held[0]!;
      throw mostAreBad(name, Math.min(bad, rows), rows, `line ${line}: ${what}`, advice);
    }
    for (const [fault, record] of held.splice(0)) onBadRow(fault, record);
  };
  return { onBadRow: hold, end };
}

const otherQuotes: readonly (readonly [Pick<Marks, "quote" | "escape">, string])[] = [
  [{ quote: '"', escape: '"' }, "leave --quote out"],
  [{ quote: "'", escape: "'" }, `pass --quote "'"`],
  [{ quote: '"', escape: "\\" }, `pass --quote '"\\'`],
  [{ quote: "", escape: "" }, "pass --quote none"],
];

/** Returns the option with which nearly all of the first rows have an item in its column. */
export async function dialectFor(
  { dialect, width, column }: TableShape,
  items: ItemTest,
  splitWith: (marks: Marks) => SplitSample,
  layout: LayoutOptions,
): Promise<string | undefined> {
  for (const [marks, option] of otherQuotes) {
    const { body } = layoutOf(splitWith({ ...dialect, ...marks })(dialect.delimiter), layout);
    const good = body.filter(({ length, [column]: item = "" }) => length === width && items.isItem(itemText(item)));
    if (good.length > 0.9 * body.length) return option;
  }
  return undefined;
}
