/** Writes the records of scanned chunks with their added fields: the code that all formats share. */
import type { TableFormat } from "../records.js";
import type { ScannedChunk } from "../scan/scanned-chunk.js";
import { Offset, recordWords } from "../scan/scanner.js";
import { Output, type WriteMemory, type WrittenRecords } from "./output.js";

/** Plain data, because worker threads get a copy. */
export interface WriteTarget {
  readonly format: Exclude<TableFormat, "json"> | undefined;
  readonly keys: readonly string[];
}

export type AddedColumns = { readonly names: readonly string[]; readonly indices: readonly (number | undefined)[] };

export interface AddedFields {
  readonly fields: readonly string[];
  readonly parts: readonly Uint8Array[];
  /** Part of the record that is the last field, which is empty in `fields`; see {@link RecordWriter.copiesParts}. */
  readonly copied?: { readonly start: number; readonly end: number };
}

export const unchanged: AddedFields = { fields: [], parts: [] };

/** Returns null for a row that keeps the fields of an earlier run, undefined to leave the record out. */
export type AddedToRow = (row: number) => AddedFields | null | undefined;

export interface RecordWriter {
  /** Whether a part of a record with word characters and `@.-` can be added to it as it is. */
  readonly copiesParts?: boolean;
  prepare(fields: readonly string[]): AddedFields;
  /** Copies or leaves out records that are not rows. */
  write(chunk: ScannedChunk, added: AddedToRow, memory?: WriteMemory): WrittenRecords;
}

interface RecordCopy {
  /** A row that keeps its added fields can be copied. `word` is the index of its first number in `chunk.at`. */
  isWhole(word: number): boolean;
  isMoved?(row: number): boolean;
  write(row: number, output: Output, fields: AddedFields | null): void;
}

/** Writes records, most of which are copied, adjacent ones in one piece. See {@link RecordWriter.write}. */
export function copyRecords(
  { bytes, at, count }: ScannedChunk,
  added: AddedToRow,
  memory: WriteMemory | undefined,
  { isWhole, isMoved, write }: RecordCopy,
): WrittenRecords {
  const usual = count === 0 ? 0 : at[(count - 1) * recordWords + Offset.next]! - at[0]!;
  const output = new Output(count, usual + 16 * count + 16, memory);
  let [from, to] = [0, 0];
  for (let row = 0, word = 0; row < count; row++, word += recordWords) {
    const fields = added(row);
    const isRecord = at[word + Offset.fields] !== 0;
    const isCopied =
      ((fields === unchanged || !isRecord) && (isRecord || isMoved?.(row) !== true)) ||
      (fields === null && isRecord && isWhole(word));
    if (fields !== undefined && isCopied) {
      if (at[word] !== to) {
        output.copy(bytes, from, to);
        from = at[word]!;
      }
      to = at[word + Offset.next]!;
    } else if (fields !== undefined) {
      output.copy(bytes, from, to);
      from = to;
      write(row, output, fields);
    }
    output.end(row, to - from);
  }
  output.copy(bytes, from, to);
  return output.written;
}

/** Moves records together in place: the rendered bytes cannot be used afterwards. `leftOut` replaces the others. */
export function keepRecords(
  { bytes, ends }: WrittenRecords,
  isKept: (row: number) => boolean,
  leftOut: Uint8Array = Buffer.of(),
): Buffer {
  let length = 0;
  for (let row = 0; row < ends.length; row++) {
    const start = row === 0 ? 0 : ends[row - 1]!;
    if (!isKept(row)) {
      bytes.set(leftOut, length);
      length += leftOut.length;
      continue;
    }
    if (start !== length) bytes.copyWithin(length, start, ends[row]!);
    length += ends[row]! - start;
  }
  return bytes.subarray(0, length);
}

export function wantedRecords({ bytes, ends }: WrittenRecords, isWanted: (row: number) => boolean): Buffer {
  const output = new Output(0, bytes.length);
  for (let row = 0; row < ends.length; row++) {
    if (isWanted(row)) output.copy(bytes, row === 0 ? 0 : ends[row - 1]!, ends[row]!);
  }
  return output.written.bytes;
}
