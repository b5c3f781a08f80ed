/** Errors of files as such. They say nothing about the content, which has errors of its own. */

/** A file that cannot be read or written. The message says where, what is wrong and what to do. */
export class FileError extends Error {
  override readonly name = "FileError";
}

/** The reader of the output has closed it, as in `idv ... | head`. */
export class ClosedPipe extends Error {
  override readonly name = "ClosedPipe";
}

/** An option that does not fit the file, such as a column that it lacks. */
export class ChoiceError extends Error {
  override readonly name = "ChoiceError";
}
