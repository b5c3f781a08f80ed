/** Writes records in another format than the input's: as CSV with usual quotes, or as JSON Lines. */
import { nameText, toBinary } from "../bytes.js";
import { quoteField } from "../quotes.js";
import type { ScannedChunk } from "../scan/scanned-chunk.js";
import { Output, type WriteMemory, type WrittenRecords } from "./output.js";
import type { RecordFields } from "./record-fields.js";
import type { AddedColumns, AddedFields, AddedToRow, RecordWriter } from "./record-writer.js";

interface FieldFormat {
  readonly opening: Uint8Array;
  readonly before: readonly Uint8Array[];
  readonly closing: Uint8Array;
  /** Bytes before an added field that replaces no other. It is never the first field of a record. */
  readonly beforeAdded: readonly Uint8Array[];
  readonly isPadded: boolean;
  readonly around: Uint8Array;
  readonly special: Uint8Array;
  render(field: string): Uint8Array;
}

const quote = Buffer.from('"');
const lineFeed = Buffer.from("\n");
const nothing = Buffer.of();

export function csvFormat(delimiter: string, width: number, added: number): FieldFormat {
  const before = Buffer.from(delimiter);
  const special = new Uint8Array(256);
  for (const character of `${delimiter}"\r\n`) special[character.charCodeAt(0)] = 1;
  return {
    opening: nothing,
    closing: lineFeed,
    around: nothing,
    isPadded: true,
    special,
    before: Array.from({ length: width }, (_, field) => (field === 0 ? nothing : before)),
    beforeAdded: Array.from({ length: added }, () => before),
    render: (field) => Buffer.from(quoteField(field, delimiter), "latin1"),
  };
}

/** Writes all values as strings. Missing fields are left out. */
export function jsonFormat(keys: readonly string[], names: readonly string[]): FieldFormat {
  const special = new Uint8Array(256).map((_, byte) => Number(byte < 0x20 || byte >= 0x80));
  for (const character of '"\\') special[character.charCodeAt(0)] = 1;
  const member = (key: string) => Buffer.from(`${JSON.stringify(key)}:`);
  const next = (key: string) => Buffer.from(`,${JSON.stringify(key)}:`);
  return {
    opening: Buffer.from("{"),
    closing: Buffer.from("}\n"),
    around: quote,
    isPadded: false,
    special,
    before: keys.map((key, index) => (index === 0 ? member(key) : next(key))),
    beforeAdded: names.map(next),
    render: (field) => Buffer.from(JSON.stringify(nameText(field))),
  };
}

export class ReshapingWriter implements RecordWriter {
  readonly #replacing: Int32Array;

  constructor(
    private readonly width: number,
    private readonly source: RecordFields,
    private readonly format: FieldFormat,
    private readonly indices: AddedColumns["indices"],
  ) {
    this.#replacing = Int32Array.from({ length: width }, (_, field) => indices.indexOf(field));
  }

  prepare(fields: readonly string[]): AddedFields {
    return { fields, parts: fields.map((field) => this.format.render(toBinary(field))) };
  }

  write(chunk: ScannedChunk, added: AddedToRow, memory?: WriteMemory): WrittenRecords {
    const output = new Output(chunk.count, 2 * chunk.bytes.length, memory);
    for (let row = 0; row < chunk.count; row++) {
      const fields = chunk.isRow(row) ? added(row) : undefined;
      const ours = fields === null ? this.prepare(chunk.fields(row, this.indices)) : fields;
      if (ours !== undefined) this.#writeRecord(chunk, row, ours, output);
      output.end(row);
    }
    return output.written;
  }

  #writeRecord(chunk: ScannedChunk, row: number, { parts }: AddedFields, output: Output): void {
    const { opening, before, beforeAdded, closing, isPadded, around } = this.format;
    const fields = this.source;
    const found = fields.open(chunk, row);
    output.copy(opening);
    for (let field = 0; field < found; field++) {
      const index = this.#replacing[field]!;
      fields.next();
      output.copy(before[field]!);
      if (index === -1) this.#writeField(chunk.bytes, output);
      else output.copy(parts[index]!);
    }
    for (let field = found; isPadded && field < this.width; field++) {
      const index = this.#replacing[field]!;
      output.copy(before[field]!);
      if (index !== -1) output.copy(parts[index]!);
      else {
        output.copy(around);
        output.copy(around);
      }
    }
    for (const [index, part] of parts.entries()) {
      const earlier = this.indices[index];
      if (earlier !== undefined && (isPadded || earlier < found)) continue;
      output.copy(earlier === undefined ? beforeAdded[index]! : before[earlier]!);
      output.copy(part);
    }
    output.copy(closing);
  }

  #writeField(bytes: Uint8Array, output: Output): void {
    const { special, around, render } = this.format;
    const { from, to } = this.source;
    if (from === -1) {
      output.copy(render(this.source.text));
      return;
    }
    output.room(to - from + 2);
    const out = output.bytes;
    const start = output.length;
    let position = start;
    if (around.length > 0) out[position++] = around[0]!;
    for (let p = from; p < to; p++) {
      const byte = bytes[p]!;
      if (special[byte] === 1) {
        output.copy(render((bytes as Buffer).toString("latin1", from, to)));
        return;
      }
      out[position++] = byte;
    }
    if (around.length > 0) out[position++] = around[0]!;
    output.length = position;
  }
}
