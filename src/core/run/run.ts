// A bulk run: reads a table, gets a verdict for every distinct item once, and writes every row with its status:
// blocks -> threads (scan, judge) -> ledger (number) -> settler (charge, or ask a service) -> (DNS) -> row writer
// A chunk is written when it and the chunks before it are settled; up to `mostWaiting` chunks are read ahead. Until the
// quota ends, offline rows are written as the threads have rendered them; other rows are rendered when they are
// written. One pipeline serves all tables and engines: when there were two, most faults lived where they met.
// To keep: chunks are numbered and settled in input order, or duplicates and the end of the quota would depend on
// timing. A failure of a batch, charge or write ends every wait at once (`Watch`). Every way out closes the threads and
// the input, but waits only briefly for the input: a pipe may never end.
import { setImmediate } from "node:timers/promises";
import { flagsOf } from "../classifier/flags/flags.js";
import { listedDomain } from "../classifier/rules/domain/disposable-domain.js";
import { typoDomain } from "../classifier/rules/domain/typo-domain.js";
import { nameText } from "../table/bytes.js";
import { Offset, recordWords } from "../table/scan/scanner.js";
import { notChecked, type Status } from "../validator/validator.js";
import type { BlockClassifier } from "./blocks/block-classifier.js";
import { type BlockOptions, itemColumnsOf } from "./blocks/block-options.js";
import type { MainThread } from "./blocks/chunk-verdicts.js";
import type { PreparedKernel, ThreadEngine } from "./blocks/classified-chunks.js";
import { classifyTable, mostWaiting, prepareKernel } from "./blocks/classified-chunks.js";
import type { OtherStatus } from "./blocks/kept-rows.js";
import { plainItemOf } from "./blocks/plain-address.js";
import { plainFlagsOf } from "./blocks/plain-flags.js";
import { DomainCounts } from "./domain-counts.js";
import { explained } from "./explained.js";
import { ItemLedger } from "./item-ledger.js";
import { type CellOptions, usualCells } from "./items/cells.js";
import { anyUpdate, badRowCode, keepsStatus, tooManyKept, type Update } from "./rows/earlier-fields.js";
import { RowWriter } from "./rows/row-writer.js";
import { settledRows } from "./rows/settled-rows.js";
import { mostTopDomains, type RunOptions, type RunProgress, type RunReport } from "./run-options.js";
import { countsSince, type RunSession } from "./session.js";
import { type Charges, createCharges } from "./settle/charges.js";
import { checkMail, fixerWith } from "./settle/mail-check.js";
import type { OpenItems } from "./settle/open-items.js";
import type { NumberedChunk, Settler } from "./settle/settler.js";
import { countNew, isKept } from "./status-codes.js";
import { Watch } from "./watch.js";

const closingMilliseconds = 200;

type Shared = { readonly ledger: ItemLedger; kernel?: PreparedKernel | null; charges?: Charges; items?: OpenItems };

const shared = new WeakMap<RunSession, Shared>();

