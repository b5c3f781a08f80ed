/** Annotations for the lines of a table, as GitHub's workflows show them beside a change. */
import type { ObservedRows, RowLocation, RowObserver } from "../../../run/run-options.js";
import type { RowFault } from "../../../table/bad-rows.js";
import type { Status, Verdict } from "../../../validator/validator.js";
import { counted } from "../../terminal/terminal.js";

/** Limit per run. GitHub shows ten annotations of a step, and stores fifty of a job. */
const mostAnnotations = 50;

/**
 * Writes a workflow command for each row, to standard error so that commands do not mix with rows. GitHub reads both
 * streams. https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
 */
export class Annotations implements RowObserver {
  readonly #path: string;
  readonly #wanted: readonly Status[];
  readonly #explain: (item: string) => Verdict | undefined;
  #count = 0;

  constructor(path: string, wanted: readonly Status[], explain: (item: string) => Verdict | undefined) {
    this.#path = path;
    this.#wanted = wanted;
    this.#explain = explain;
  }

  observe({ codes, statuses, locate }: ObservedRows): void {
    if (this.#count >= mostAnnotations) return;
    const isWanted = statuses.map((status) => this.#wanted.includes(status));
    for (const [row, code] of codes.entries()) {
      if (!isWanted[code] || this.#count >= mostAnnotations) continue;
      this.#count++;
      this.#annotate(statuses[code]!, locate(row));
    }
  }

  #annotate(status: Status, { line, value, item = value }: RowLocation): void {
    const { reason, suggestion } = this.#explain(item) ?? {};
    const property = line === undefined ? "" : `,line=${line}`;
    const why = reason === undefined ? "" : ` (${reason})`;
    const meant = suggestion === undefined ? "" : `; meant: ${suggestion}`;
    const text = escapeText(`${item} is ${status}${why}${meant}`);
    process.stderr.write(`::error file=${escapeProperty(this.#path)}${property}::${text}\n`);
  }

  end(rows: ReadonlyMap<Status, number>): void {
    const more = this.#wanted.reduce((sum, status) => sum + (rows.get(status) ?? 0), -this.#count);
    if (more <= 0) return;
    const text = `${counted(more, "more row is", "more rows are")} ${this.#wanted.join(" or ")}`;
    process.stderr.write(`::notice file=${escapeProperty(this.#path)}::${text}\n`);
  }
}

export function annotateBadRow({ file, line, reason }: RowFault): void {
  process.stderr.write(
    `::error file=${escapeProperty(file)},line=${line}::${escapeText(`bad row: ${reason}`)}\n`,
  );
}

/** Control characters, which must not reach a terminal either. */
const control = /[\u0000-\u001f\u007f-\u009f]/g;
const escapeText = (text: string): string =>
  text.replaceAll("%", "%25").replace(control, (character) => encodeURIComponent(character));
const escapeProperty = (text: string): string =>
  escapeText(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
