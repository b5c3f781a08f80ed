/** Writes JSON objects with their bytes: added members follow in the same layout, or replace earlier values. */
import { backslash, closeBrace, colon, comma, openBrace, quote, space } from "../../ascii.js";
import { KnownKeys } from "../json/json-objects.js";
import { textOf } from "../json/json-values.js";
import { unmarked } from "../json/marks.js";
import { memberWords, ObjectScanner } from "../json/object-scanner.js";
import type { ScannedChunk } from "../scan/scanned-chunk.js";
import { Offset, recordWords } from "../scan/scanner.js";
import type { Output, WriteMemory, WrittenRecords } from "./output.js";
import type { AddedColumns, AddedFields, AddedToRow, RecordWriter } from "./record-writer.js";
import { copyRecords } from "./record-writer.js";

type Layout = { readonly before: string; readonly colon: string };

const none = new Set<number>();
const compact: Layout = { before: "", colon: ":" };
/** As Python writes it, and many others: known without a text for each object. */
const spaced: Layout = { before: " ", colon: ": " };

export class MemberWriter implements RecordWriter {
  readonly #isReplacing: boolean;
  readonly #keys: KnownKeys;
  readonly #scanner: ObjectScanner;
  readonly #made = new WeakMap<AddedFields, { readonly layout: Layout; readonly bytes: Buffer }>();

  constructor(
    private readonly columns: AddedColumns,
    isOfDocument: boolean,
  ) {
    this.#isReplacing = columns.indices.some((earlier) => earlier !== undefined);
    this.#keys = new KnownKeys(columns.names);
    this.#scanner = new ObjectScanner(isOfDocument);
  }

  prepare(fields: readonly string[]): AddedFields {
    const parts = this.#isReplacing
      ? fields.map((field) => JSON.stringify(field))
      : [this.#members([...fields.entries()], compact)];
    return { fields, parts: parts.map((part) => Buffer.from(part)) };
  }

  #members(fields: readonly (readonly [number, string])[], { before, colon }: Layout): string {
    return fields
      .map(([nth, field]) => `${before}${JSON.stringify(this.columns.names[nth])}${colon}${JSON.stringify(field)}`)
      .join(",");
  }

  write(chunk: ScannedChunk, added: AddedToRow, memory?: WriteMemory): WrittenRecords {
    const hasValue = (earlier: number | undefined, word: number) => {
      if (earlier === undefined) return false;
      const column = chunk.withColumn(earlier).at;
      return column[word + Offset.valueStart] !== column[word + Offset.valueEnd];
    };
    return copyRecords(chunk, added, memory, {
      isWhole: (word) => this.columns.indices.every((earlier) => hasValue(earlier, word)),
      write: (row, output, fields) => {
        const ours = fields ?? this.prepare(chunk.fields(row, this.columns.indices));
        this.#writeObject(chunk, row, ours, output);
      },
    });
  }

  #writeObject({ bytes, at }: ScannedChunk, row: number, ours: AddedFields, output: Output): void {
    const word = row * recordWords;
    const start = at[word]!;
    const next = at[word + Offset.next]!;
    let from = start;
    const known = this.#isReplacing ? new Set<number>() : none;
    if (this.#isReplacing) {
      for (const { index, value, valueEnd } of this.#earlierMembers(bytes, start, at[word + Offset.end]!)) {
        known.add(index);
        const text = unmarked(bytes.toString("utf8", value, valueEnd));
        if (textOf(JSON.parse(text)) === ours.fields[index]) continue;
        output.copy(bytes, from, value);
        output.copy(ours.parts[index]!);
        from = valueEnd;
      }
    }
    if (known.size < ours.fields.length) {
      let end = at[word + Offset.end]! - 1;
      while (bytes[end] !== closeBrace) end--;
      while (bytes[end - 1]! <= 0x20) end--;
      output.copy(bytes, from, end);
      if (bytes[end - 1] !== openBrace) output.copy(commaBytes);
      const layout = layoutAt(bytes, start + at[word + Offset.fields]! - 1);
      const isUsual = layout === compact && !this.#isReplacing;
      output.copy(isUsual ? ours.parts[0]! : this.#madeOf(ours, known, layout));
      from = end;
    }
    output.copy(bytes, from, next);
  }

  #madeOf(ours: AddedFields, known: ReadonlySet<number>, layout: Layout): Buffer {
    const made = this.#made.get(ours);
    const isSame = made?.layout.before === layout.before && made.layout.colon === layout.colon;
    if (made && isSame && !this.#isReplacing) return made.bytes;
    const fields = [...ours.fields.entries()].filter(([nth]) => !known.has(nth));
    const bytes = Buffer.from(this.#members(fields, layout));
    this.#made.set(ours, { layout, bytes });
    return bytes;
  }

  /** Returns members in the order of the object. If a name is repeated, the last member counts. */
  #earlierMembers(bytes: Buffer, from: number, to: number) {
    const count = this.#scanner.scan(bytes, from, to);
    const { members } = this.#scanner;
    const found = new Map<number, { index: number; value: number; valueEnd: number }>();
    for (let word = 0; word < count * memberWords; word += memberWords) {
      const index = this.#keys.find(bytes, members[word]!, members[word + 1]!, 0);
      if (index === -1) continue;
      found.delete(index);
      found.set(index, { index, value: members[word + 2]!, valueEnd: members[word + 3]! });
    }
    return [...found.values()];
  }
}

const commaBytes = Buffer.of(comma);

function layoutAt(bytes: Buffer, start: number): Layout {
  if (bytes[start] !== quote) return compact;
  let before = start;
  while (bytes[before - 1]! <= 0x20) before--;
  let nameEnd = start + 1;
  while (bytes[nameEnd] !== quote) nameEnd += bytes[nameEnd] === backslash ? 2 : 1;
  nameEnd++;
  let value = nameEnd;
  while (bytes[value]! <= 0x20 || bytes[value] === colon) value++;
  if (before === start && value === nameEnd + 1) return compact;
  const isSpaced = start - before === 1 && bytes[before] === space && value - nameEnd === 2;
  if (isSpaced && bytes[nameEnd] === colon && bytes[nameEnd + 1] === space) return spaced;
  return { before: bytes.toString("latin1", before, start), colon: bytes.toString("latin1", nameEnd, value) };
}
