/** Renders the records of blocks with their statuses: all that the kernel does not write. Runs in any thread. */

import type { Flag } from "../../classifier/flags/flag-names.js";
import { domainLengthMask, domainWords, isOwnMailbox } from "../../kernel/layout.js";
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import { Offset, recordWords } from "../../table/scan/scanner.js";
import { CopyingWriter } from "../../table/writers/copying-writer.js";
import type { WriteMemory, WrittenRecords } from "../../table/writers/output.js";
import { type AddedFields, type RecordWriter, unchanged } from "../../table/writers/record-writer.js";
import { writerOf } from "../../table/writers/writer-of.js";
import type { Kind, Verdict } from "../../validator/validator.js";
import type { Cells } from "../items/cells.js";
import { fixedReason } from "../items/fixes.js";
import type { FoundItem } from "../items/item.js";
import { isExplained, needsVerdicts, ourFields } from "../rows/columns.js";
import type { StatusCodes } from "../status-codes.js";
import { hasItem, isKept, notARowCode, notCheckedCode, offlineStatuses, otherShardCode } from "../status-codes.js";
import { type BlockOptions, itemColumnsOf } from "./block-options.js";
import type { ChunkVerdicts, Explain, Judged } from "./chunk-verdicts.js";
import { decidingIndices } from "./item-verdicts.js";
import { isSmall, mayBeMarked, plainAddress } from "./plain-address.js";
import { type PlainFlags, plainFlagsOf } from "./plain-flags.js";

interface Findings {
  readonly explain: Explain;
  readonly explainsAll: boolean;
  /** As of the kernel; undefined without it. */
  readonly domainsIn: (chunk: ScannedChunk) => Int32Array | undefined;
}

const mostPrepared = 1000;

export class BlockRenderer {
  readonly #columns: readonly number[];
  readonly #needsVerdicts: boolean;
  readonly #hasCanonical: boolean;
  /** Whether an item that is its own canonical form is copied from its field, as nine of ten are. */
  readonly #copiesItems: boolean;
  readonly #flags: PlainFlags | undefined;
  /** What is added to a row, by the code and the flags of its item. */
  readonly #byFlags: Map<readonly Flag[], AddedFields>[] = [];
  readonly #needsItems: boolean;
  readonly #hasSuggestion: boolean;
  /** The number of the field `was` among those of a column; 0 without one. */
  readonly #was: number;
  readonly #writer: RecordWriter;
  readonly #byCodes = new Map<number | string, AddedFields>();
  readonly #byFields = new Map<string, AddedFields>();

  constructor(
    private readonly options: BlockOptions,
    private readonly codes: StatusCodes,
    private readonly cells: Cells,
    private readonly findings: Findings,
  ) {
    this.#columns = itemColumnsOf(options.shape);
    this.#needsVerdicts = needsVerdicts(options.columns, findings.explainsAll);
    const { details } = options.columns;
    this.#hasCanonical = details.includes("canonical");
    this.#hasSuggestion = details.includes("suggestion");
    this.#was = 1 + details.indexOf("was");
    this.#needsItems = details.some((name) => name !== "was");
    this.#writer = writerOf(options.shape, options.target, options.columns);
    const isAlone = details.length === 1 && this.#columns.length === 1;
    this.#copiesItems = this.#hasCanonical && isAlone && this.#writer.copiesParts === true;
    const hasFlags = isAlone && details[0] === "flags" && !findings.explainsAll;
    this.#flags = hasFlags ? plainFlagsOf(options.kind, options.shape) : undefined;
  }

  get wantsDomains(): boolean {
    return this.#copiesItems || this.#flags !== undefined;
  }

  /** `codes`: of each field with items, row by row. `was`: replaced items by field. `memory`: used if large enough. */
  render(
    chunk: ScannedChunk,
    { codes, items, domains }: Judged & Pick<Partial<ChunkVerdicts>, "domains">,
    was?: ReadonlyMap<number, string>,
    memory?: WriteMemory,
  ): WrittenRecords {
    const nth = items === undefined ? undefined : decidingIndices(codes, items);
    const ofItems = this.wantsDomains ? (domains?.[0] ?? this.findings.domainsIn(chunk)) : undefined;
    return this.#writer.write(chunk, (row) => this.#addedTo(chunk, row, { codes, nth, was, domains: ofItems }), memory);
  }