/** Unchecked rows are `quota_exceeded`. @throws errors of table, validator, sink; the signal's reason when aborted */
export async function validateTable(options: RunOptions): Promise<RunReport> {
  const { kind, table, columns, validator, mailCheck, session, signal, onProgress } = options;
  const { cores = 1, inputShare = () => undefined } = options;
  const { embedded } = validator;
  const common = sharedOf(options);
  const { ledger } = common;
  const before = ledger.counts;
  const engine: ThreadEngine = { classifier: embedded?.classifier, source: embedded?.source };
  if (common.kernel === undefined) common.kernel = prepareKernel(engine, cores, kind);
  const prepared = common.kernel;
  const blockOptions = blockOptionsOf(options, ledger);
  const main = mainThreadOf(options, ledger);
  const chunks = classifyTable(table.scanned, blockOptions, { engine, prepared }, main, inputShare);
  const { classifier, reading } = chunks;
  const watch = new Watch();
  const fixer = fixerWith(options);
  beginCharges(options, common);
  const settler = common.charges ?? (await batchesOf(options, common, classifier, (error) => watch.fail(error)));
  const domains = embedded ? undefined : new DomainCounts();
  const writer = new RowWriter(options, ledger.codes.statuses, ledger.codes.reasons);
  const itemCodes = new Uint32Array(256);
  const plainFlags = mailCheck ? undefined : plainFlagsOf(kind, table.scanned.shape);
  const plainItem = plainItemOf(kind, table.scanned.shape);

  const waiting: NumberedChunk[] = [];
  let rowsRead = 0;
  const progress: RunProgress = {
    get rows() {
      return writer.rows + (waiting[0] ? settler.settledRows(waiting[0]) : 0);
    },
    get rowsRead() {
      return Math.max(rowsRead, writer.rows);
    },
    units: () => ledger.counts,
    statuses: () => writer.report().statuses,
  };

  async function write(chunk: NumberedChunk): Promise<void> {
    // Process answers that have arrived, so that the next requests are under way while rows are rendered.
    if (!embedded) await setImmediate();
    signal.throwIfAborted();
    // Answers that come after the end of a failed run settle rows that belong to no output any more.
    watch.check();
    const differs = settler.differs || mailCheck !== undefined;
    const rows = settledRows(chunk, ledger, classifier, {
      differs,
      countsDomains: embedded !== undefined,
      flagsOf: (item, status) => flagsOf(kind, item, mailCheck && explained(options, item, status).mx),
      plainFlags,
      plainItem,
      fixer,
      isMade: options.isMade === true,
    });
    if (domains) countDomains(chunk, options, ledger, classifier, domains);
    const codes = chunk.items?.codes ?? chunk.codes;
    countNew(codes, chunk.isNew, itemCodes);
    waiting.shift();
    await embedded?.delivery?.stayAlive();
    await writer.write(rows);
    await delivered();
    lastWritten = chunk;
    await onProgress?.(progress);
    // Otherwise a closed output would be noticed only at the next write.
    if (chunk.isBeforePause) await flush();
  }
  let lastWritten: NumberedChunk | undefined;
  async function flush(): Promise<void> {
    await writer.flush();
    await delivered();
  }
  async function delivered(): Promise<void> {
    if (lastWritten !== undefined) await settler.written?.(lastWritten);
    lastWritten = undefined;
  }

  await onProgress?.(progress);
  const writes: Promise<void>[] = [];
  let lastWrite = writer.start(table.start(columns));
  lastWrite.catch((error: unknown) => watch.fail(error));
  try {
    for (;;) {
      signal.throwIfAborted();
      const { value: classified, done } = await watch.until(reading.next());
      if (done) break;
      const chunk = { ...classified, ...ledger.add(classified) };
      ledger.expect(chunk.share, before.distinct);
      rowsRead += chunk.codes.length / chunk.columns;
      waiting.push(chunk);
      await watch.until(settler.add(chunk));
      const settled = settler.settled().then(() => checkMail(chunk, options, ledger, classifier));
      settled.catch(() => {});
      lastWrite = lastWrite.then(() => settled).then(() => write(chunk));
      writes.push(lastWrite);
      lastWrite.then(
        () => writes.shift(),
        (error: unknown) => watch.fail(error),
      );
      await setImmediate();
      while (writes.length >= mostWaiting) await watch.until(writes[0]!);
    }
    await watch.until(settler.flush());
    await watch.until(lastWrite);
    await flush();
  } catch (error) {
    watch.fail(error);
    // A charge under way is completed. The owner of the engine ends its requests.
    const abandoned = settler.abandon();
    if (embedded || session?.isSeveral) await abandoned;
    throw error;
  } finally {
    // Wait briefly only: `return` waits for a pending read, which may never end.
    await Promise.race([reading.return(undefined).catch(() => {}), watch.wait(closingMilliseconds)]);
    watch.end();
    await chunks.close();
  }
  const distinctStatuses = new Map<Status, number>();
  for (const [code, status] of ledger.codes.statuses.entries()) {
    const count = itemCodes[code]!;
    if (count > 0) distinctStatuses.set(status, (distinctStatuses.get(status) ?? 0) + count);
  }
  const report = writer.report();
  return {
    ...report,
    repairable: repairableIn(report, embedded !== undefined),
    ...countsSince(before, ledger.counts),
    distinctStatuses,
    quota: ledger.quota,
    topDomains: domains?.top() ?? prepared?.kernel.topDomains(mostTopDomains) ?? classifier.judge.domains.top(),
  };
}

type Counted = Pick<RunReport, "reasons" | "repairable" | "statuses">;

/** A service may give the reason, but what it suggests is not counted. Rows that wait for units have no verdict. */
function repairableIn({ reasons, repairable, statuses }: Counted, isEmbedded: boolean): number {
  const typos = reasons.get(typoDomain.code) ?? 0;
  if (!isEmbedded) return typos;
  return statuses.has(notChecked.status) ? Math.min(repairable, typos) : repairable;
}

function sharedOf({ validator: { name, embedded }, cache, session }: RunOptions): Shared {
  const known = session && shared.get(session);
  if (known) return known;
  const ledger = new ItemLedger(name, embedded?.delivery?.secret ?? cache?.secret);
  const common = { ledger };
  if (session) {
    shared.set(session, common);
    Object.assign(session, { counts: () => ledger.counts, quota: () => ledger.quota });
  }
  return common;
}

function beginCharges({ validator: { embedded }, session, deliversRows }: RunOptions, common: Shared): void {
  if (embedded === undefined) return;
  common.charges ??= createCharges(common.ledger, embedded, session?.isSeveral);
  const { charges } = common;
  charges.begin(deliversRows === true);
  if (session) session.abandon = () => charges.abandon();
}

