/** Opens tables with delimiters, and plain lists: detects their dialect, layout and columns. */
import { ChoiceError } from "../../../files/errors.js";
import { itemText, lineEndings, meanLineBytes, nameText } from "../bytes.js";
import type { Dialect, Marks } from "../dialect.js";
import { TableError } from "../errors.js";
import { usualMarks } from "../quotes.js";
import { byteOrderMarkBytes, delimiterOf, type TableShape } from "../records.js";
import { findStep } from "../scan/broken-rows.js";
import { readScanned, type TableBytes } from "../scan/scanned-records.js";
import { chooseColumns } from "../sniff/column.js";
import { hasUsualMarks, sniffDialect, sniffLineEnding } from "../sniff/dialect.js";
import { anySign, type ItemProfile, type ItemTest } from "../sniff/item-profile.js";
import { layoutOf, mostCommonWidth } from "../sniff/layout.js";
import { splitterOf, startRecords } from "../sniff/sample.js";
import { isHeaderLine, isHeaderOf, isReordered, otherHeader } from "../sniff/second-header.js";
import type { OpenedTable, Rewrite, TableOptions, TableStart } from "../table.js";
import { streamOf } from "../writers/start.js";
import { badStart, dialectFor } from "./bad-start.js";
import { checkReshapable, countLeftOut, jsonKeys } from "./reshape.js";
import { mayBeWrapped, Unwrapper, unwrapped } from "./unwrap.js";

