/** Faults of bad rows, and the actions on them: end the run, leave the row out, or write it without a status. */
import { TableError } from "./errors.js";

export type BadRowPolicy = "error" | "skip" | "keep";

const excerptBytes = 400;

export type FaultKind =
  | "too many fields"
  | "too few fields"
  | "out of step"
  | "open quote"
  | "over 64 MiB"
  | "not JSON"
  | "field name";

export class RowFault {
  constructor(
    readonly kind: FaultKind,
    readonly file: string,
    /** Line on which the row starts, from 1, as everywhere in src/core/table. */
    readonly line: number,
    readonly what: string,
    readonly more: {
      /** From 1, in bytes; only for faults inside a line of many records. */
      readonly column?: number;
      readonly advice?: string;
    } = {},
  ) {}

  get reason(): string {
    return this.more.advice === undefined ? this.what : `${this.what}; ${this.more.advice}`;
  }

  get message(): string {
    return `${this.#place}: ${this.reason}`;
  }

  get #place(): string {
    const { column } = this.more;
    return `${this.file}:${this.line}${column === undefined ? "" : `:${column}`}`;
  }

  toError(record?: Uint8Array): TableError {
    const start = record && Buffer.from(record.subarray(0, excerptBytes)).toString();
    const text = start?.split(/\r\n|\r|\n/)[0];
    const { column, advice } = this.more;
    return new TableError(`${this.#place}: ${this.what}`, {
      code: "row",
      at: { file: this.file, line: this.line, column },
      ...(advice !== undefined && { advice }),
      excerpt: text ? { line: this.line, text } : undefined,
    });
  }
}

/** `record` is cut after 64 MiB. */
export type BadRowListener = (fault: RowFault, record: Uint8Array) => void;

const linesOfKind = 3;

export class BadRowCounts {
  count = 0;
  readonly #kinds = new Map<FaultKind, { kind: FaultKind; count: number; lines: number[] }>();

  get kinds() {
    return [...this.#kinds.values()];
  }

  add({ kind, line }: RowFault): void {
    this.count++;
    const ofKind = this.#kinds.get(kind) ?? { kind, count: 0, lines: [] };
    this.#kinds.set(kind, ofKind);
    ofKind.count++;
    if (ofKind.lines.length < linesOfKind) ofKind.lines.push(line);
  }
}