function blockOptionsOf(options: RunOptions, ledger: ItemLedger): BlockOptions {
  const { kind, table, columns, shard, filter = {}, validator, mailCheck, observers = [] } = options;
  const { shape, target } = table.scanned;
  const { answersPauses, deliversRows } = options;
  const update = updateOf(options);
  // With one column and no status filter, `isFirst` is enough, unless another file has rows that keep statuses.
  const needsKeys =
    filter.keeps !== undefined ||
    shape.otherColumns.length > 0 ||
    update !== undefined ||
    options.fixer !== undefined ||
    options.session?.isSeveral;
  const forFlags = filter.keepsFlagged && !mailCheck ? { columns: [], mailboxes: false } : undefined;
  const facts = observers.find(({ wants }) => wants)?.wants ?? forFlags;
  const keys = filter.dedupe === "canonical" ? "mailboxes" : filter.dedupe && needsKeys ? "items" : undefined;
  return {
    ...{ kind, shape, target, columns, shard, keys, facts, answersPauses, deliversRows },
    ...{ keeps: update?.keeps, asksUndecided: mailCheck !== undefined, seed: ledger.seed, cells: cellsOf(options) },
    isService: validator.embedded === undefined,
    isFinal: validator.embedded !== undefined && mailCheck === undefined,
  };
}

/** A row that repeats the header has no item, whatever its columns are called. */
function cellsOf({ kind, table, cells = usualCells }: RunOptions): CellOptions {
  const { shape } = table.scanned;
  const names = itemColumnsOf(shape).map((column) => nameText(shape.header?.[column] ?? ""));
  const words = names.map((name) => name.trim().toLowerCase()).filter((name) => /^[^@.]+$/.test(name));
  return { kind, ...cells, emptyValues: [...cells.emptyValues, ...words] };
}

function mainThreadOf(options: RunOptions, ledger: ItemLedger): MainThread {
  const { kind, validator, mailCheck } = options;
  const update = updateOf(options);
  const isExplained = validator.embedded === undefined || mailCheck !== undefined;
  const precheck = (item: string) => {
    const verdict = validator.precheck?.(kind, item);
    return verdict && ledger.codeFor(verdict);
  };
  return {
    codes: ledger.codes,
    otherStatus: update && otherStatus(update, options, ledger),
    precheck,
    explain: isExplained ? (item, status) => explained(options, item, status) : undefined,
  };
}

const updateOf = ({ columns, update = anyUpdate }: RunOptions): Update | undefined =>
  columns.indices.some((index) => index !== undefined) ? update : undefined;

function otherStatus(update: Update, { table, columns }: RunOptions, ledger: ItemLedger): OtherStatus {
  const count = 1 + table.scanned.shape.otherColumns.length;
  return (chunk, row, status, nth) => {
    const line = chunk.lineOf(row);
    if (nth === 0 && update.bad?.isBadRow(status)) {
      const start = chunk.at[row * recordWords];
      const end = chunk.at[row * recordWords + Offset.next];
      return badRowCode(update.input, update.bad, columns.names[0], line, chunk.bytes.subarray(start, end));
    }
    const name = columns.names[(nth * columns.names.length) / count];
    if (!keepsStatus(status, name, update, line)) return 0;
    const code = ledger.codes.keptCodeOf(status);
    if (code === undefined) throw tooManyKept(update.input);
    return code;
  };
}

/** Loads the batches for a service, and the verdicts of the cache. Runs without a service do not load these modules. */
async function batchesOf(
  options: RunOptions,
  common: Shared,
  classifier: BlockClassifier,
  onFailure: (error: unknown) => void,
): Promise<Settler> {
  const { cache } = options;
  const { createBatches } = await import("./settle/batches.js");
  const { createOpenItems } = await import("./settle/open-items.js");
  common.items ??= createOpenItems(common.ledger, cache);
  await common.items.load();
  const unfinished = (await cache?.unfinished()) ?? [];
  return createBatches(options, common.items, classifier, unfinished, onFailure);
}

function countDomains(
  chunk: NumberedChunk,
  { kind, validator }: RunOptions,
  { codes: { statuses, reasons } }: ItemLedger,
  classifier: BlockClassifier,
  domains: DomainCounts,
): void {
  const { codes } = chunk.items ?? chunk;
  const isCounted = statuses.map(
    (status, code) => status === "disposable" && (reasons[code] === undefined || reasons[code] === "disposable-domain"),
  );
  const isWanted = (index: number, isFirstColumn: boolean) =>
    isFirstColumn && isCounted[codes[index]!] === true && !isKept(codes[index]!);
  classifier.items.each(chunk.chunk, chunk, isWanted, (item) => {
    const listed = listedDomain(validator.explain?.(kind, item).reason);
    domains.add(listed ?? item.slice(item.lastIndexOf("@") + 1).toLowerCase());
  });
}
