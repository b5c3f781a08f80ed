/**
 * Work on a state in SQL, written once for SQLite and PostgreSQL. It is a generator that yields statements and receives their rows:
 * SQLite runs it without a pause inside a transaction, and PostgreSQL is sent all statements of a step at a time. Must not know what
 * the tables hold.
 *
 * In the texts, `?` stands for a parameter, and a word in braces for what differs: the name of a table, a lock, the clock. Each
 * dialect has its own words.
 */

/** Value of a parameter of a statement. */
export type Parameter = string | number | null | Uint8Array;

/** A statement and its parameters. */
export type Statement = readonly [text: string, ...parameters: readonly Parameter[]];

/** Statements that are sent together. */
interface Step {
  readonly statements: readonly Statement[];
  /** Whether the work goes on only when all of them have been answered. */
  readonly isAwaited: boolean;
}

/** Work that yields steps, receives the rows of each statement of a step, and returns a result. */
export type Work<Result> = Generator<Step, Result, readonly (readonly unknown[])[]>;

/** Runs statements, and returns the rows of each. */
export function* ask<Rows extends readonly (readonly unknown[])[]>(
  ...statements: readonly Statement[]
): Work<Rows> {
  return (yield { statements, isAwaited: true }) as Rows;
}

/** Runs statements whose rows do not matter. At the end of a transaction they are sent together with its COMMIT. */
export function* tell(...statements: readonly Statement[]): Work<void> {
  if (statements.length > 0) yield { statements, isAwaited: false };
}

/** The statement that reads the clock which decides about times: that of a database, as the clocks of its users differ. */
export const clock: Statement = ["{clock}"];

/** Milliseconds since the epoch, as {@link clock} returns them. */
export interface Clock {
  readonly now: number;
}

/** Returns placeholders for a list of parameters. */
export const listOf = (parameters: readonly unknown[]): string => parameters.map(() => "?").join(", ");

/**
 * Returns a statement that inserts rows.
 *
 * @param target the table and its columns
 * @param end what follows the rows, such as `ON CONFLICT ...`
 */
export const insertion = (target: string, rows: readonly (readonly Parameter[])[], end = ""): Statement => [
  `INSERT INTO ${target} VALUES ${rows.map((row) => `(${listOf(row)})`).join(", ")} ${end}`,
  ...rows.flat(),
];

/** How a database writes what differs. */
export interface Dialect {
  /** The words in braces. */
  readonly words: Readonly<Record<string, string>>;
  /** Returns the placeholder of a parameter, from 1. */
  readonly placeholder: (index: number) => string;
}

/** Returns a function that returns texts as a database reads them. */
export function translator({ words, placeholder }: Dialect): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    let translated = known.get(text);
    if (translated === undefined) {
      let index = 0;
      translated = text
        .replace(/\{(\w+)\}/g, (_, word: string) => words[word]!)
        .replace(/\?/g, () => placeholder(++index));
      // Texts with a list of rows are many, and need not be remembered.
      if (text.length < longestKnown) known.set(text, translated);
    }
    return translated;
  };
}

/** Length of the longest text that is remembered, in characters. */
export const longestKnown = 1000;
