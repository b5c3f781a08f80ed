/** `--report`: collects what the report on a run shows, and writes it as HTML pages or Markdown. */
import { readFile } from "node:fs/promises";
import { endingOf, isMarkdown } from "../../../files/format-by-name.js";
import { found } from "../../../files/found.js";
import { openOutputFile } from "../../../files/output.js";
import type { TableSink } from "../../../files/table-sink.js";
import { Collector } from "../../../report/collector.js";
import { type Before, type Facts, sumOf } from "../../../report/facts.js";
import { beforeIn, renderJson } from "../../../report/json.js";
import { renderMarkdown } from "../../../report/markdown.js";
import { findDateColumn } from "../../../report/months.js";
import { renderPage } from "../../../report/page.js";
import type { RowObserver } from "../../../run/run-options.js";
import type { Table } from "../../../table/table.js";
import type { Kind } from "../../../validator/validator.js";
import type { Engine } from "../../engines/engine.js";
import { loadOfflineRules } from "../../engines/offline-rules.js";
import type { Plan } from "../plan/plan.js";

const longestName = 120;

type WantedReport = NonNullable<Plan["report"]>;

export class ListReport {
  readonly #sinks: readonly TableSink[];
  readonly #collector: Collector;
  readonly #paths: readonly string[];
  readonly #withAddresses: boolean;
  /** The reports that are replaced, by their paths. */
  readonly #before: ReadonlyMap<string, Before>;
  readonly #files: Facts[] = [];
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
    const before = new Map<string, Before>();
    try {
      for (const path of wanted.paths) {
        const last = await beforeAt(path);
        if (last) before.set(path, last);
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
    before: ReadonlyMap<string, Before>,
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

  add(facts: Facts): void {
    if (facts.dryRun) return;
    this.#collector.keepFile();
    this.#files.push(facts);
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
  async write(): Promise<Facts["outputs"]> {
    const [first, ...others] = this.#files;
    if (this.#isWritten) return [];
    if (first === undefined) {
      await this.discard();
      return [];
    }
    const facts = this.#forReaders({
      ...sumOf([first, ...others]),
      breakdown: this.#collector.breakdown(),
    });
    const texts = this.#paths.map((path) => {
      const render = isMarkdown(path) ? renderMarkdown : endingOf(path) === "json" ? renderJson : renderPage;
      return Buffer.from(render({ ...facts, before: this.#before.get(path) ?? null }));
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

  /** Leaves out what is for the terminal, or may hold an address. */
  #forReaders(facts: Facts): Facts {
    const names = (all: readonly string[]) => all.map((name) => this.#shown(name));
    return {
      ...facts,
      engineReason: this.#shown(facts.engineReason),
      inputs: facts.inputs.map((input) => ({
        ...input,
        name: this.#shown(input.name),
        columnName: input.columnName && this.#shown(input.columnName),
        columns: names(input.columns),
        otherColumns: input.otherColumns.map((column) => ({ ...column, name: this.#shown(column.name) })),
        passedOver: names(input.passedOver),
        elsewhere: input.elsewhere && { ...input.elsewhere, column: this.#shown(input.elsewhere.column) },
      })),
      outputs: facts.outputs.map(({ path, bytes }) => ({ path: this.#shown(path), bytes })),
      resume: null,
      next: null,
    };
  }

  /** Shortens a name for the report: names of files and columns can be long, or hold an address. */
  #shown(name: string): string {
    const text = this.#withAddresses ? name : name.replace(/[^\s@/"<>,;]+@[^\s@/"<>,;]+/g, "...");
    return text.length <= longestName ? text : `${text.slice(0, longestName)}...`;
  }
}

/** Longest report of an earlier run that is read, in bytes. */
const mostBytes = 4_194_304;

/** Returns what the report tells that will be replaced; undefined if there is none. Does not throw. */
async function beforeAt(path: string): Promise<Before | undefined> {
  const file = found(path);
  if (!file?.isFile() || file.size > mostBytes) return undefined;
  return readFile(path, "utf8").then(beforeIn, () => undefined);
}
