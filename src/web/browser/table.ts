/** Validates a table in a browser, without a quota, in one thread: shared memory needs headers. Call it in a worker. */
import type { Classifier } from "../../core/classifier/classifier.js";
import type { ClassifierStatus } from "../../core/classifier/verdict.js";
import { emptyFacts, type Facts, factsOf, inputFactsOf } from "../../core/facts/facts.js";
import { useKernel } from "../../core/kernel/kernel.js";
import type { Kind, ListedItems } from "../../core/library.js";
import { itemTest, usualCells } from "../../core/run/items/cells.js";
import { fixerOf, type WantedFixes } from "../../core/run/items/fixes.js";
import { itemKey } from "../../core/run/items/item.js";
import { profiles } from "../../core/run/items/profiles.js";
import { validateTable } from "../../core/run/run.js";
import type { RowFilter, RowObserver, RunProgress } from "../../core/run/run-options.js";
import { BadRowCounts, type BadRowPolicy } from "../../core/table/bad-rows.js";
import type { TableFormat } from "../../core/table/records.js";
import type { Table } from "../../core/table/table.js";
import { offlineValidator } from "../../core/validator/offline.js";
import { Fault } from "../../fault.js";
import { ClosedPipe } from "../../files/errors.js";
import type { TableSink } from "../../files/table-sink.js";
import { piecesOf } from "../../files/web-stream.js";
import type { Compression } from "../../formats/compression/compression-format.js";
import type { SheetKind } from "../../formats/format.js";
import { openInput } from "../../formats/open/open-input.js";
import { writeTable } from "../../formats/open/write-table.js";
import { TableFault } from "./table-fault.js";

declare const FileReaderSync: (new () => { readAsArrayBuffer(blob: Blob): ArrayBuffer }) | undefined;

export interface TableProgress {
  readonly rows: number;
  /** From 0 to 1; undefined if the size of the source is not known. */
  readonly share: number | undefined;
  readonly statuses: Readonly<Record<string, number>>;
}

/** A row whose item is fake or disposable. */
export interface TableRow {
  /** Line on which the row starts, from 1; undefined where lines are not counted, as in sheets. */
  readonly line: number | undefined;
  readonly item: string;
  readonly status: ClassifierStatus;
  readonly reason?: string;
  readonly suggestion?: string;
}

export interface TableOptions extends ListedItems {
  /** By default, `email`. */
  readonly kind?: Kind;
  /** Name of the file, for messages; its ending decides the format of the output. By default that of the `File`. */
  readonly name?: string;
  /** Name or number, from 1, of the column with the items; detected by default. */
  readonly column?: string | number;
  /** One ASCII character, or null for none; detected by default. */
  readonly delimiter?: string | null;
  /** Whether the first row names the columns; detected by default. */
  readonly header?: boolean;
  /** Label of an encoding (WHATWG), or `auto` to guess it; by default UTF-8, or UTF-16 with a byte order mark. */
  readonly encoding?: string;
  /** Name of the sheet of a spreadsheet file; by default the first with items. */
  readonly sheet?: string;
  /** Adds the columns `reason` and `suggestion`. */
  readonly explain?: boolean;
  /** Adds the column `canonical`. */
  readonly canonical?: boolean;
  /** Adds the column `flags`. */
  readonly flags?: boolean;
  /** Statuses whose rows are written, and whether rows without an item are; all by default. */
  readonly keep?: readonly (ClassifierStatus | "empty")[];
  /** Writes only the first row of each item, or of each mailbox. */
  readonly dedupe?: "item" | "canonical";
  /** Corrects mistyped items: `typos` of large providers, `all` suggested, or these. Column `was` keeps the old. */
  readonly fix?: "typos" | "all" | readonly string[];
  /** What happens to bad rows: by default, the first one ends the run. */
  readonly badRows?: BadRowPolicy;
  /** Called with every row that is fake or disposable. */
  readonly onBadItem?: (row: TableRow) => void;
  readonly onProgress?: (progress: TableProgress) => void;
  /** Aborting it ends the run: the stream and the summary fail with its reason. */
  readonly signal?: AbortSignal;
}

