/** The port to where a table goes: a file, standard output, an archive, a sheet, a stream of a browser. */

/** Destination of a table. Ended by `commit` or `discard`. A later `discard` is harmless. */
export interface TableSink {
  /**
   * Byte written in place of each row that a filter removes; none by default. Only one, because a blank line has no
   * room for more.
   */
  readonly leftOut?: Uint8Array;
  /**
   * Writes bytes. Their memory may be reused when this resolves.
   *
   * @throws FileError when they cannot be written
   * @throws ClosedPipe when the reader has closed the output
   */
  write(bytes: Uint8Array): Promise<void>;
  /**
   * Does the part of a commit that is slow or may run out of space. The output does not appear yet. `commit` calls this
   * itself if needed.
   */
  prepare?(): Promise<void>;
  commit(): Promise<void>;
  /** Removes the output of a failed run and leaves an older output untouched. Does not throw. */
  discard(): Promise<void>;
}

/**
 * A sink with one file per status. Bytes written to the sink itself, that is, the header, become the start of each
 * file.
 */
export interface SplitSink extends TableSink {
  /** Returns the files so far, with those of earlier tables. */
  paths(): readonly string[];
  /** Returns the file for the rows of a status. Opens it at the first call. */
  of(status: string): Promise<TableSink>;
}

export function isSplit(sink: TableSink): sink is SplitSink {
  return "of" in sink;
}
