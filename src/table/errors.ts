/** A table that cannot be read or written as it is: where, what was found and what to do. */
export class TableError extends Error {
  override readonly name = "TableError";
}

/** A choice of the user's that does not fit this table, such as a column that it does not have. */
export class TableChoiceError extends Error {
  override readonly name = "TableChoiceError";
}

/** Whoever reads what we write has stopped: `idv ... | head`. */
export class ClosedPipe extends Error {
  override readonly name = "ClosedPipe";
}