export interface CheckedTable {
  /** Format of the output: that of the input where it can be written. */
  readonly format: TableFormat | SheetKind;
  /** Column with the items, from 1, and its name. */
  readonly column: number;
  readonly columnName: string | undefined;
  /** None if the table has no header. */
  readonly columns: readonly string[];
  readonly added: readonly string[];
  readonly sheet: string | undefined;
  /** Other sheets with something like an item in their first rows; none if the sheet was named. */
  readonly otherSheets: readonly string[];
  /** Encoding of the source, if it is not UTF-8; the output is UTF-8. */
  readonly encoding: string | undefined;
  readonly compression: Compression | undefined;
  /** The checked table. Reading it drives the run. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Resolves at the end of the stream. */
  readonly summary: Promise<Facts>;
}

export async function useKernelBytes(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  // Without SIMD, JavaScript does the work.
  await WebAssembly.compile(bytes).then(useKernel, () => {});
}

const Reader = typeof FileReaderSync === "undefined" ? undefined : FileReaderSync;

/** `observersOf` is called when the table is known, before its rows are read. */
export async function openCheck(
  source: Blob | ReadableStream<Uint8Array>,
  classifier: Classifier,
  options: TableOptions,
  observersOf: (table: Table) => readonly RowObserver[] = () => [],
): Promise<CheckedTable> {
  const started = performance.now();
  const { kind = "email", name = nameOf(source), badRows = "error" } = options;
  const signal = options.signal ?? new AbortController().signal;
  const bad = new BadRowCounts();
  const filter = filterOf(options);
  const size = source instanceof Blob ? source.size : undefined;
  async function* pieces() {
    for await (const piece of piecesOf(source instanceof Blob ? source.stream() : source)) {
      signal.throwIfAborted();
      yield Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    }
  }
  const faultOf = (error: unknown) => (signal.aborted ? signal.reason : asFault(error));
  const rethrow = (error: unknown) => Promise.reject(faultOf(error));
  const input = await openInput(
    { bytes: pieces(), size, ...(Reader && source instanceof Blob && { read: readerOf(source) }) },
    {
      ...{ kind, inputName: name, encoding: options.encoding, outputEncoding: undefined, sheet: options.sheet },
      sheets: { kind: "same", mayReturn: true },
      ...{ isInPlace: false, backup: undefined },
      table: {
        profile: profiles[kind],
        items: itemTest({ kind, emptyValues: usualCells.emptyValues }),
        ...(options.column !== undefined && { columns: [String(options.column)] }),
        ...(options.delimiter !== undefined && { delimiter: options.delimiter }),
        ...(options.header !== undefined && { header: options.header }),
        badRows,
      },
      columns: {
        ...{ status: "status", withReasons: options.explain === true, withFixes: options.fix !== undefined },
        added: (["canonical", "flags"] as const).filter((name) => options[name]),
        ...{ withExchange: false, escapesFormulas: false, update: undefined },
      },
      ...{ cells: usualCells, filter, hasMark: false, isForced: options.column !== undefined, note: () => {} },
    },
    { onBadRow: (fault) => bad.add(fault), signal },
  ).catch(rethrow);
  const { table, columns, cells, compression, encoding, sheet, share } = input;
  const output = outputStream();
  signal.addEventListener("abort", () => output.fail(signal.reason));
  const sinkOptions = { name, sheetKind: sheet?.format, compression };
  const sink = await writeTable(output.sink, input, sinkOptions).catch(rethrow);
  const validator = offlineValidator(
    { classifier, source: {} },
    { charge: async (units) => ({ granted: units, quota: { left: null, renewsAt: null } }) },
  );
  const observed = [
    ...observersOf(table),
    ...(options.onBadItem ? [badItemObserver(kind, classifier, options.onBadItem)] : []),
  ];
  const run = async (): Promise<Facts> => {
    try {
      const report = await validateTable({
        ...{ kind, table: input.stream, sink, columns, cells, filter, signal, validator, cores: 1 },
        ...{ inputShare: share, answersPauses: size === undefined, observers: observed },
        fixer: options.fix && fixerOf(classifier.classify, kind, wantedFixes(options.fix)),
        ...(options.onProgress && {
          onProgress: async (progress) => options.onProgress!(toProgress(progress, share())),
        }),
      });
      await sink.commit();
      return {
        ...emptyFacts(kind, "idv, in a browser: the list was not sent anywhere"),
        ...factsOf(kind, report),
        inputs: [await inputFactsOf(name, input, bad.kinds, report)],
        ...{ badRows: bad.count, explained: options.explain === true, fixes: options.fix !== undefined },
        seconds: (performance.now() - started) / 1000,
      };
    } catch (error) {
      const fault = faultOf(error);
      output.fail(fault);
      throw fault;
    }
  };
  const summary = run();
  // The stream fails, too.
  summary.catch(() => {});
  return {
    format: sheet?.format ?? table.format,
    column: table.column + 1,
    columnName: table.columnName,
    columns: table.names,
    added: columns.names,
    ...{ sheet: sheet?.name, otherSheets: sheet?.others ?? [], encoding, compression },
    ...{ stream: output.stream, summary },
  };
}