  #addedTo(chunk: ScannedChunk, row: number, rows: RenderedRows): AddedFields | null | undefined {
    const { codes } = rows;
    const width = this.#columns.length;
    const first = row * width;
    const code = codes[first]!;
    if (code === otherShardCode) return undefined;
    if (code === notARowCode) return unchanged;
    if (width === 1 && isKept(code)) return null;
    const isJudged = hasItem(code) && code !== notCheckedCode;
    if (this.#flags && rows.domains && isJudged) return this.#flagged(chunk, row, rows);
    const copied = rows.domains && isJudged && ownMailbox(chunk, row, this.options.kind, rows.domains);
    if (copied) {
      // Not with spread syntax, which takes longer than the rest.
      const { fields, parts } = this.#usual(code);
      return { fields, parts, copied };
    }
    const own = width === 1 ? undefined : codes.subarray(first, first + width);
    for (let nth = 0; nth < width; nth++) if (this.#isOwn(chunk, row, nth, rows)) return this.#ownOf(chunk, row, rows);
    return this.#usual(own ?? code);
  }

  #flagged(chunk: ScannedChunk, row: number, rows: RenderedRows): AddedFields {
    const flags = this.#flags!.of(chunk.bytes, rows.domains!, row);
    if (flags === undefined) return this.#ownOf(chunk, row, rows);
    const code = rows.codes[row]!;
    this.#byFlags[code] ??= new Map();
    const known = this.#byFlags[code].get(flags);
    if (known !== undefined) return known;
    const added = this.#ownOf(chunk, row, rows);
    this.#byFlags[code].set(flags, added);
    return added;
  }

  #usual(codes: Uint8Array | number): AddedFields {
    const key = typeof codes === "number" ? codes : codes.join();
    let added = this.#byCodes.get(key);
    if (added === undefined) {
      const all = typeof codes === "number" ? [codes] : Array.from(codes);
      added = this.#writer.prepare(all.flatMap((each) => this.#usualFields(each)));
      this.#byCodes.set(key, added);
    }
    return added;
  }

  /** Whether the fields of a column depend on more than its code. */
  #isOwn(chunk: ScannedChunk, row: number, nth: number, rows: RenderedRows): boolean {
    const code = rows.codes[row * this.#columns.length + nth]!;
    return (
      isKept(code) ||
      this.#isExplained(code) ||
      this.#isMarked(chunk, row, nth, rows) ||
      this.#earlierWas(nth) !== undefined
    );
  }

  #ownOf(chunk: ScannedChunk, row: number, rows: RenderedRows): AddedFields {
    if (this.#columns.length === 1) return this.#prepared(this.#fieldsOf(chunk, row, 0, rows));
    return this.#prepared(this.#columns.flatMap((_, column) => this.#fieldsOf(chunk, row, column, rows)));
  }

  /** Many rows have the same fields, such as the same flags; canonical forms are all different. */
  #prepared(fields: readonly string[]): AddedFields {
    if (this.#hasCanonical) return this.#writer.prepare(fields);
    const key = fields.join("\0");
    const known = this.#byFields.get(key);
    if (known !== undefined) return known;
    const added = this.#writer.prepare(fields);
    if (this.#byFields.size < mostPrepared) this.#byFields.set(key, added);
    return added;
  }

  #earlierWas(column: number): number | undefined {
    const { names, indices } = this.options.columns;
    if (this.#was === 0) return undefined;
    return indices[(column * names.length) / this.#columns.length + this.#was];
  }

  /** Returns whether an item was replaced, or differs from its field by marks, whose removal is suggested. */
  #isMarked(chunk: ScannedChunk, row: number, nth: number, { codes, was }: RenderedRows): boolean {
    const field = row * this.#columns.length + nth;
    if (was?.has(field)) return true;
    const isSuggested = this.#hasSuggestion && hasItem(codes[field]!);
    return isSuggested && mayBeMarked(chunk.withColumn(this.#columns[nth]!), row);
  }

  #isExplained(code: number): boolean {
    if (!hasItem(code) || code === notCheckedCode) return false;
    return isExplained(this.options.columns, this.#hasReason(code));
  }

  #hasReason(code: number): boolean {
    return this.findings.explainsAll || this.codes.reasons[code] !== undefined;
  }

  #usualFields(code: number): readonly string[] {
    const { kind, columns } = this.options;
    return ourFields(columns, { status: this.codes.statuses[code]! }, kind);
  }

  #fieldsOf(chunk: ScannedChunk, row: number, column: number, rows: RenderedRows): readonly string[] {
    const { columns } = this.options;
    const field = row * this.#columns.length + column;
    if (isKept(rows.codes[field]!)) {
      const each = columns.names.length / this.#columns.length;
      return chunk.fields(row, columns.indices.slice(column * each, (column + 1) * each));
    }
    return this.#withEarlierWas(chunk, row, column, this.#judgedFields(chunk, field, rows));
  }

  #judgedFields(chunk: ScannedChunk, field: number, { codes, nth, was }: RenderedRows): readonly string[] {
    const { kind, columns } = this.options;
    const code = codes[field]!;
    const status = this.codes.statuses[code]!;
    const before = was?.get(field);
    if (!hasItem(code) || code === notCheckedCode || !this.#needsItems) {
      // Of several items, some were replaced before the quota ran out.
      return before === undefined ? this.#usualFields(code) : ourFields(columns, { status, was: before }, kind, "");
    }
    const { item, isMarked } = itemsInField(chunk, this.#columns, field, this.cells)[nth?.[field] ?? 0]!;
    const isFixed = this.codes.reasons[code] === fixedReason;
    const isExplained = !isFixed && this.#needsVerdicts && this.#hasReason(code);
    const plain: Verdict = isFixed ? { status, reason: fixedReason } : { status };
    const verdict = isExplained ? this.findings.explain(item, status) : plain;
    const suggestion = verdict.suggestion ?? (isMarked && status !== "fake" ? item : undefined);
    // Spread syntax takes longer than most of the fields.
    if (suggestion === verdict.suggestion && before === undefined) return ourFields(columns, verdict, kind, item);
    const added = { ...(suggestion !== undefined && { suggestion }), ...(before !== undefined && { was: before }) };
    return ourFields(columns, { ...verdict, ...added }, kind, item);
  }

  /** What an earlier run has replaced stays in its column, which has the only copy. */
  #withEarlierWas(chunk: ScannedChunk, row: number, column: number, fields: readonly string[]) {
    const earlier = this.#earlierWas(column);
    const before = earlier === undefined ? "" : chunk.field(row, earlier);
    if (before === "") return fields;
    const known = before.split("; ");
    const own = fields[this.#was]!.split("; ").filter((item) => item !== "" && !known.includes(item));
    return fields.with(this.#was, [before, ...own].join("; "));
  }
}

