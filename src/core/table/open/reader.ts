// Opens tables: tells lines, JSON Lines and other formats of text apart by their start. Must not know what items are:
// an `ItemProfile` recognises them.
import { ChoiceError } from "../../../files/errors.js";
import { lineFeed } from "../../ascii.js";
import { lineEndings } from "../bytes.js";
import { longRecordBytes } from "../records.js";
import { Pause } from "../scan/pause.js";
import { separatorLine } from "../sniff/sample.js";
import type { Table, TableOptions, TableSource } from "../table.js";
import { openCsv } from "./open-csv.js";
import { openJsonLines, sampleObjects } from "./open-json-lines.js";

type Input = AsyncIterator<Uint8Array>;

const sampleBytes = 65_536;
/** Pause of the input after which its table is opened with the records that are there, in milliseconds. */
const pauseMilliseconds = 500;

/** Closes the input if it throws. @throws TableError when it is not a table, ChoiceError when no column fits */
export async function openTable(source: TableSource, options: TableOptions): Promise<Table> {
  const input = source.bytes[Symbol.asyncIterator]();
  try {
    return await readTable(source, options, input);
  } catch (error) {
    void input.return?.();
    throw error;
  }
}

async function readTable(source: TableSource, options: TableOptions, wholeInput: Input) {
  const { bytes, isWhole, input } = await readSample(source, wholeInput, options);
  const { sheet, formats } = options;
  const start = bytes.subarray(0, sampleBytes);
  const isAll = isWhole && bytes.length <= sampleBytes;
  // The first cell of a sheet is no mark of a format.
  const conversion = sheet ? undefined : formats?.conversionOf(source.name, start, isAll, options);
  if (conversion !== undefined) {
    const csv = conversion.convert(joined(bytes, input));
    const asCsv = { delimiter: ",", header: true, dialect: { quote: '"', escape: '"' } };
    const table = await openTable({ ...source, bytes: csv }, { ...options, ...asCsv });
    return { ...table, madeOf: conversion.what };
  }
  const byteOrderMark = !sheet && hasMark(bytes);
  let first = byteOrderMark ? bytes.subarray(3) : bytes;
  const lineLength = sheet ? firstRowLength : firstLineLength;
  const above = [linesAbove(source.name, first, options.skipLines ?? 0, lineLength)];
  first = first.subarray(above[0]!.length);
  const separator = sheet ? undefined : separatorLine(first);
  if (separator !== undefined) {
    above.push(first.subarray(0, separator.length));
    first = first.subarray(separator.length);
  }
  // pandas writes an empty frame as one blank line of JSON Lines: no records, and no columns with the given names.
  const isNamed = options.columns?.some((column) => !/^\d+$/.test(column)) === true;
  if (isWhole && isNamed && /^\s*$/.test(first.toString("latin1"))) first = first.subarray(0, 0);
  const usualSample = Math.max(sampleBytes, firstLineLength(first) ?? first.length);
  const decides = source.mayPause ? decidingLine(first, options) : undefined;
  const sample = decides ?? first.subarray(0, usualSample);
  const isWholeSample = isWhole && sample.length === first.length;
  const preamble = Buffer.concat(above);
  const objects =
    options.delimiter === undefined
      ? sampleObjects(sample.toString("latin1"), isWholeSample, options.dialect?.comment)
      : [];
  const tableStart = { source, input, byteOrderMark, isWhole, preamble, first };
  const found = { bytes: sample, isWhole: isWholeSample, objects: objects.length };
  const table =
    (await formats?.openDocument(tableStart, found, options)) ??
    (objects.length > 0
      ? await openJsonLines(tableStart, sample, objects, options)
      : await openCsv(tableStart, sample, isWholeSample, separator?.delimiter, options));
  const surelyIn = async () => {
    const { guessEncoding } = await import("../sniff/guess-encoding.js");
    return guessEncoding(start);
  };
  return { ...table, surelyIn };
}

async function* joined(first: Uint8Array, rest: Input): AsyncGenerator<Uint8Array> {
  try {
    yield first;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    void rest.return?.();
  }
}

const hasMark = (bytes: Buffer): boolean => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