export async function openCsv(
  start: TableStart,
  sample: Buffer,
  isWhole: boolean,
  separator: string | undefined,
  options: TableOptions,
): Promise<OpenedTable> {
  const { profile, dialect: known = {}, ragged = "pad", badRows = "error", onBadRow = () => {} } = options;
  const layoutOptions = { ...options, startsHere: options.skipLines !== undefined };
  const splitWith = (marks: Marks) => splitterOf(sample, isWhole, marks);
  const { source, byteOrderMark, preamble: linesAbove, first, input, isUnwrapped = false } = start;
  const isSeparator = separator !== undefined && (splitWith(usualMarks)(separator).records[0]?.fields.length ?? 0) > 1;
  const given = options.delimiter !== undefined ? options.delimiter : isSeparator ? separator : undefined;
  const ofUser = options.sheet ? { quote: '"', escape: '"' } : known;
  const wanted = { ...ofUser, mayMergeSpaces: options.rewrite === undefined };
  const sniff = (bytes: Buffer) => sniffDialect({ bytes, isWhole }, given, wanted, layoutOptions);
  const { marks, delimiter, split, rows, inStep } = sniff(sample);
  const isOdd = inStep < rows / 2 || (marks.quote === "" && known.quote === undefined);
  if (isOdd && !isUnwrapped && !options.sheet && mayBeWrapped(sample)) {
    const inside = new Unwrapper().unwrap(sample);
    const unwrapper = new Unwrapper();
    const found = sniff(inside);
    if (found.inStep > found.rows / 2) {
      const bytes = { first: unwrapper.unwrap(first), input: unwrapped(input, unwrapper) };
      return openCsv({ ...start, ...bytes, isUnwrapped: true }, inside, isWhole, separator, options);
    }
  }

  const parts = split(delimiter);
  const { above, header: headerRecord, body, second } = layoutOf(parts, layoutOptions);
  const other = second ?? parts.records.find(({ fields }) => isReordered(fields, headerRecord?.fields, profile));
  if (other !== undefined && !options.force) {
    const line = 1 + lineEndings(linesAbove) + other.linesBefore;
    throw otherHeader(source.name, { line, fields: other.fields }, line - 1);
  }
  const header = headerRecord?.fields;
  const table = first.subarray(parts.records[above]?.start ?? 0);
  const titles = first.subarray(0, first.length - table.length);
  const preamble = Buffer.concat([linesAbove, titles]);
  const lineEnding = sniffLineEnding(table.subarray(0, sample.length), delimiter, marks);
  const dialect = { delimiter, ...marks, byteOrderMark, lineEnding, isUnwrapped };
  const usualWidth = widthOf(header, body);
  const skipped = options.sheet ? (options.skipLines ?? 0) : lineEndings(linesAbove);
  const rowsAbove = skipped + above + Number(header !== undefined);
  // In a sheet, each cell names its column, so a row may be wider than the header.
  const width = (await options.sheet?.widthBelow(rowsAbove, usualWidth)) ?? usualWidth;
  if (width === 0 && !isWhole) {
    const what = `${source.name}: the first line is over 1 MiB, too long to find its columns`;
    throw new TableError(what, { advice: "check its line ends and its quotes" });
  }
  const chosen = withDelimiter(
    () => chooseColumns(header, body, width, options),
    given,
    () => sniffDialect({ bytes: sample, isWhole }, undefined, wanted, layoutOptions).delimiter,
  );
  const { items = itemTestOf(profile) } = options;
  const found: TableShape = {
    name: source.name,
    dialect,
    width,
    hasHeader: header !== undefined,
    takesHeaders: options.force === true,
    header,
    ragged,
    badRows,
    column: chosen.column,
    otherColumns: chosen.otherColumns,
    trustsQuotes: options.sheet !== undefined || (known.quote ?? known.escape) !== undefined,
    isWidthSure: false,
    itemColumns: Array.from({ length: width }, (_, column) => column).filter((column) =>
      body.some((fields) => fields.length === width && items.holds(itemText(fields[column]!))),
    ),
    firstLine: 1 + lineEndings(preamble),
  };
  const shape = { ...found, isWidthSure: delimiter !== null && !options.sheet && isWidthSure(found, items, body) };
  const starts = parts.records.slice(above).map(({ start }) => start);
  const { format, reshaped } = formatsOf(dialect, options);
  const isReshaped = reshaped !== undefined;
  if (isReshaped) checkReshapable(badRows);
  const linesLeftOut = isReshaped ? countLeftOut(preamble) : 0;
  const advise = () => dialectFor(shape, items, splitWith, layoutOptions);
  const opening = badStart(shape, onBadRow, options.force ? undefined : advise);
  const isJson = reshaped === "jsonl" || reshaped === "json";
  const keys = isJson ? jsonKeys(header, width) : [];
  const target = { format: isJson ? ("jsonl" as const) : reshaped, keys };
  const bytes = await bytesOf(shape, { first: table, rest: input }, items, isWhole, options.rewrite);
  const scanned = await readScanned(shape, target, bytes, items, opening.onBadRow);
  await opening.end(scanned.first.count);
  const mark = byteOrderMark ? byteOrderMarkBytes : Buffer.of();
  const linesBefore = isReshaped ? (isJson ? Buffer.of() : mark) : Buffer.concat([mark, preamble]);
  return {
    dialect,
    recordBytes: starts.length > 1 ? (starts.at(-1)! - starts[0]!) / (starts.length - 1) : meanLineBytes(first),
    header,
    names: keys.length > 0 ? keys : (header?.map(nameText) ?? []),
    rowsAbove,
    width,
    ...chosen,
    columnName: nameText(header?.[chosen.column] ?? "").trim() || undefined,
    firstValues: (column) => valuesOf(body, column),
    startValues: async (column) => {
      const { body: rows } = layoutOf(splitterOf(first, isWhole, marks, startRecords)(delimiter), layoutOptions);
      const unbroken = rows.filter(({ length }) => length <= width);
      return valuesOf(unbroken, column);
    },
    format: reshaped ?? format,
    linesLeftOut,
    linesWithItems: linesIn(preamble, profile),
    ...(header === undefined && { unusedHeader: unusedHeader(linesAbove, parts.records[0]?.fields ?? [], options) }),
    ...(reshaped === "json" && { outputForm: "array" }),
    ...streamOf(scanned, linesBefore),
  };
}

const linesIn = (preamble: Buffer, profile: ItemProfile): readonly number[] =>
  itemText(preamble.toString("latin1"))
    .split(/\r\n|\r|\n/)
    .flatMap((line, nth) => (profile.resembles(line) && profile.holds(line) ? [nth + 1] : []));

