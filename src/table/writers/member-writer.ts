/**
 * Writes JSON objects with their original bytes: added members follow the others, or replace the members of an earlier
 * run.
 */
import { closeBrace, openBrace } from "../ascii.js";
import { KnownKeys } from "../json/json-objects.js";
import { textOf } from "../json/json-values.js";
import { memberWords, ObjectScanner } from "../json/object-scanner.js";
import type { ScannedChunk } from "../scan/scanned-chunk.js";
import { Place, recordWords } from "../scan/scanner.js";
import type { Output, WriteMemory, WrittenRecords } from "./output.js";
import { type AddedColumns, type AddedFields, copyRecords, type RecordWriter } from "./record-writer.js";

const comma = Buffer.from(",");

export class MemberWriter implements RecordWriter {
  readonly #names: readonly string[];
  readonly #places: readonly (number | undefined)[];
  readonly #isReplacing: boolean;
  readonly #keys: KnownKeys;
  readonly #scanner = new ObjectScanner();

  constructor({ names, places }: AddedColumns) {
    this.#names = names;
    this.#places = places;
    this.#isReplacing = places.some((place) => place !== undefined);
    this.#keys = new KnownKeys(names);
  }

  /** Renders one part per member; or, if none replaces another, all members as one part. */
  prepare(fields: readonly string[]): AddedFields {
    const members = fields.map((field, i) => `${JSON.stringify(this.#names[i])}:${JSON.stringify(field)}`);
    const parts = this.#isReplacing ? members : [members.join(",")];
    return { fields, parts: parts.map((part) => Buffer.from(part)) };
  }

  write(
    chunk: ScannedChunk,
    added: (row: number) => AddedFields | null | undefined,
    memory?: WriteMemory,
  ): WrittenRecords {
    const hasValue = (place: number | undefined, word: number) => {
      if (place === undefined) return false;
      const column = chunk.withColumn(place).at;
      return column[word + Place.valueStart] !== column[word + Place.valueEnd];
    };
    return copyRecords(chunk, added, memory, {
      isWhole: (word) => this.#places.every((place) => hasValue(place, word)),
      write: (row, output, fields) => {
        const own = () =>
          this.#places.map((place) => (place === undefined ? "" : chunk.withColumn(place).value(row)));
        this.#writeObject(chunk, row, fields ?? this.prepare(own()), output);
      },
    });
  }

  #writeObject({ bytes, at }: ScannedChunk, row: number, ours: AddedFields, output: Output): void {
    const word = row * recordWords;
    const end = at[word + Place.end]!;
    const next = at[word + Place.next]!;
    const close = bytes.lastIndexOf(closeBrace, end - 1);
    let from = at[word]!;
    let missing: readonly Uint8Array[] = ours.parts;
    if (this.#isReplacing) {
      const found = this.#earlierMembers(bytes, from, end);
      for (const { index, start, value, valueEnd, end: behind } of found) {
        if (textOf(JSON.parse(bytes.toString("utf8", value, valueEnd))) === ours.fields[index]) continue;
        output.copy(bytes, from, start);
        output.copy(ours.parts[index]!);
        from = behind;
      }
      missing = ours.parts.filter((_, index) => !found.some((member) => member.index === index));
    }
    output.copy(bytes, from, close);
    for (const [nth, part] of missing.entries()) {
      if (nth > 0 || !isEmptyBefore(bytes, close)) output.copy(comma);
      output.copy(part);
    }
    output.copy(bytes, close, next);
  }

  /**
   * Returns the members with added names, in the order of the object. If a name is repeated, the last member counts.
   */
  #earlierMembers(bytes: Buffer, from: number, to: number) {
    const count = this.#scanner.scan(bytes, from, to);
    const { members } = this.#scanner;
    const found = new Map<
      number,
      { index: number; start: number; value: number; valueEnd: number; end: number }
    >();
    for (let word = 0; word < count * memberWords; word += memberWords) {
      const [start, keyEnd, value, valueEnd] = members.subarray(word, word + memberWords) as unknown as [
        number,
        number,
        number,
        number,
      ];
      const index = this.#keys.find(bytes, start, keyEnd, 0);
      if (index === -1) continue;
      const end = this.#scanner.afterSpace(bytes, valueEnd);
      found.delete(index);
      found.set(index, { index, start, value, valueEnd, end });
    }
    return [...found.values()];
  }
}

function isEmptyBefore(bytes: Buffer, close: number): boolean {
  let at = close - 1;
  while (bytes[at]! <= 0x20) at--;
  return bytes[at] === openBrace;
}
