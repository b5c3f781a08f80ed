/** Annotations for the lines of a table, as GitHub's workflows show them beside a change. */
import type { FoundRow } from "../../run/run-options.js";
import type { Verdict } from "../../validator/validator.js";

/** Most annotations of a run. GitHub shows ten of a step, and keeps fifty of a job. */
const mostAnnotations = 50;

/**
 * Writes a workflow command for each row. They work from standard error too, where they do not come between rows.
 * https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
 */
export class Annotations {
  readonly #path: string;
  readonly #explain: (value: string) => Verdict | undefined;
  #count = 0;

  /** @param explain returns the verdict with its reason, if that is known */
  constructor(path: string, explain: (value: string) => Verdict | undefined) {
    this.#path = path;
    this.#explain = explain;
  }

  add({ status, line, value }: FoundRow): void {
    if (++this.#count > mostAnnotations) return;
    const { reason, suggestion } = this.#explain(value) ?? {};
    const place = line === undefined ? "" : `,line=${line}`;
    const why = reason === undefined ? "" : ` (${reason})`;
    const meant = suggestion === undefined ? "" : `; meant: ${suggestion}`;
    const text = escapeText(`${value} is ${status}${why}${meant}`);
    process.stderr.write(`::error file=${escapeProperty(this.#path)}${place}::${text}\n`);
  }

  /** Says how many rows have no annotation. */
  end(): void {
    const more = this.#count - mostAnnotations;
    if (more > 0)
      process.stderr.write(`::notice file=${escapeProperty(this.#path)}::and ${more} more rows\n`);
  }
}

/** Control characters, which must not reach a terminal either. */
const control = /[\u0000-\u001f\u007f-\u009f]/g;
const escapeText = (text: string): string =>
  text.replaceAll("%", "%25").replace(control, (character) => encodeURIComponent(character));
const escapeProperty = (text: string): string =>
  escapeText(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
