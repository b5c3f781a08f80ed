/** `--report`: collects what the report on a run shows, and writes it as HTML pages or Markdown. */
import { readFile } from "node:fs/promises";
import { daysOld, findTable } from "../../../data/installed-table.js";
import { endingOf, isMarkdown } from "../../../files/format-by-name.js";
import { found } from "../../../files/found.js";
import { openOutputFile } from "../../../files/output.js";
import type { TableSink } from "../../../files/table-sink.js";
import { Collector } from "../../../report/collector.js";
import { figuresIn, renderJson } from "../../../report/figures.js";
import { renderMarkdown } from "../../../report/markdown.js";
import { findDateColumn } from "../../../report/months.js";
import { renderPage } from "../../../report/page.js";
import { type Figures, type Report, sumOf } from "../../../report/report.js";
import type { RowObserver } from "../../../run/run-options.js";
import type { Table } from "../../../table/table.js";
import { counted, grouped } from "../../../text.js";
import type { Kind } from "../../../validator/validator.js";
import { dataTablePath } from "../../config/paths.js";
import type { Engine } from "../../engines/engine.js";
import { loadOfflineRules } from "../../engines/offline-rules.js";
import { say } from "../../terminal/terminal.js";
import { version } from "../../version.js";
import type { Plan } from "../plan/plan.js";
import type { DryRun, Summary } from "./result.js";

const longestName = 120;

type WantedReport = NonNullable<Plan["report"]>;

export class ListReport {
  readonly #sinks: readonly TableSink[];
  readonly #collector: Collector;
  readonly #paths: readonly string[];
  readonly #withAddresses: boolean;
  /** Figures of the reports that are replaced, by their paths. */
  readonly #before: ReadonlyMap<string, Figures>;
  readonly #summaries: Summary[] = [];
  #isWritten = false;

  /**
   * Creates the files, so that a fault is found before the run costs units.
   *
   * @throws FileError when one cannot be created
   */
  static async open(wanted: WantedReport, kind: Kind, { validator }: Engine): Promise<ListReport> {
    const explain = validator.explain ?? loadOfflineRules().classify;
    const { withAddresses, withFlags } = wanted;
    const collector = new Collector({ kind, explain, withAddresses, withFlags });
    const sinks: TableSink[] = [];
    const before = new Map<string, Figures>();
    try {
      for (const path of wanted.paths) {
        const figures = await figuresAt(path);
        if (figures) before.set(path, figures);
        sinks.push(await openOutputFile(path));
      }
    } catch (error) {
      for (const sink of sinks) await sink.discard();
      throw error;
    }
    return new ListReport(wanted, collector, sinks, before);
  }

  private constructor(
    { paths, withAddresses }: WantedReport,
    collector: Collector,
    sinks: TableSink[],
    before: ReadonlyMap<string, Figures>,
  ) {
    this.#before = before;
    this.#withAddresses = withAddresses;
    this.#paths = paths;
    this.#sinks = sinks;
    this.#collector = collector;
  }

  observerOf({ inputName }: Plan, table: Table): RowObserver {
    const items = [table.column, ...table.otherColumns];
    const dates = findDateColumn(table.names, (column) =>
      items.includes(column) ? [] : table.firstValues(column),
    );
    return this.#collector.observerOf(
      this.#shown(inputName),
      dates && { ...dates, name: this.#shown(dates.name) },
    );
  }

  add(summary: Summary | DryRun): void {
    if (!("report" in summary)) return;
    this.#collector.keepFile();
    this.#summaries.push(summary);
  }

  async discard(): Promise<void> {
    if (this.#isWritten) return;
    for (const sink of this.#sinks) await sink.discard();
  }

  /**
   * Writes the report, unless it is written already or no file could be validated. Returns the written files.
   *
   * @throws FileError when it cannot be written
   */
  async write(): Promise<Summary["files"]> {
    const [first] = this.#summaries;
    if (this.#isWritten) return [];
    if (first === undefined) {
      await this.discard();
      return [];
    }
    const report = this.#report(first);
    const texts = this.#paths.map((path) => {
      const render = isMarkdown(path) ? renderMarkdown : endingOf(path) === "json" ? renderJson : renderPage;
      return Buffer.from(render({ ...report, before: this.#before.get(path) }));
    });
    this.#isWritten = true;
    // One that fails loses no other.
    const written = await Promise.allSettled(
      this.#sinks.map(async (sink, i) => {
        await sink.write(texts[i]!);
        await sink.commit();
      }),
    );
    for (const each of written) if (each.status === "rejected") throw each.reason;
    return this.#paths.map((path, i) => ({ path, bytes: texts[i]!.length }));
  }

  #report(first: Summary): Report {
    const summaries = this.#summaries;
    return {
      ...this.#collector.collected(),
      ...sumOf(summaries.map(({ report }) => report)),
      kind: first.kind,
      inputs: summaries.map(({ input }) => this.#shown(input)),
      kept: summaries.reduce((sum, { report }) => sum + report.kept, 0),
      made: Date.now(),
      badRows: summaries.reduce((sum, { badRows }) => sum + badRows, 0),
      outvoted: summaries.map(({ report }) => report.outvoted).filter(({ count }) => count > 0),
      badRowKinds: summaries.flatMap(({ badRowKinds }) => badRowKinds),
      files: summaries
        .flatMap(({ files }) => files)
        .map(({ path, bytes }) => ({ path: this.#shown(path), bytes })),
      terms: this.#terms(first),
    };
  }

  /** Shortens a name for the report: names of files and columns can be long, or hold an address. */
  #shown(name: string): string {
    const text = this.#withAddresses ? name : name.replace(/[^\s@/"<>,;]+@[^\s@/"<>,;]+/g, "...");
    return text.length <= longestName ? text : `${text.slice(0, longestName)}...`;
  }

  #terms(first: Summary): Report["terms"] {
    const { column, columnName, otherColumns, engine, engineReason, dns, passedOver } = first;
    const { table } = findTable(dataTablePath(process.env), say);
    const days = daysOld(table.sources, Date.now());
    const seconds = this.#summaries.reduce((sum, summary) => sum + summary.seconds, 0);
    return [
      ["Engine", `${engine} (${engineReason})`],
      ["Column", columnName === undefined ? String(column) : `${this.#shown(columnName)} (column ${column})`],
      ...otherColumns.map((name, i) => {
        const counts = [...(first.report.otherStatuses[i] ?? [])];
        const text = counts.map(([status, count]) => `${grouped(count)} ${status}`).join(", ");
        return [`Column ${this.#shown(name)}`, `${text}; not counted above`] as const;
      }),
      ...(passedOver.length === 0 ? [] : [["Not checked", this.#shown(passedOver.join(", "))] as const]),
      ["DNS", dns === undefined ? "not asked" : `${counted(dns.asked + dns.cached, "domain")} asked`],
      ...(days === undefined || engine !== "offline"
        ? []
        : [["Data", `newest list ${counted(days, "day")} old`] as const]),
      ["Time", `${seconds.toFixed(1)} s`],
      ["Made by", `idv ${version()}`],
    ];
  }
}

/** Longest report of an earlier run that is read, in bytes. */
const mostBytes = 4_194_304;

/** Returns the figures of the report that will be replaced; undefined if there is none. Does not throw. */
async function figuresAt(path: string): Promise<Figures | undefined> {
  const file = found(path);
  if (!file?.isFile() || file.size > mostBytes) return undefined;
  return readFile(path, "utf8").then(figuresIn, () => undefined);
}
