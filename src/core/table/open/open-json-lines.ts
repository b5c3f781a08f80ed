/** Opens tables of JSON lines: finds the fields of the objects and chooses among them. */
import { endingOf } from "../../../files/ending.js";
import { ChoiceError } from "../../../files/errors.js";
import { itemText, lineEndings, meanLineBytes, toBinary } from "../bytes.js";
import { innerPaths, isObject, type JsonObject, orElse, parseObject, sampledField } from "../json/json-values.js";
import { byteOrderMarkBytes, type TableShape } from "../records.js";
import { readScanned } from "../scan/scanned-records.js";
import { chooseColumns, type Records } from "../sniff/column.js";
import { sniffLineEnding } from "../sniff/dialect.js";
import { maximumRecords, startRecords } from "../sniff/sample.js";
import type { DocumentLines, OpenedTable, TableOptions, TableStart } from "../table.js";
import { streamOf } from "../writers/start.js";
import { checkJsonStart } from "./bad-start.js";
import { itemTestOf } from "./open-csv.js";
import { checkReshapable, countLeftOut } from "./reshape.js";

/** Returns none if the first line that is neither blank nor a comment is not an object: then it is not JSON Lines. */
export function sampleObjects(sample: string, isWhole: boolean, comment?: string, most = maximumRecords): JsonObject[] {
  const lines = sample
    .split(/\r\n|\n|\r/)
    .slice(0, isWhole ? undefined : -1)
    .filter((line) => line.trim() !== "" && (comment === undefined || !line.startsWith(comment)));
  const objectIn = (line: string) => parseObject(Buffer.from(line, "latin1").toString());
  if (lines[0] === undefined || objectIn(lines[0]) === undefined) return [];
  return lines
    .slice(0, most)
    .map(objectIn)
    .filter((object) => object !== undefined);
}

/** @throws ChoiceError if the columns cannot be chosen */
export async function openJsonLines(
  { source, byteOrderMark, preamble, first, input }: TableStart,
  sample: Buffer,
  objects: readonly JsonObject[],
  options: TableOptions,
  document?: DocumentLines,
): Promise<OpenedTable> {
  const { names, paths, shown } = membersOf(objects, options, document);
  const width = names.length;
  if (paths.length === 0 && (document === undefined || objects.length > 0)) {
    throw new ChoiceError(`${source.name}: its objects have no fields; give one with the items`, { code: "format" });
  }
  const rows = objects.map((object) => paths.map((path) => toBinary(sampledField(object, path))));
  const named = options.columns ? shown : shown.map((name, nth) => (holdsObjects(objects, names[nth]) ? "" : name));
  const chosen = chooseJsonColumns(named, rows, width, options);
  const comment = document?.comment ?? options.dialect?.comment ?? null;
  const marks = { quote: "", escape: "", comment, skipsSpaces: false };
  const lineEnding = sniffLineEnding(sample, null, marks);
  const dialect = { delimiter: null, ...marks, byteOrderMark, lineEnding };
  const { badRows = "error", onBadRow = () => {} } = options;
  const own = document ? "json" : "jsonl";
  // Lines in a file that is named .json stay lines.
  const isNamedSo = options.format === undefined && endingOf(source.name) === "json";
  const wanted = options.format ?? options.namedFormat ?? own;
  const format = wanted === "json" && isNamedSo ? own : wanted;
  if (format !== own) checkReshapable(badRows);
  const firstLine = 1 + lineEndings(preamble);
  const shape: TableShape = {
    name: source.name,
    dialect,
    width,
    hasHeader: false,
    firstLine,
    ragged: "pad",
    badRows,
    column: chosen.column,
    otherColumns: chosen.otherColumns,
    trustsQuotes: true,
    isWidthSure: false,
    itemColumns: [],
    json: {
      names,
      paths,
      isDocument: document !== undefined,
      isOfArrays: document?.header !== undefined,
      addedBytes: document?.addedBytes ?? 0,
    },
  };
  if (badRows !== "error" && !options.force && !document) checkJsonStart(shape, first, dialect.comment);
  const isKept = format === "jsonl" || format === "json";
  const target = { format: isKept ? undefined : format, keys: [] };
  // The test of items is never asked: JSON lines have neither quotes nor widths.
  const scanned = await readScanned(shape, target, { first, rest: input }, itemTestOf(options.profile), onBadRow);
  const mark = byteOrderMark ? byteOrderMarkBytes : Buffer.of();
  const above = isKept ? Buffer.concat([mark, preamble]) : mark;
  return {
    names,
    format,
    linesLeftOut: isKept ? 0 : countLeftOut(preamble),
    dialect: document ? { ...dialect, comment: null } : dialect,
    header: shown.map(toBinary),
    width,
    recordBytes: meanLineBytes(first),
    ...chosen,
    columnName: shown[chosen.column],
    ...(document && { elements: document }),
    ...(isKept && format !== own && { outputForm: document ? "compact lines" : "array" }),
    ...(document && format === own && { outputForm: "document" }),
    ...streamOf(scanned, above),
    firstValues: (column) => rows.map((fields) => itemText(fields[column] ?? "")),
    startValues: async (column) =>
      (document ? objects : sampleObjects(first.toString("latin1"), false, options.dialect?.comment, startRecords)).map(
        (object) => sampledField(object, paths[column] ?? ""),
      ),
  };
}

/** Returns names, paths (also of inner members), and paths as shown: in a document, with that of the list. */
function membersOf(
  objects: readonly JsonObject[],
  { columns }: TableOptions,
  { prefix = "", alternatives, header }: Partial<DocumentLines> = {},
) {
  // The keys of an object are not in order if they are numbers.
  const names = [...(header ?? new Set(objects.flatMap((object) => Object.keys(object))))];
  const paths = [...new Set([...names, ...objects.flatMap((object) => innerPaths(object))])];
  const shown = paths.map((path) => prefix + path);
  if (alternatives !== undefined) {
    paths.push(alternatives.join(orElse));
    shown.push(columns![0]!);
  }
  return { names, paths, shown };
}

function holdsObjects(objects: readonly JsonObject[], name: string | undefined): boolean {
  if (name === undefined) return false;
  const values = objects.map((object) => object[name]).filter((value) => value !== undefined && value !== null);
  return values.length > 0 && values.every(isObject);
}

function chooseJsonColumns(paths: readonly string[], rows: Records, width: number, options: TableOptions) {
  const header = paths.map(toBinary);
  if (options.columns !== undefined) return chooseColumns(header, rows, paths.length, options);
  const isItem = (column: number) =>
    rows.some((fields) => options.profile.likeness(itemText(fields[column] ?? "")) > 0);
  try {
    const chosen = chooseColumns(header.slice(0, width), rows, width, options);
    if (paths.length === width || isItem(chosen.column)) return chosen;
  } catch (error) {
    if (!(error instanceof ChoiceError) || paths.length === width) throw error;
  }
  return chooseColumns(header, rows, paths.length, options);
}