// Rows that arrive slowly are answered at once if the first line is enough: it is a JSON object with the wanted fields,
// or the user says that there is no header, and names delimiter and column, or that there is no delimiter.
function decidingLine(bytes: Buffer, options: TableOptions): Buffer | undefined {
  const { header, delimiter, dialect, columns, format, namedFormat, rewrite, sheet, needsSample } = options;
  if (rewrite || sheet || needsSample || dialect?.comment !== undefined) return undefined;
  const isGiven =
    header === false &&
    (delimiter === null || (delimiter !== undefined && dialect?.quote === "" && columns !== undefined));
  const mayBeJson = delimiter === undefined && columns !== undefined && (format ?? namedFormat ?? "jsonl") === "jsonl";
  if (!isGiven && !mayBeJson) return undefined;
  for (let end = 0; ; ) {
    const length = firstLineLength(bytes.subarray(end));
    // A CR at the end may be half of a CRLF.
    if (length === undefined || (bytes[end + length - 1] === 0x0d && end + length === bytes.length)) return undefined;
    const line = bytes.toString("latin1", end, end + length);
    end += length;
    if (line.trim() === "") continue;
    if (isGiven) return bytes.subarray(0, end);
    const [object] = sampleObjects(line, false, undefined);
    const hasAll = object !== undefined && columns!.every((column) => Object.hasOwn(object, column));
    return hasAll ? bytes.subarray(0, end) : undefined;
  }
}

function firstLineLength(bytes: Buffer): number | undefined {
  const end = bytes.findIndex((byte) => byte === 0x0a || byte === 0x0d);
  if (end === -1) return undefined;
  return end + (bytes[end] === 0x0d && bytes[end + 1] === 0x0a ? 2 : 1);
}

function firstRowLength(bytes: Buffer): number | undefined {
  const row = /^(?:[^"\n]|"[^"]*")*\n/.exec(bytes.toString("latin1"));
  return row?.[0].length;
}

function linesAbove(name: string, bytes: Buffer, count: number, lineLength: (bytes: Buffer) => number | undefined) {
  let end = 0;
  for (let line = 0; line < count; line++) {
    const length = lineLength(bytes.subarray(end));
    if (length === undefined) {
      throw new ChoiceError(`${name}: --skip-lines ${count} is more than the ${line} lines at its start; give fewer`);
    }
    end += length;
  }
  return bytes.subarray(0, end);
}

// Reads at least `sampleBytes`, up to 1 MiB for the first line below the skipped ones, or less if a line decides or the
// input pauses after a record. Detection must not depend on the size of the input's pieces.
async function readSample({ mayPause = false }: TableSource, input: Input, options: TableOptions) {
  const chunks: Uint8Array[] = [];
  let length = 0;
  let lineEnds = 0;
  const { skipLines = 0 } = options;
  // Three more bytes for a byte order mark.
  while (length < sampleBytes + 3 || (lineEnds <= skipLines && length <= longRecordBytes)) {
    const reading = input.next();
    if (mayPause && hasRecord(Buffer.concat(chunks), options)) {
      const pause = new Pause(pauseMilliseconds);
      const read = await pause.orResult(reading);
      pause.end();
      if (read === undefined) return { bytes: Buffer.concat(chunks), isWhole: false, input: after(reading, input) };
    }
    const next = await reading;
    if (next.done) return { bytes: Buffer.concat(chunks), isWhole: true, input };
    const chunk = Buffer.from(next.value);
    chunks.push(chunk);
    length += chunk.length;
    const added = lineEndings(chunk);
    lineEnds += added;
    if (mayPause && added > 0 && skipLines === 0 && length < sampleBytes) {
      const bytes = Buffer.concat(chunks);
      const first = hasMark(bytes) ? bytes.subarray(3) : bytes;
      if (separatorLine(first) === undefined && decidingLine(first, options)) return { bytes, isWhole: false, input };
    }
  }
  return { bytes: Buffer.concat(chunks), isWhole: false, input };
}

/** Accepts a whole record with an item, or of a named column, and no open quote. Documents have to be read further. */
function hasRecord(bytes: Buffer, options: TableOptions): boolean {
  const { header, columns, profile, skipLines = 0, rewrite, sheet, needsSample } = options;
  if (rewrite || sheet || needsSample || /^\s*[[{]/.test(bytes.toString("latin1", 0, 64))) return false;
  const text = bytes.toString("utf8", 0, bytes.lastIndexOf(lineFeed) + 1);
  if (text.split('"').length % 2 === 0) return false;
  const lines = text
    .split("\n")
    .slice(skipLines)
    .filter((line) => line.trim() !== "");
  if (columns !== undefined) return lines.length > (header === false ? 0 : 1);
  const isItem = (field: string) => profile.resembles(field) && profile.holds(field);
  return lines.some((line) => line.split(/[,;\t|"]/).some(isItem));
}

function after(reading: Promise<IteratorResult<Uint8Array>>, input: Input): Input {
  let first: typeof reading | undefined = reading;
  return {
    next: () => {
      const next = first ?? input.next();
      first = undefined;
      return next;
    },
    return: async () => {
      const ended = input.return?.();
      // A pending read may never end.
      if (first === undefined) await ended;
      return { done: true, value: undefined };
    },
  };
}
