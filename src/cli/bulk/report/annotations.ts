/** Findings for tools that show them beside lines: GitHub reads standard error; findings-file.ts writes files. */
import type { ObservedRows, RowLocation, RowObserver } from "../../../core/run/run-options.js";
import type { RowFault } from "../../../core/table/bad-rows.js";
import type { Status, Verdict } from "../../../core/validator/validator.js";
import { counted, workflowCommand } from "../../../text.js";

export interface Finding {
  readonly file: string;
  readonly line: number | undefined;
  readonly rule: string;
  readonly text: string;
}

export interface FindingSink {
  /** Returns whether it takes more findings. */
  add(finding: Finding): boolean;
}

export class Annotations implements RowObserver {
  readonly #path: string;
  readonly #wanted: readonly Status[];
  readonly #explain: (item: string) => Verdict | undefined;
  readonly #sinks: Set<FindingSink>;
  #count = 0;

  constructor(
    path: string,
    wanted: readonly Status[],
    explain: (item: string) => Verdict | undefined,
    sinks: Set<FindingSink>,
  ) {
    this.#path = path;
    this.#wanted = wanted;
    this.#explain = explain;
    this.#sinks = sinks;
  }

  observe({ codes, statuses, locate }: ObservedRows): void {
    if (this.#sinks.size === 0) return;
    const isWanted = statuses.map((status) => this.#wanted.includes(status));
    for (const [row, code] of codes.entries()) {
      if (!isWanted[code] || this.#sinks.size === 0) continue;
      this.#count++;
      const finding = this.#findingOf(statuses[code]!, locate(row));
      for (const sink of this.#sinks) if (!sink.add(finding)) this.#sinks.delete(sink);
    }
  }

  #findingOf(status: Status, { line, value, item = value }: RowLocation): Finding {
    const { reason, suggestion } = this.#explain(item) ?? {};
    const why = reason === undefined ? "" : ` (${reason})`;
    const meant = suggestion === undefined ? "" : `; meant: ${suggestion}`;
    return { file: this.#path, line, rule: status, text: `${item} is ${status}${why}${meant}` };
  }

  end(rows: ReadonlyMap<Status, number>): void {
    const shown = Math.min(this.#count, mostCommands);
    const more = this.#wanted.reduce((sum, status) => sum + (rows.get(status) ?? 0), -shown);
    if (more <= 0) return;
    const text = `${counted(more, "more row is", "more rows are")} ${this.#wanted.join(" or ")}`;
    process.stderr.write(workflowCommand("notice", text, { file: this.#path }));
  }
}

/** Limit for rows, and for bad rows. GitHub shows ten annotations of a step, and stores fifty of a job. */
const mostCommands = 50;

export const sinksOf = (isAnnotated: boolean, files: readonly FindingSink[]): Set<FindingSink> =>
  new Set([...(isAnnotated ? [workflowCommands()] : []), ...files]);

function workflowCommands(): FindingSink {
  let count = 0;
  return {
    add({ file, line, text }) {
      process.stderr.write(workflowCommand("error", text, { file, line }));
      return ++count < mostCommands;
    },
  };
}

export const badRowFinding = ({ file, line, reason }: RowFault): Finding => ({
  file,
  line,
  rule: "bad row",
  text: `bad row: ${reason}`,
});