const nameOf = (source: Blob | ReadableStream): string =>
  "name" in source && typeof source.name === "string" ? source.name : "list";

const readerOf = (source: Blob) => (from: number, to: number) =>
  Buffer.from(new Reader!().readAsArrayBuffer(source.slice(from, to)));

const wantedFixes = (fix: NonNullable<TableOptions["fix"]>): WantedFixes =>
  typeof fix === "string" ? fix : new Set(fix.map(itemKey));

function filterOf({ keep, dedupe }: TableOptions): RowFilter {
  const kept = keep && new Set<string>(keep.map((status) => (status === "empty" ? "" : status)));
  return { ...(kept && { keeps: (status: string) => kept.has(status) }), ...(dedupe && { dedupe }) };
}

/** A write waits until the reader wants more. */
function outputStream() {
  let controller!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  let wanted = () => {};
  let isCancelled = false;
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      start(own) {
        controller = own;
      },
      pull: () => wanted(),
      cancel() {
        isCancelled = true;
        wanted();
      },
    },
    { highWaterMark: 1 },
  );
  const sink: TableSink = {
    async write(bytes) {
      if (!isCancelled && controller.desiredSize! <= 0) {
        await new Promise<void>((resolve) => {
          wanted = resolve;
        });
      }
      if (isCancelled) throw new ClosedPipe("the stream was cancelled");
      // A copy: the memory is used again, and may be shared.
      controller.enqueue(Uint8Array.from(bytes));
    },
    commit: async () => controller.close(),
    discard: async () => {},
  };
  const fail = (fault: unknown) => {
    if (!isCancelled) controller.error(fault);
    isCancelled = true;
    wanted();
  };
  return { stream, sink, fail };
}

/** Rows that `isWanted` does not want are neither located nor classified again. */
export function badItemObserver(
  kind: Kind,
  { classify }: Classifier,
  onBadItem: NonNullable<TableOptions["onBadItem"]>,
  isWanted: (status: string, reason: string | undefined) => boolean = () => true,
): RowObserver {
  return {
    observe({ codes, statuses, reasons, locate }) {
      const isBad = statuses.map((status) => status === "fake" || status === "disposable");
      for (let row = 0; row < codes.length; row++) {
        const code = codes[row]!;
        if (!isBad[code] || !isWanted(statuses[code]!, reasons[code])) continue;
        const { line, value, item = value.trim() } = locate(row);
        const { reason, suggestion } = classify(kind, item);
        const why = { ...(reason !== undefined && { reason }), ...(suggestion !== undefined && { suggestion }) };
        onBadItem({ line, item, status: statuses[code] as ClassifierStatus, ...why });
      }
    },
  };
}

const toProgress = ({ rows, statuses }: RunProgress, share: number | undefined): TableProgress => ({
  rows,
  share,
  statuses: Object.fromEntries(statuses()),
});

/** A file that was moved or changed meanwhile is a DOMException. */
function asFault(error: unknown): unknown {
  if (error instanceof DOMException) return new TableFault("gone", error.message, { cause: error });
  return error instanceof Fault ? new TableFault(error.code, error.plain, { cause: error }) : error;
}
