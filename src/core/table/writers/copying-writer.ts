/** Writes CSV records with their original bytes: added fields follow them, or replace the fields of an earlier run. */
import { nameText, toBinary } from "../bytes.js";
import { emptyTail, quoteField, unquote, usualMarks } from "../quotes.js";
import { beforeField, emptyField, outputDelimiter, type TableShape } from "../records.js";
import { boundsIn } from "../scan/scan-shape.js";
import type { ScannedChunk } from "../scan/scanned-chunk.js";
import { Offset, recordWords } from "../scan/scanner.js";
import type { Output, WriteMemory, WrittenRecords } from "./output.js";
import type { AddedColumns, AddedFields, AddedToRow, RecordWriter } from "./record-writer.js";
import { copyRecords } from "./record-writer.js";

const comma = ",";

export class CopyingWriter implements RecordWriter {
  readonly copiesParts: boolean;
  readonly #replaced: readonly { readonly earlier: number; readonly index: number }[];
  readonly #last: readonly number[];
  readonly #beforeText: string;
  readonly #before: Uint8Array;
  /** Whether a field of word characters and of `@`, `.`, `+` and `-` needs no quotes. */
  readonly #isUsual: boolean;
  readonly #padding: Uint8Array;

  constructor(
    private readonly shape: TableShape,
    private readonly indices: AddedColumns["indices"],
  ) {
    const { dialect } = shape;
    this.#replaced = indices
      .flatMap((earlier, index) => (earlier === undefined ? [] : [{ earlier, index }]))
      .sort((a, b) => a.earlier - b.earlier);
    this.#last = [...indices.keys()].filter((index) => indices[index] === undefined);
    this.#beforeText = beforeField(dialect);
    this.#before = Buffer.from(this.#beforeText, "latin1");
    this.#isUsual = /^[,;\t| ]$/.test(outputDelimiter(dialect)) && /^["']?$/.test(dialect.quote);
    this.#padding = Buffer.from(emptyField(dialect), "latin1");
    this.copiesParts = this.#isUsual && this.#replaced.length === 0 && this.#padding.length === 1;
  }

  prepare(fields: readonly string[]): AddedFields {
    const { dialect } = this.shape;
    const delimiter = outputDelimiter(dialect);
    if (this.#replaced.length > 0) {
      const quoted = fields.map((field) => quoteField(toBinary(field), delimiter, dialect));
      return { fields, parts: quoted.map((field) => Buffer.from(field, "latin1")) };
    }
    let all = "";
    for (const field of fields) {
      all += this.#beforeText;
      const isPlain = this.#isUsual && /^[\w@.+-]+$/.test(field);
      all += isPlain ? field : quoteField(toBinary(field), delimiter, dialect);
    }
    return { fields, parts: [Buffer.from(all, "latin1")] };
  }

