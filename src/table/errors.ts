/**
 * Error for tables that cannot be read or written. Errors about files and about the user's choices are in
 * files/errors.ts.
 */

/** Error about the content of a table. Its message says where, what was found and what to do. */
export class TableError extends Error {
  override readonly name = "TableError";

  /** @param excerpt the line on which the bad row starts, from 1, and its text */
  constructor(
    message?: string,
    readonly excerpt?: { readonly line: number; readonly text: string },
  ) {
    super(message);
  }
}
