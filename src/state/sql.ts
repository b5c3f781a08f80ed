/**
 * Work on a state in SQL, written once for SQLite and PostgreSQL: a generator that yields statements and receives their
 * rows. SQLite runs it without a pause inside a transaction; PostgreSQL receives all statements of a step at once. A
 * query builder could do neither. In the texts, `?` is a parameter, and a word in braces is replaced by the dialect.
 */

export const schemaVersion = 2;

export type Parameter = string | number | null | Uint8Array;

export type Statement = readonly [text: string, ...parameters: readonly Parameter[]];

interface Step {
  readonly statements: readonly Statement[];
  readonly isAwaited: boolean;
}

export type Work<Result> = Generator<Step, Result, readonly (readonly unknown[])[]>;

export function* ask<Rows extends readonly (readonly unknown[])[]>(...statements: readonly Statement[]): Work<Rows> {
  return (yield { statements, isAwaited: true }) as Rows;
}

/** Sends statements whose rows are not needed; at the end of a transaction, together with its COMMIT. */
export function* tell(...statements: readonly Statement[]): Work<void> {
  if (statements.length > 0) yield { statements, isAwaited: false };
}

/** Milliseconds since the epoch. A shared database uses its own clock, as the clocks of its users differ. */
export const clock: Statement = ["{clock}"];

export interface Clock {
  readonly now: number;
}

export const listOf = (parameters: readonly unknown[]): string => parameters.map(() => "?").join(", ");

/** `end` is a clause after the rows, such as `ON CONFLICT ...`. */
export const insertion = (target: string, rows: readonly (readonly Parameter[])[], end = ""): Statement => [
  `INSERT INTO ${target} VALUES ${rows.map((row) => `(${listOf(row)})`).join(", ")} ${end}`,
  ...rows.flat(),
];

interface Dialect {
  /** Every other word is a table. */
  readonly words: Readonly<Record<string, string>>;
  readonly tableOf: (word: string) => string;
  /** The first has index 1. */
  readonly placeholder: (index: number) => string;
}

export function translator({ words, tableOf, placeholder }: Dialect): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    let translated = known.get(text);
    if (translated === undefined) {
      let index = 0;
      translated = text
        .replace(/\{(\w+)\}/g, (_, word: string) => words[word] ?? tableOf(word))
        .replace(/\?/g, () => placeholder(++index));
      // Texts with a list of rows vary too much to be cached.
      if (text.length < longestKnown) known.set(text, translated);
    }
    return translated;
  };
}

export const longestKnown = 1000;
