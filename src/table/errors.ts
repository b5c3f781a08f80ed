/**
 * Error for tables that cannot be read or written. Errors about files and about the user's choices are in
 * files/errors.ts.
 */

export class TableError extends Error {
  override readonly name = "TableError";

  constructor(
    message?: string,
    readonly excerpt?: { readonly line: number; readonly text: string },
  ) {
    super(message);
  }
}
