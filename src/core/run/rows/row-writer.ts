/** Counts, filters, deduplicates, splits and writes rows, in the order in which they arrive: input order. */
import { isSplit, type SplitSink, type TableSink } from "../../../files/table-sink.js";
import { carriageReturn, lineFeed } from "../../ascii.js";
import { TableError } from "../../table/errors.js";
import type { Status } from "../../validator/validator.js";
import { DistinctItems } from "../distinct-items.js";
import { isGood } from "../items/cells.js";
import type { ObservedRows, RowLocation, RunOptions, RunReport } from "../run-options.js";
import type { RunSession } from "../session.js";
import { hasItem, isRow, noItemCode, notARowCode } from "../status-codes.js";

/** Items for `--dedupe`: two words each, the codes (by default the rows'), and the rows (by default one each). */
export interface RowKeys {
  readonly hashes: Int32Array;
  readonly codes?: Uint8Array | undefined;
  readonly rows?: Int32Array | undefined;
}

export interface RowsWithStatus {
  readonly codes: Uint8Array;
  isFirst(): Uint8Array;
  /** Only for `--dedupe`; without keys, `isFirst` selects the rows to write. */
  readonly keys?: RowKeys | undefined;
  /** Returns 1 for each row with an item that is ok or alias, in any column; undefined if no row has several items. */
  good(): Uint8Array | undefined;
  readonly otherCodes: readonly Uint8Array[];
  readonly emptied: number;
  readonly marked: number;
  readonly repairable: number;
  readonly fixed: number;
  readonly elsewhere: number;
  readonly elsewhereAt: number;
  elsewhereName(): string;
  readonly notUtf8: number;
  readonly kept: number;
  readonly mailboxes?: ObservedRows["mailboxes"];
  readonly facts?: ObservedRows["facts"];
  hashOf: ObservedRows["hashOf"];
  flagsOf: ObservedRows["flagsOf"];
  item: ObservedRows["item"];
  locate(row: number): RowLocation;
  field(row: number, column: number): string;
  all(): Uint8Array;
  /** `leftOut` replaces other rows. May overwrite their memory: nothing else can be rendered afterwards. */
  keep(isWanted: (row: number) => boolean, leftOut: Uint8Array | undefined): Uint8Array;
  copy(isWanted: (row: number) => boolean): Uint8Array;
  release?(): void;
}

const countNames = ["emptied", "marked", "repairable", "fixed", "notUtf8", "kept"] as const;
const namedLines = 3;
const mostFrameBytes = 67_108_864;

export class RowWriter {
  rows = 0;
  readonly #filter: NonNullable<RunOptions["filter"]>;
  readonly #split: SplitSink | undefined;
  readonly #output: WriteBehind;
  readonly #lineEnding: Uint8Array | undefined;
  #held: Uint8Array[] | undefined;
  /** Bytes around the records of a document so far, which each file of `--split` gets. Undefined for other tables. */
  readonly #frames: Uint8Array[] | undefined;
  #frameBytes = 0;
  readonly #splitNames = new Set<string>();
  readonly #shared: Pick<RunSession, "writtenKeys">;
  readonly #rowsByCode = new Float64Array(256);
  readonly #otherRowsByCode: Float64Array[] = [];
  #written = 0;
  readonly #counts = { emptied: 0, marked: 0, repairable: 0, fixed: 0, notUtf8: 0, kept: 0 };
  #elsewhere: RunReport["elsewhere"];
  #elsewhereAt = 0;
  readonly #outvoted = { count: 0, lines: [] as number[] };
  readonly #sparedByCode = new Float64Array(256);

  constructor(
    private readonly options: RunOptions,
    private readonly statuses: readonly Status[],
    private readonly reasons: readonly (string | undefined)[],
  ) {
    const { table, sink, filter = {}, session = {}, needsRows = false, lineEnding } = options;
    this.#frames = table.scanned.shape.json?.isDocument ? [] : undefined;
    this.#held = needsRows ? [] : undefined;
    this.#shared = session;
    this.#filter = filter;
    this.#output = new WriteBehind(sink);
    this.#lineEnding = lineEnding === undefined ? undefined : Buffer.from(lineEnding);
    this.#split = isSplit(sink) ? sink : undefined;
  }

