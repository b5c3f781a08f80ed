/** The worker of the page: checks a list, and makes the files that are saved. It has no network and stores nothing. */
import { type Classifier, createClassifier } from "../../core/classifier/classifier.js";
import { daysOld } from "../../core/classifier/tables/disposable-table.js";
import { Collector } from "../../core/facts/collector.js";
import type { Facts } from "../../core/facts/facts.js";
import { renderPage, renderParts } from "../../core/facts/render/page.js";
import { opening, reasonText } from "../../core/facts/words.js";
import { TooManyItems } from "../../core/kernel/distinct-table.js";
import { endingOf, isWritten } from "../../files/ending.js";
import { tableEndings } from "../../formats/registry.js";
import { loadTables } from "../browser/load-tables.js";
import { loadedTable } from "../browser/loaded-table.js";
import { badItemObserver, type CheckedTable, openCheck, type TableOptions, useKernelBytes } from "../browser/table.js";
import { TableFault } from "../browser/table-fault.js";
import type { Answer, BadRow, CheckOptions, PageTables, Request, SaveOptions } from "./messages.js";
import { mostRows } from "./messages.js";

const progressMilliseconds = 100;
/** Bytes after which the output so far becomes a blob, which browsers may put on the disk. */
const blobBytes = 8_388_608;

let classifier: Classifier | undefined;
let running: AbortController | undefined;
let lastFacts: Facts | undefined;

const send = (answer: Answer): void => postMessage(answer);

addEventListener("message", ({ data }: MessageEvent<Request>) => {
  if (data.type === "start") started = start(data.tables);
  else if (data.type === "stop") running?.abort(new Stopped());
  else if (data.type === "report") saveReport(data.task);
  else void perform(data);
});

class Stopped extends Error {}

let started: Promise<void> | undefined;

async function start({ disposable, suffixes, kernel }: PageTables): Promise<void> {
  await useKernelBytes(bytesOf(kernel));
  await loadTables({ disposable: bytesOf(disposable), suffixes: bytesOf(suffixes) });
  classifier = createClassifier(loadedTable());
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(base64, "base64"));

async function perform(request: Extract<Request, { type: "check" | "save" }>): Promise<void> {
  const { task, file } = request;
  running?.abort(new Stopped());
  const aborter = new AbortController();
  running = aborter;
  let sent = performance.now();
  const common: TableOptions = {
    kind: request.options.kind,
    encoding: "auto",
    badRows: "keep",
    ...(request.options.column !== undefined && { column: request.options.column }),
    ...(request.options.sheet !== undefined && { sheet: request.options.sheet }),
    signal: aborter.signal,
    onProgress({ rows, share }) {
      if (performance.now() - sent < progressMilliseconds) return;
      sent = performance.now();
      send({ task, type: "progress", rows, share });
    },
  };
  try {
    await started;
    if (file.size === 0) throw new TableFault("table", "the file is empty");
    if (request.type === "check") await check(task, file, common, request.options);
    else await save(task, file, common, request.options);
  } catch (error) {
    if (error instanceof Stopped) send({ task, type: "stopped" });
    else await sendFault(task, file, request.options, error);
  } finally {
    if (running === aborter) running = undefined;
  }
}

async function check(task: number, file: File, common: TableOptions, { kind }: CheckOptions): Promise<void> {
  const collector = new Collector({ kind, explain: classifier!.classify, withAddresses: false, withFlags: false });
  const bad = collectBadRows(kind);
  const checked = await openCheck(file, classifier!, common, (table) => [
    collector.observerFor(file.name, table, { shown: (name) => name }),
    bad.observer,
  ]);
  for (const reader = checked.stream.getReader(); !(await reader.read()).done; );
  const found = await checked.summary;
  const groups = collector.groups();
  collector.keepFile();
  const dataDays = daysOld(loadedTable().sources, Date.now()) ?? null;
  const facts = { ...found, dataDays, groups, breakdown: collector.breakdown() };
  lastFacts = facts;
  const { column, columnName, columns, sheet, otherSheets, encoding } = checked;
  const table = { column, columnName, columns, sheet, otherSheets, encoding };
  send({ task, type: "checked", table, facts, opening: opening(facts), parts: renderParts(facts), ...bad.found });
}

