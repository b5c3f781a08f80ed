/** `--report`: collects what the report on a run shows, and writes it as a page, PDF, Markdown, JSON or a picture. */
import { readFile } from "node:fs/promises";
import { Collector } from "../../../core/facts/collector.js";
import { type Before, type Facts, forPages, sumOf, withoutAddresses } from "../../../core/facts/facts.js";
import { beforeIn, lineOfPdf, renderJson } from "../../../core/facts/render/json.js";
import { renderMarkdown } from "../../../core/facts/render/markdown.js";
import { renderPage } from "../../../core/facts/render/page.js";
import { renderPicture } from "../../../core/facts/render/picture.js";
import type { RowObserver } from "../../../core/run/run-options.js";
import { nameText } from "../../../core/table/bytes.js";
import { findColumn } from "../../../core/table/sniff/column.js";
import type { Table } from "../../../core/table/table.js";
import type { Kind } from "../../../core/validator/validator.js";
import { endingOf, isMarkdown } from "../../../files/ending.js";
import { found } from "../../../files/found.js";
import { openOutputFile } from "../../../files/output.js";
import { type TableSink, writeWhole } from "../../../files/table-sink.js";
import type { Engine } from "../../engines/engine.js";
import { loadOfflineRules } from "../../engines/offline-engine.js";
import type { ReportTarget } from "../../options/values.js";
import type { Plan } from "../plan/plan.js";
import { printPage } from "./pdf.js";

const longestName = 120;

export type ListReport = Awaited<ReturnType<typeof openListReport>>;

/** Creates the files, so that a fault is found before the run costs units. @throws FileError */
export async function openListReport(
  { targets: wanted, withFlags }: NonNullable<Plan["report"]>,
  kind: Kind,
  { validator }: Engine,
) {
  const explain = validator.explain ?? loadOfflineRules().classify;
  const withAddresses = wanted.some(({ isFull }) => isFull);
  const collector = new Collector({ kind, explain, withAddresses, withFlags });
  const targets: (ReportTarget & { before: Before | undefined; sink: TableSink })[] = [];
  const files: Facts[] = [];
  let isWritten = false;
  const discard = async () => {
    if (isWritten) return;
    for (const { sink } of targets) await sink.discard();
  };
  /** Names of files and columns can be long, or hold an address. */
  const shown = (name: string, isFull = withAddresses) => {
    const text = isFull ? name : withoutAddresses(name);
    return text.length <= longestName ? text : `${text.slice(0, longestName)}...`;
  };
  try {
    for (const each of wanted) {
      const before = await beforeAt(each.path);
      targets.push({ ...each, before, sink: await openOutputFile(each.path) });
    }
  } catch (error) {
    await discard();
    throw error;
  }
  return {
    discard,
    groups: () => collector.groups(),
    /** @throws ChoiceError when the column of `--by` is not in the table */
    observerOf({ inputName, by }: Plan, table: Table, isSeveral: boolean): RowObserver {
      const wanted = by === undefined ? undefined : columnNamed(by, table);
      return collector.observerFor(inputName, table, { wanted, isSeveral, findsGroups: targets.length > 0, shown });
    },
    add(facts: Facts) {
      if (facts.dryRun) return;
      collector.keepFile();
      files.push(facts);
    },
    /** Does nothing if it is written already, or no file could be validated. @throws FileError */
    async write(completed: (sum: Facts) => Facts): Promise<Facts["outputs"]> {
      const [first, ...others] = files;
      if (first === undefined) await discard();
      if (isWritten || first === undefined) return [];
      const breakdown = collector.breakdown();
      const { repair } = first;
      const all = completed(sumOf([first, ...others]));
      const factsFor = (isFull: boolean): Facts => {
        const shownRows = isFull ? breakdown.shownRows : null;
        const facts = forPages({ ...all, breakdown: { ...breakdown, shownRows } }, (name) => shown(name, isFull));
        // A name that is hidden or cut would make another command.
        const isShown = others.length === 0 && repair !== null && shown(repair, isFull) === repair;
        return { ...facts, repair: isShown ? repair : null };
      };
      isWritten = true;
      const ends = await Promise.allSettled(
        targets.map(async ({ path, isFull, sink, before = null }) => {
          let bytes = 0;
          await writeWhole(sink, async () => {
            const names = before && { ...before, inputs: before.inputs.map((name) => shown(name, isFull)) };
            const report = await rendered(path, { ...factsFor(isFull), before: names });
            bytes = report.length;
            await sink.write(report);
          });
          return { path, bytes };
        }),
      );
      return ends.map((end) => {
        if (end.status === "rejected") throw end.reason;
        return end.value;
      });
    },
  };
}

const renderers: Readonly<Record<string, (facts: Facts) => string>> = { json: renderJson, svg: renderPicture };

/** Returns the bytes of the form that the ending names. @throws FileError when a page cannot be printed */
async function rendered(path: string, facts: Facts): Promise<Buffer> {
  const ending = endingOf(path);
  if (ending === "pdf") {
    const pdf = await printPage(renderPage(facts), path, process.env);
    return Buffer.concat([pdf, Buffer.from(lineOfPdf(facts))]);
  }
  const render = isMarkdown(path) ? renderMarkdown : (renderers[ending] ?? renderPage);
  return Buffer.from(render(facts));
}

function columnNamed(by: string, { names, header, width, scanned }: Table): number {
  if (scanned.shape.json !== undefined) {
    // In a document, paths of members begin with that of the list.
    const isPath = (path: string) => `.${path}`.toLowerCase().endsWith(`.${by.toLowerCase()}`);
    const found = names.includes(by) ? names.indexOf(by) : (header ?? []).map(nameText).findIndex(isPath);
    if (found !== -1) return found;
  }
  return findColumn(by, header, width, "--by");
}

const mostBytes = 4_194_304;

/** The report that will be replaced, if any. Does not throw. */
async function beforeAt(path: string): Promise<Before | undefined> {
  const file = found(path);
  if (!file?.isFile() || file.size > mostBytes) return undefined;
  return readFile(path, "utf8").then(beforeIn, () => undefined);
}