  async start(bytes: Uint8Array): Promise<void> {
    if (this.options.omitsHeader) return;
    if (this.#held) this.#held.push(bytes);
    else await this.#output.write(bytes);
  }

  async write(rows: RowsWithStatus): Promise<void> {
    const { codes } = rows;
    let count = 0;
    for (let row = 0; row < codes.length; row++) {
      this.#rowsByCode[codes[row]!]!++;
      if (isRow(codes[row]!)) count++;
    }
    this.rows += count;
    for (const name of countNames) this.#counts[name] += rows[name];
    this.#countElsewhere(rows);
    for (const [column, others] of rows.otherCodes.entries()) {
      this.#otherRowsByCode[column] ??= new Float64Array(256);
      for (const code of others) this.#otherRowsByCode[column]![code]!++;
    }
    for (const observer of this.options.observers ?? [])
      observer.observe({ ...rows, statuses: this.statuses, reasons: this.reasons });
    const release = () => rows.release?.();
    if (this.#held && this.rows === 0) {
      // Comments above the first row. The files of --split have none.
      if (!this.#split) this.#held.push(Uint8Array.from(rows.all()));
      else if (this.#frames) this.#keepFrame(rows.all().slice());
      return release();
    }
    for (const bytes of this.#held?.splice(0) ?? []) await this.#output.write(bytes);
    const good = this.#filter.keeps || this.#filter.fails ? rows.good() : undefined;
    const isKept = this.#keptRows(rows, good);
    this.#countOutvoted(rows, good);
    if (isKept === undefined && !this.#split) {
      this.#written += count;
      await this.#output.write(this.#ended(rows.all()), release);
      return;
    }
    const isWritten = (row: number) => isRow(codes[row]!) && (isKept === undefined || isKept[row] === 1);
    for (let row = 0; row < codes.length; row++) if (isWritten(row)) this.#written++;
    if (!this.#split) {
      const kept = rows.keep((row) => isKept![row] === 1, this.options.sink.leftOut);
      await this.#output.write(this.#ended(kept), release);
      return;
    }
    await this.#writeSplit(this.#split, rows, isWritten);
    release();
  }

  #countElsewhere({ elsewhere, elsewhereAt, elsewhereName }: RowsWithStatus): void {
    if (elsewhere === 0) return;
    const before = this.#elsewhere;
    this.#elsewhereAt ||= elsewhereAt;
    this.#elsewhere = {
      rows: elsewhere + (before?.rows ?? 0),
      column: before?.column ?? elsewhereName(),
      isOnly: before?.isOnly !== false && elsewhereAt === this.#elsewhereAt && elsewhereAt !== -1,
    };
  }

  async #writeSplit(split: SplitSink, rows: RowsWithStatus, isWritten: (row: number) => boolean): Promise<void> {
    const { codes } = rows;
    const isAround = (row: number) => this.#frames !== undefined && codes[row] === notARowCode;
    const isAny = this.#frames !== undefined && codes.includes(notARowCode);
    const written = [...new Set(codes.filter((_, row) => isWritten(row)))];
    const nameOf = new Map(written.map((code) => [code, split.nameOf(this.statuses[code]!)]));
    for (const name of new Set([...(isAny ? this.#splitNames : []), ...nameOf.values()])) {
      const isOwn = (row: number) => isWritten(row) && nameOf.get(codes[row]!) === name;
      const before = this.#splitNames.has(name) ? [] : (this.#frames ?? []);
      this.#splitNames.add(name);
      const file = await split.of(name);
      for (const frame of before) await this.#output.write(frame, undefined, file);
      const bytes = rows.copy((row) => isOwn(row) || isAround(row));
      await this.#output.write(this.#ended(bytes), undefined, file);
    }
    if (isAny) this.#keepFrame(rows.copy(isAround));
  }

  #keepFrame(bytes: Uint8Array): void {
    this.#frames!.push(bytes);
    this.#frameBytes += bytes.length;
    if (this.#frameBytes > mostFrameBytes) {
      throw new TableError("--split: over 64 MiB are around the records of the document; use -o instead");
    }
  }

  flush(): Promise<void> {
    return this.#output.flush();
  }

  report() {
    const countsOf = (rowsByCode: Float64Array, names: readonly (string | undefined)[] = this.statuses) => {
      const counts = new Map<string, number>();
      for (const [code, name] of names.entries()) {
        if (code === noItemCode || name === undefined || rowsByCode[code] === 0) continue;
        counts.set(name, (counts.get(name) ?? 0) + rowsByCode[code]!);
      }
      return counts;
    };
    return {
      rows: this.rows,
      written: this.#written,
      emptyRows: this.#rowsByCode[noItemCode]!,
      ...this.#counts,
      elsewhere: this.#elsewhere,
      statuses: countsOf(this.#rowsByCode),
      otherStatuses: this.#otherRowsByCode.map((rows) => countsOf(rows)),
      reasons: countsOf(this.#rowsByCode, this.reasons),
      outvoted: this.#outvoted,
      spared: countsOf(this.#sparedByCode),
    };
  }

  #ended(bytes: Uint8Array): Uint8Array {
    const last = bytes.at(-1);
    if (this.#lineEnding === undefined || last === undefined || last === lineFeed || last === carriageReturn)
      return bytes;
    return Buffer.concat([bytes, this.#lineEnding]);
  }

  #keptRows(rows: RowsWithStatus, good: Uint8Array | undefined): Uint8Array | undefined {
    const { codes, isFirst, keys } = rows;
    const { keeps, keepsFlagged, dedupe, sparesGood } = this.#filter;
    if (!keeps && !dedupe) return undefined;
    const keptCodes = this.statuses.map((status) => keeps?.(status) !== false);
    const isWanted = codes.map((code, row) => {
      const isKept = keptCodes[code] || (sparesGood === true && good?.[row] === 1 && this.#isLeftOut(code));
      const isFlagged = keepsFlagged !== undefined && hasItem(code);
      return Number(isFlagged ? keepsFlagged(rows.flagsOf(row), isKept === true) : isKept);
    });
    const isNew = dedupe ? (keys ? this.#newRows(codes, keys, isWanted) : isFirst()) : undefined;
    return codes.map((code, row) => {
      if (!isRow(code)) return 1;
      return Number(isWanted[row] === 1 && (!isNew || !hasItem(code) || isNew[row] === 1));
    });
  }

  #isLeftOut(code: number): boolean {
    const { keeps } = this.#filter;
    const status = this.statuses[code];
    if (keeps === undefined || !hasItem(code) || isGood(status)) return false;
    return !keeps(status!) && keeps("ok");
  }

  #countOutvoted({ codes, locate }: RowsWithStatus, good: Uint8Array | undefined): void {
    if (good === undefined) return;
    const { fails, sparesGood } = this.#filter;
    const goodCodes = this.statuses.map(isGood);
    for (let row = 0; row < codes.length; row++) {
      const code = codes[row]!;
      if (good[row] === 0 || !hasItem(code) || goodCodes[code]) continue;
      const isFailing = fails?.(this.statuses[code]!) === true && !fails("ok");
      if (!isFailing && !this.#isLeftOut(code)) continue;
      if (sparesGood) {
        this.#sparedByCode[code]! += Number(isFailing);
        continue;
      }
      this.#outvoted.count++;
      const { line } = locate(row);
      if (line !== undefined && this.#outvoted.lines.length < namedLines) this.#outvoted.lines.push(line);
    }
  }

  #newRows(rowCodes: Uint8Array, { hashes, codes = rowCodes, rows }: RowKeys, isWanted: Uint8Array): Uint8Array {
    // A row whose status is filtered out counts as one without an item: it must not hide a later row.
    const candidates = codes.map((code, index) =>
      hasItem(code) && isWanted[rows?.[index] ?? index] === 1 ? code : noItemCode,
    );
    this.#shared.writtenKeys ??= new DistinctItems();
    const { isNew } = this.#shared.writtenKeys.table.addAll(hashes, candidates);
    if (rows === undefined) return isNew;
    // A row that keeps the status of an earlier run may have no item.
    const newRows = new Uint8Array(rowCodes.length).fill(1);
    for (const row of rows) newRows[row] = 0;
    for (const [index, row] of rows.entries()) newRows[row]! |= isNew[index]!;
    return newRows;
  }
}

/** Writes to a sink in the background, so that the next bytes can be prepared meanwhile. */
class WriteBehind {
  #writing: Promise<void> = Promise.resolve();

  constructor(private readonly sink: TableSink) {}

  /** Resolves when this write has started; `release` frees its memory. @throws the error of the previous write */
  async write(bytes: Uint8Array, release?: () => void, sink = this.sink): Promise<void> {
    await this.#writing;
    this.#writing = sink.write(bytes).then(release);
    // The next `write()` or `flush()` rethrows the error.
    this.#writing.catch(() => {});
  }

  flush(): Promise<void> {
    return this.#writing;
  }
}