/** The rest of the room is for rows with a suggestion, which are few. */
const mostWithout = mostRows - 1000;

/** Rows beyond the first ones are looked at only if they may have a suggestion. */
function collectBadRows(kind: CheckOptions["kind"]) {
  const found = { badRows: [] as BadRow[], suggestions: 0 };
  const observer = badItemObserver(
    kind,
    classifier!,
    (row) => {
      if (row.suggestion !== undefined) found.suggestions++;
      if (found.badRows.length < (row.suggestion === undefined ? mostWithout : mostRows))
        found.badRows.push({ ...row, reason: reasonText(row.reason ?? "") });
    },
    (status, reason) => found.badRows.length < mostWithout || (status === "fake" && reason !== "special-use"),
  );
  return { found, observer };
}

async function save(task: number, file: File, common: TableOptions, options: SaveOptions): Promise<void> {
  const { onlyGood, withReasons, fix } = options;
  const checked = await openCheck(file, classifier!, {
    ...common,
    explain: withReasons,
    ...((fix === "all" || fix.length > 0) && { fix }),
    // What could not be read is not known to be good.
    ...(onlyGood && { keep: ["ok", "alias"] as const, badRows: "skip" as const }),
  });
  const blobs: Blob[] = [];
  let pieces: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  const reader = checked.stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    pieces.push(next.value);
    bytes += next.value.length;
    if (bytes < blobBytes) continue;
    blobs.push(new Blob(pieces));
    pieces = [];
    bytes = 0;
  }
  await checked.summary;
  const blob = new Blob([...blobs, ...pieces]);
  // A blob that is too large for the browser can be made, but not read.
  await blob
    .slice(-1)
    .arrayBuffer()
    .catch(() => {
      throw new RangeError("the browser has no room for the file");
    });
  send({ task, type: "saved", blob, name: savedName(file.name, checked, onlyGood) });
}

/** The ending is that of the output. */
function savedName(name: string, { format, compression }: CheckedTable, onlyGood: boolean): string {
  const [, base = "list", ending = ""] = /^(.*?)(\.[^.]+)?(?:\.gz)?$/is.exec(name) ?? [];
  const isKept = tableEndings.has(endingOf(ending)) && isWritten(ending);
  return `${base}-${onlyGood ? "good" : "checked"}${isKept ? ending : `.${format}`}${compression ? ".gz" : ""}`;
}

function saveReport(task: number): void {
  if (lastFacts === undefined) return;
  send({ task, type: "report", blob: new Blob([renderPage(lastFacts)], { type: "text/html" }) });
}

async function sendFault(task: number, file: File, { kind, sheet }: CheckOptions, error: unknown): Promise<void> {
  const { message } = error as Error;
  if (error instanceof TableFault) {
    const code = file.size === 0 ? "empty" : error.code;
    const columns = code === "column" || code === "items" ? await columnsOf(file, { kind, sheet }) : [];
    send({ task, type: "fault", code, message: file.size === 0 ? "" : message, columns });
    return;
  }
  const isMemory = error instanceof RangeError || error instanceof TooManyItems;
  send({ task, type: "fault", code: isMemory ? "memory" : "unknown", message, columns: [] });
}

async function columnsOf(file: File, { kind, sheet }: CheckOptions): Promise<readonly string[]> {
  try {
    const table = await openCheck(file, classifier!, {
      ...{ kind, column: 1, encoding: "auto", badRows: "keep" as const },
      ...(sheet !== undefined && { sheet }),
    });
    await table.stream.cancel();
    return table.columns;
  } catch {
    return [];
  }
}