/** The line that reads like the header of a table which has none, because the user says so, or skips that line. */
function unusedHeader(linesAbove: Buffer, first: readonly string[], { header, profile }: TableOptions) {
  const lines = lineEndings(linesAbove);
  if (header === false) return lines === 0 && isHeaderOf(first, undefined, profile) ? 1 : undefined;
  const last = linesAbove
    .toString("latin1")
    .trimEnd()
    .split(/\r\n|\r|\n/)
    .at(-1)!;
  return isHeaderLine(Buffer.from(last, "latin1"), profile) ? lines : undefined;
}

async function bytesOf(shape: TableShape, input: TableBytes, items: ItemTest, isWhole: boolean, rewrite?: Rewrite) {
  if (rewrite === undefined || shape.dialect.delimiter === null) return input;
  const bytes = rewrite(shape, input.first, input.rest, items);
  const start: Buffer[] = [];
  for (let next = await bytes.next(); !next.done; next = await bytes.next()) {
    start.push(next.value);
    // The last record of a piece may end in the next one.
    if (!isWhole) break;
  }
  return { first: Buffer.concat(start), rest: bytes };
}

/** Returns whether rows of unusual width are exceptions: they are few, or most of them are out of step. */
function isWidthSure(shape: TableShape, items: ItemTest, body: readonly (readonly string[])[]): boolean {
  const rows = body.filter((fields) => fields.length > 1 || fields[0] !== "");
  const odd = rows.filter(({ length }) => length !== shape.width);
  const isInStep = (fields: readonly string[]) =>
    findStep(shape, items, 1, fields.length, (field) => itemText(fields[field] ?? "")) === undefined;
  const isFew = odd.length <= Math.max(Math.min(4, rows.length / 2), rows.length / 10);
  return shape.width > 1 && (isFew || odd.filter(isInStep).length <= odd.length / 2);
}

export const itemTestOf = (profile: ItemProfile): ItemTest => ({
  signs: anySign,
  isItem: (field) => profile.likeness(field) > 0,
  isGlued: () => false,
  holds: profile.holds,
  isHeader: (fields, header) => isHeaderOf(fields, header, profile),
  isNone: (field) => field.trim() === "",
});

const valuesOf = (rows: readonly (readonly string[])[], column: number): readonly string[] =>
  rows.map((fields) => itemText(fields[column] ?? ""));

/** Counts one field more than the header has if all rows end with a delimiter; added fields follow that one. */
function widthOf(header: readonly string[] | undefined, body: readonly (readonly string[])[]): number {
  const common = mostCommonWidth(body);
  // Without a header, the first record is never too wide, even if most records have fewer fields.
  if (header === undefined) return Math.max(common, body[0]?.length ?? 0);
  const hasEmptySurplus = body.every((fields) => fields.slice(header.length).every((field) => field === ""));
  return hasEmptySurplus ? Math.max(common, header.length) : header.length;
}

function formatsOf(dialect: Dialect, { format: asked, namedFormat }: TableOptions) {
  const { delimiter } = dialect;
  const format = delimiter === "\t" ? "tsv" : "csv";
  const isUsual = hasUsualMarks(dialect);
  // A name that ends in .csv asks for a dialect that all programs can read.
  const wanted = asked ?? (namedFormat === format && isUsual ? undefined : namedFormat);
  const isSame = wanted === format && (delimiter ?? ",") === delimiterOf[format] && isUsual;
  return { format, reshaped: isSame ? undefined : wanted } as const;
}

/** Adds the delimiter that would be found to the ChoiceError of `choose`, if another one was given. */
function withDelimiter<Result>(
  choose: () => Result,
  given: string | null | undefined,
  find: () => string | null,
): Result {
  try {
    return choose();
  } catch (error) {
    const found = given === undefined ? null : find();
    const isOther = found !== null && found !== given && error instanceof ChoiceError;
    if (isOther) error.add(`without -d, the fields are separated by ${found === "\t" ? "tabs" : `"${found}"`}`);
    throw error;
  }
}
