import { loadClassifier } from "../classifier/classifier.js";
import { nameColumns } from "../run/columns.js";
import { profiles } from "../run/item.js";
import { type RunReport, validateTable } from "../run/run.js";
import { QuotaFile } from "../store/quota-file.js";
import { nameText } from "../table/bytes.js";
import { type InputFile, openInputFile, readStream } from "../table/input.js";
import { openOutputFile } from "../table/output.js";
import { openTable } from "../table/reader.js";
import { createWriter } from "../table/writer.js";
import { offlineValidator } from "../validator/offline.js";
import type { Kind } from "../validator/validator.js";
import { Interrupted } from "./errors.js";
import { exitCodes } from "./exit-codes.js";
import { quotaFilePath } from "./paths.js";
import { showsProgress, startProgress } from "./progress.js";
import { standardOutput } from "./standard-output.js";
import { jsonSummary, type Summary, textSummary } from "./summary.js";
import { colours, say } from "./terminal.js";

/** The options of `idv emails` and `idv domains`, as commander gives them. */
export interface BulkOptions {
  readonly column?: string;
  readonly delimiter?: string;
  /** False with `--no-headers`; commander's default is true. */
  readonly headers: boolean;
  readonly output?: string;
  readonly statusColumn: string;
  readonly explain?: true;
  readonly offline?: true;
  readonly quotaFile?: string;
  readonly failOn?: readonly string[];
  readonly summary: "text" | "json" | "none";
  readonly quiet?: true;
}

/**
 * Runs `idv emails` or `idv domains`.
 *
 * @param file the input's path, or `-` for standard input
 * @returns the exit code
 */
export async function runBulk(kind: Kind, file: string, options: BulkOptions): Promise<number> {
  const started = performance.now();
  const interruption = interruptible();
  const progress = showsProgress(process.env, options.quiet === true) ? startProgress() : undefined;
  try {
    const { signal } = interruption;
    const inputName = file === "-" ? "standard input" : file;
    const input = file === "-" ? standardInput(signal) : await openInputFile(file, signal);
    const counted = countBytes(input);
    const table = await openTable(
      { name: inputName, bytes: counted.bytes },
      {
        profile: profiles[kind],
        ...(options.column !== undefined && { column: options.column }),
        ...(options.delimiter !== undefined && { delimiter: options.delimiter }),
        ...(!options.headers && { header: false }),
      },
    );
    const columns = nameColumns(table.header?.map(nameText), options.statusColumn, options.explain === true);
    const note = options.quiet ? () => {} : say;
    for (const { usual, name } of columns.renamed) {
      note(`${inputName} has a column "${usual}" already; ours is "${name}"`);
    }
    const quotaFile = await QuotaFile.open(quotaFilePath(options.quotaFile, process.env), Date.now);
    const sink =
      options.output === undefined || options.output === "-"
        ? standardOutput
        : await openOutputFile(options.output);
    let report: RunReport;
    try {
      report = await validateTable({
        kind,
        table,
        writer: createWriter(table),
        sink,
        validator: offlineValidator(loadClassifier(), quotaFile),
        columns,
        signal,
        onProgress: (rows) => progress?.update(rows, counted.share()),
      });
      await sink.commit();
    } catch (error) {
      await sink.discard();
      throw error;
    } finally {
      quotaFile.close();
    }
    progress?.stop();
    if (table.width === 0) note(`${inputName} is empty`);
    const seconds = (performance.now() - started) / 1000;
    await printSummary(options.summary, {
      input: inputName,
      kind,
      engine: "offline",
      column: table.column + 1,
      columnName: table.columnName,
      report,
      seconds: Math.round(1000 * seconds) / 1000,
    });
    return judge(report, options.failOn ?? []);
  } finally {
    progress?.stop();
    interruption.end();
  }
}

async function printSummary(format: BulkOptions["summary"], summary: Summary): Promise<void> {
  if (format === "none") return;
  const text =
    format === "json"
      ? jsonSummary(summary)
      : textSummary(summary, await colours(process.stderr, process.env));
  process.stderr.write(`${text}\n`);
}

/** Says what the user has to know even when quiet, and decides the exit code: an incomplete run comes first. */
function judge({ statuses, quota }: RunReport, failOn: readonly string[]): number {
  const waiting = statuses.get("quota_exceeded") ?? 0;
  if (waiting > 0) {
    const renewal =
      quota?.renewsAt == null
        ? "it does not renew; raise it with idv quota set --limit N"
        : `it renews at ${new Date(quota.renewsAt).toISOString().replace(/:00\.000Z$/, "Z")}`;
    say(`quota exhausted: ${waiting.toLocaleString("en")} rows wait for it (quota_exceeded); ${renewal}`);
    return exitCodes.quotaExhausted;
  }
  const matched = failOn.filter((status) => statuses.has(status));
  if (matched.length === 0) return exitCodes.done;
  const counts = matched.map((status) => `${statuses.get(status)?.toLocaleString("en")} ${status}`);
  say(`--fail-on: rows found: ${counts.join(", ")}`);
  return exitCodes.failOn;
}

function standardInput(signal: AbortSignal): InputFile {
  return { bytes: readStream("standard input", process.stdin, signal), size: undefined };
}

/** Counts what is read, for the share done. */
function countBytes({ bytes, size }: InputFile) {
  let count = 0;
  async function* counted() {
    for await (const chunk of bytes) {
      count += chunk.length;
      yield chunk;
    }
  }
  return { bytes: counted(), share: () => (size ? count / size : undefined) };
}

/** Turns the first signal into an orderly end; a second one ends the process at once. */
function interruptible() {
  const controller = new AbortController();
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const stop = (signal: (typeof signals)[number]) => {
    controller.abort(new Interrupted(signal, `stopped by ${signal}; an output file was not written`));
    end();
  };
  const end = () => {
    for (const signal of signals) process.removeListener(signal, stop);
  };
  for (const signal of signals) process.on(signal, stop);
  return { signal: controller.signal, end };
}
