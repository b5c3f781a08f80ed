// Counts rows without an item of their own that have one in another column, and finds the headers of other tables,
// under which items are in other columns.
import { outcomeCode } from "../../classifier/outcomes.js";
import { syntax } from "../../classifier/rules/syntax.js";
import { itemText, nameText } from "../../table/bytes.js";
import { type JsonText, textsIn } from "../../table/json/json-values.js";
import { hide, show } from "../../table/json/marks.js";
import { unquote } from "../../table/quotes.js";
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import { Offset, recordWords } from "../../table/scan/scanner.js";
import type { ItemProfile } from "../../table/sniff/item-profile.js";
import {
  areWords,
  isHeaderLine,
  isHeaderOf,
  isOtherHeader,
  isReordered,
  mayBeNames,
} from "../../table/sniff/second-header.js";
import { profiles } from "../items/profiles.js";
import { isRow, noItemCode } from "../status-codes.js";
import { type BlockOptions, itemColumnsOf } from "./block-options.js";

const syntaxCode = outcomeCode({ reason: syntax.code });
const atSign = 0x40;

/** Plain numbers, which threads pass on. */
export const nowhere = {
  elsewhere: 0,
  /** Where that is: the index of the column, or a hash of the path in JSON, plus 1; -1 for several, 0 for none. */
  elsewhereAt: 0,
  elsewhereRow: 0,
  /** Whether such a row comes before all other rows of the chunk, so that the chunk before it may have its header. */
  isOpen: 0,
  ...{ lastHeader: 0, header: 0 },
};

export type Elsewhere = Readonly<typeof nowhere>;

export class ElsewhereFinder {
  readonly #options: BlockOptions;
  readonly #profile: ItemProfile;
  readonly #columns: readonly number[];
  readonly #mayHaveHeaders: boolean;
  readonly #takesHeaders: boolean;

  constructor(options: BlockOptions) {
    this.#options = options;
    this.#profile = profiles[options.kind];
    this.#columns = itemColumnsOf(options.shape);
    const { json, dialect, takesHeaders = false } = options.shape;
    this.#takesHeaders = takesHeaders;
    this.#mayHaveHeaders = json === undefined && dialect.delimiter !== null && !takesHeaders;
  }

