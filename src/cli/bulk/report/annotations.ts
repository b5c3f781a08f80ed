/** Findings for tools that show them beside lines: GitHub reads standard error; findings-file.ts writes files. */
import type { ObservedRows, RowLocation } from "../../../core/run/run-options.js";
import type { RowFault } from "../../../core/table/bad-rows.js";
import type { Status, Verdict } from "../../../core/validator/validator.js";
import { counted, workflowCommand } from "../../../text.js";

export interface Finding {
  readonly file: string;
  readonly line: number | undefined;
  readonly rule: string;
  readonly text: string;
}

/** `add` returns whether it takes more findings. */
export type FindingSink = { add(finding: Finding): boolean };

type Explain = (item: string) => Verdict | undefined;

/** A field may hold a whole file. */
const mostCharacters = 200;
const cut = (text: string): string => (text.length > mostCharacters ? `${text.slice(0, mostCharacters)}...` : text);

/** Passes rows of the wanted statuses to each sink, as long as it takes more. */
export function annotationsOf(path: string, wanted: readonly Status[], explain: Explain, sinks: Set<FindingSink>) {
  let count = 0;
  const findingOf = (status: Status, { line, value, item = value }: RowLocation): Finding => {
    const { reason, suggestion } = explain(item) ?? {};
    const why = reason === undefined ? "" : ` (${cut(reason)})`;
    const meant = suggestion === undefined ? "" : `; meant: ${cut(suggestion)}`;
    return { file: path, line, rule: status, text: `${cut(item)} is ${status}${why}${meant}` };
  };
  return {
    observe({ codes, statuses, locate }: ObservedRows) {
      if (sinks.size === 0) return;
      const isWanted = statuses.map((status) => wanted.includes(status));
      for (const [row, code] of codes.entries()) {
        if (!isWanted[code] || sinks.size === 0) continue;
        count++;
        const finding = findingOf(statuses[code]!, locate(row));
        for (const sink of sinks) if (!sink.add(finding)) sinks.delete(sink);
      }
    },
    end(rows: ReadonlyMap<Status, number>) {
      const shown = Math.min(count, mostCommands);
      const more = wanted.reduce((sum, status) => sum + (rows.get(status) ?? 0), -shown);
      if (more <= 0) return;
      const text = `${counted(more, "more row is", "more rows are")} ${wanted.join(" or ")}`;
      process.stderr.write(workflowCommand("notice", text, { file: path }));
    },
  };
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

export function badRowFinding({ file, line, reason }: RowFault): Finding {
  return { file, line, rule: "bad row", text: `bad row: ${reason}` };
}
