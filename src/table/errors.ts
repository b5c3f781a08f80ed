/**
 * Error for tables that cannot be read or written. Errors about files and about the user's choices are in
 * files/errors.ts.
 */

/** Error about the content of a table. Its message says where, what was found and what to do. */
export class TableError extends Error {
  override readonly name = "TableError";
}