  write(chunk: ScannedChunk, added: AddedToRow, memory?: WriteMemory): WrittenRecords {
    const { at } = chunk;
    const { width, dialect } = this.shape;
    const lines = dialect.delimiter === null ? quotedLines(chunk, this.shape) : undefined;
    const keepsBadRows = this.shape.badRows === "keep" && this.#last.length > 0;
    return copyRecords(chunk, added, memory, {
      ...(keepsBadRows && { isMoved: (row) => this.#surplusAt(chunk, row) !== undefined }),
      isWhole: (word) => this.#last.length === 0 && at[word + Offset.fields] === width,
      write: (row, output, fields) => {
        if (!chunk.isRow(row)) return this.#writeBadRow(chunk, row, output);
        const ours = fields ?? this.prepare(chunk.fields(row, this.indices));
        this.#writeRecord(chunk, row, ours, lines?.get(row), output);
      },
    });
  }

  /** Returns where surplus fields start, with the delimiter; undefined except for a bad row that is kept. */
  #surplusAt({ bytes, at }: ScannedChunk, row: number): number | undefined {
    const { dialect, width } = this.shape;
    const start = at[row * recordWords]!;
    const end = at[row * recordWords + Offset.end]!;
    if (dialect.delimiter === null || (dialect.comment !== null && bytes[start] === dialect.comment.charCodeAt(0)))
      return undefined;
    const bounds = boundsIn(this.shape, bytes, start, end);
    return bounds.length / 2 > width ? bounds[2 * width - 1] : undefined;
  }

  /** Writes a bad row that is kept: the columns of the verdicts are empty, and its surplus fields follow them. */
  #writeBadRow(chunk: ScannedChunk, row: number, output: Output): void {
    const { bytes, at } = chunk;
    const surplus = this.#surplusAt(chunk, row)!;
    output.copy(bytes, at[row * recordWords]!, surplus);
    for (const _ of this.#last) output.copy(this.#padding);
    output.copy(bytes, surplus, at[row * recordWords + Offset.next]!);
  }

  #writeRecord(chunk: ScannedChunk, row: number, ours: AddedFields, line: Uint8Array | undefined, output: Output) {
    const { bytes, at } = chunk;
    const { width, dialect } = this.shape;
    const word = row * recordWords;
    const end = at[word + Offset.end]!;
    const next = at[word + Offset.next]!;
    const found = at[word + Offset.fields]!;
    const isShort = found < width || at[word] === end;
    const isLeft =
      isShort && ours.fields.every((field) => field === "") && this.#replaced.every(({ earlier }) => earlier >= found);
    if (isLeft && line === undefined) {
      output.copy(bytes, at[word]!, next);
      return;
    }
    // A row with more fields than the table ends with empty ones, which are dropped.
    const cut = found > width ? emptyTail(bytes, end, found - width, dialect)! : end;
    if (line !== undefined) output.copy(line);
    else output.copy(bytes, this.#replace(chunk, row, ours, output), cut);
    for (let field = found; field < width; field++) {
      const index = this.indices.indexOf(field);
      if (index === -1) {
        output.copy(this.#padding);
        continue;
      }
      output.copy(this.#before);
      output.copy(ours.parts[index]!);
    }
    if (this.#replaced.length === 0) {
      output.copy(ours.parts[0]!);
      if (ours.copied !== undefined) output.copy(bytes, ours.copied.start, ours.copied.end);
    } else {
      for (const index of this.#last) {
        output.copy(this.#before);
        output.copy(ours.parts[index]!);
      }
    }
    output.copy(bytes, end, next);
  }

  /** Keeps the bytes of unchanged fields. Returns the start of what follows the last replaced field. */
  #replace(chunk: ScannedChunk, row: number, ours: AddedFields, output: Output): number {
    const { bytes, at } = chunk;
    const { dialect } = this.shape;
    const word = row * recordWords;
    let from = at[word]!;
    for (const { earlier, index } of this.#replaced) {
      if (earlier >= at[word + Offset.fields]!) break;
      const column = chunk.withColumn(earlier).at;
      const start = column[word + Offset.valueStart]!;
      const end = column[word + Offset.valueEnd]!;
      const field = bytes.toString("latin1", start, end);
      if (nameText(unquote(field, dialect)) === ours.fields[index]) continue;
      output.copy(bytes, from, start);
      output.copy(ours.parts[index]!);
      from = end;
    }
    return from;
  }
}

function quotedLines(chunk: ScannedChunk, { dialect }: TableShape): ReadonlyMap<number, Buffer> {
  const { bytes, at, count } = chunk;
  const lines = new Map<number, Buffer>();
  if (!bytes.includes(comma)) return lines;
  for (let row = 0; row < count; row++) {
    if (!chunk.isRow(row)) continue;
    const start = at[row * recordWords]!;
    const end = at[row * recordWords + Offset.end]!;
    const line = bytes.toString("latin1", start, end);
    const quoted = quoteField(unquote(line, dialect), comma, dialect.quote === "" ? usualMarks : dialect);
    if (line.includes(comma) && line !== quoted) lines.set(row, Buffer.from(quoted, "latin1"));
  }
  return lines;
}