  find(chunk: ScannedChunk, codes: Uint8Array, isBelowItems: boolean): Elsewhere {
    const { json, dialect } = this.#options.shape;
    if (json === undefined && dialect.delimiter === null) return this.#findInList(chunk, codes);
    const found = { ...nowhere };
    let hasItems = isBelowItems;
    let last = -1;
    const width = this.#columns.length;
    const sign = new NextSign(chunk.bytes);
    for (let row = 0, first = 0; row < chunk.count; row++, first += width) {
      if (!this.#lacksItem(codes, first)) {
        hasItems ||= isRow(codes[first]!);
        continue;
      }
      const word = row * recordWords;
      const mayHaveItem = this.#options.kind === "domain" || sign.isIn(chunk.at[word]!, chunk.at[word + Offset.end]!);
      const place = mayHaveItem ? this.#placeIn(chunk, row) : 0;
      if (this.#isReordered(chunk, row)) return { ...found, header: row + 1 };
      if (place !== 0) {
        found.elsewhere++;
        found.elsewhereRow ||= row + 1;
        found.elsewhereAt = found.elsewhere === 1 || found.elsewhereAt === place ? place : -1;
        // The row above has the same header.
        if (this.#mayHaveHeaders && last !== row - 1) this.#lookAbove(chunk, codes, row, place - 1, found);
        last = row;
      } else if (this.#isOtherHeader(chunk, row, hasItems)) found.header ||= row + 1;
      if (found.header !== 0) return found;
    }
    if (this.#mayHaveHeaders) found.lastHeader = this.#lastHeader(chunk, codes);
    return found;
  }

  #findInList(chunk: ScannedChunk, codes: Uint8Array): Elsewhere {
    if (this.#takesHeaders) return nowhere;
    for (let row = 0; row < chunk.count; row++) {
      if (!chunk.isRow(row) || !this.#lacksItem(codes, row)) continue;
      if (isHeaderLine(chunk.rawValue(row), this.#profile)) return { ...nowhere, header: row + 1 };
    }
    return nowhere;
  }

  nameOf(chunk: ScannedChunk, row: number): string {
    if (this.#options.shape.json) return this.#itemsInJson(chunk, row)[0]?.path ?? "";
    const column = this.columnOf(chunk, row);
    return nameText(this.#options.shape.header?.[column] ?? "").trim() || String(column + 1);
  }

  columnOf(chunk: ScannedChunk, row: number): number {
    return this.#placeIn(chunk, row) - 1;
  }

  #lacksItem(codes: Uint8Array, first: number): boolean {
    for (let field = first; field < first + this.#columns.length; field++)
      if (codes[field] !== noItemCode && codes[field] !== syntaxCode) return false;
    return true;
  }

  #placeIn(chunk: ScannedChunk, row: number): number {
    if (!chunk.isRow(row)) return 0;
    if (this.#options.shape.json) {
      const [first] = this.#itemsInJson(chunk, row);
      return first === undefined ? 0 : hashOf(first.path);
    }
    const fields = this.fieldsOf(chunk, row);
    return 1 + fields.findIndex((field, column) => !this.#columns.includes(column) && this.#isItem(itemText(field)));
  }

  #itemsInJson(chunk: ScannedChunk, row: number) {
    const { paths } = this.#options.shape.json!;
    const own = this.#columns.map((column) => paths[column]);
    return this.#textsIn(chunk, row).filter(({ path, text }) => !own.includes(path) && this.#isItem(text));
  }

  #isItem(text: string): boolean {
    return this.#profile.likeness(text) === 2;
  }

  #isReordered(chunk: ScannedChunk, row: number): boolean {
    const { json } = this.#options.shape;
    return (
      json?.isDocument === true &&
      !this.#takesHeaders &&
      chunk.isRow(row) &&
      chunk.rawValue(row).length > emptyText.length &&
      isReordered(this.fieldsOf(chunk, row), json.paths, this.#profile)
    );
  }

  #textsIn({ bytes, at }: ScannedChunk, row: number): readonly JsonText[] {
    const word = row * recordWords;
    const start = at[word]!;
    const from = bytes[start] === hide ? bytes.indexOf(show, start) + 1 : start;
    return textsIn(bytes.toString("latin1", from, at[word + Offset.end]), true);
  }

  fieldsOf(chunk: ScannedChunk, row: number): readonly string[] {
    const { json } = this.#options.shape;
    if (json !== undefined) {
      const texts = this.#textsIn(chunk, row);
      return json.paths.map((path) => texts.find((text) => text.path === path)?.text ?? "");
    }
    const bounds = chunk.boundsOf(row);
    const { dialect } = this.#options.shape;
    return Array.from({ length: bounds.length / 2 }, (_, field) =>
      unquote(chunk.bytes.toString("latin1", bounds[2 * field], bounds[2 * field + 1]), dialect),
    );
  }

  #isOtherHeader(chunk: ScannedChunk, row: number, isBelowItems: boolean): boolean {
    const { header, column, dialect } = this.#options.shape;
    const word = row * recordWords;
    return (
      this.#mayHaveHeaders &&
      header !== undefined &&
      mayBeNames(chunk.bytes, chunk.at[word]!, chunk.at[word + Offset.end]!, dialect) &&
      chunk.rawValue(row).length > 0 &&
      isOtherHeader(this.fieldsOf(chunk, row), header, this.#profile, column, isBelowItems)
    );
  }

  /** Looks above a row for the header of its item's column, under nothing but blank lines and titles. */
  #lookAbove(
    chunk: ScannedChunk,
    codes: Uint8Array,
    row: number,
    column: number,
    found: { header: number; isOpen: number },
  ): void {
    for (let above = row - 1; above >= 0; above--) {
      if (chunk.isRow(above)) {
        if (!this.#lacksItem(codes, above * this.#columns.length)) return;
        const fields = this.fieldsOf(chunk, above);
        const isWords = areWords(fields, this.#profile) && this.#goesOn(chunk, codes, row, column);
        if (isWords || this.isHeaderOf(fields, column)) {
          found.header = above + 1;
          return;
        }
        const names = fields.filter((field) => field.trim() !== "");
        if (names.length > 1 || names.some((name) => this.#isItem(itemText(name)))) return;
      }
    }
    found.isOpen = 1;
  }

  #goesOn(chunk: ScannedChunk, codes: Uint8Array, row: number, column: number): boolean {
    const next = row + 1;
    const isRow = next < chunk.count && this.#lacksItem(codes, next * this.#columns.length);
    return isRow && this.#placeIn(chunk, next) === column + 1;
  }

  isHeaderOf(fields: readonly string[], column: number): boolean {
    return isHeaderOf(fields, this.#options.shape.header, this.#profile, column);
  }

  #lastHeader(chunk: ScannedChunk, codes: Uint8Array): number {
    for (let row = chunk.count - 1; row >= 0; row--) {
      if (!chunk.isRow(row)) continue;
      if (!this.#lacksItem(codes, row * this.#columns.length)) return 0;
      const fields = this.fieldsOf(chunk, row);
      const names = fields.filter((field) => field.trim() !== "");
      if (names.length === 0) continue;
      const isHeader = isHeaderOf(fields, this.#options.shape.header, this.#profile);
      if (isHeader || names.length > 1 || names.some((name) => this.#isItem(itemText(name))))
        return isHeader ? row + 1 : 0;
    }
    return 0;
  }
}

const emptyText = '""';

/** Finds the next `@` from a position on. Positions ascend, so that each byte is looked at once. */
class NextSign {
  #at = -1;

  constructor(private readonly bytes: Buffer) {}

  isIn(start: number, end: number): boolean {
    if (this.#at < start) {
      const found = this.bytes.indexOf(atSign, start);
      this.#at = found === -1 ? this.bytes.length : found;
    }
    return this.#at < end;
  }
}

function hashOf(text: string): number {
  let hash = 0;
  for (const character of text) hash = (Math.imul(hash, 31) + character.codePointAt(0)!) | 0;
  return 1 + Math.abs(hash % 0x7ffffffe);
}