interface RenderedRows {
  readonly codes: Uint8Array;
  readonly nth: Uint32Array | undefined;
  readonly was: ReadonlyMap<number, string> | undefined;
  readonly domains: Int32Array | undefined;
}

/** Returns where an item is if it is its whole value, and certainly its own canonical form. */
function ownMailbox(chunk: ScannedChunk, row: number, kind: Kind, domains: Int32Array) {
  const flags = domains[domainWords * row + 3]!;
  if ((flags & isOwnMailbox) === 0) return undefined;
  const start = chunk.at[row * recordWords + Offset.valueStart]!;
  const end = chunk.at[row * recordWords + Offset.valueEnd]!;
  const domain = domains[domainWords * row + 2]!;
  const isWhole = domain + (flags & domainLengthMask) === end && (kind === "email" || domain === start);
  return isWhole && isSmall(chunk.bytes, start, end) ? { start, end } : undefined;
}

export function itemsInField(chunk: ScannedChunk, columns: readonly number[], field: number, cells: Cells) {
  const row = columns.length === 1 ? field : Math.floor(field / columns.length);
  const column = chunk.withColumn(columns[field - row * columns.length]!);
  const address = cells.takesPlainAddresses ? plainAddress(column, row) : undefined;
  if (address === undefined) return cells.find(column.value(row));
  return [{ item: address, start: 0, end: address.length, isMarked: false }] satisfies readonly FoundItem[];
}

export function tailsOf({ kind, shape, target, keeps, columns }: BlockOptions): readonly Uint8Array[] {
  const hasTails = keeps === undefined && columns.details.length === 0;
  if (!hasTails || target.format !== undefined || shape.json) return [];
  const writer = new CopyingWriter(shape, [undefined]);
  return offlineStatuses.map((status) => writer.prepare(ourFields(columns, { status }, kind)).parts[0]!);
}
