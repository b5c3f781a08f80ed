/** The port to where a table goes: a file, standard output, an archive, a sheet, a stream of a browser. */

/** Ended by `commit` or `discard`. A later `discard` is harmless. */
export interface TableSink {
  /** Byte written in place of each row that a filter removes; only one, because a blank line has no room for more. */
  readonly leftOut?: Uint8Array;
  /** The memory of the bytes may be reused when this resolves. @throws FileError @throws ClosedPipe */
  write(bytes: Uint8Array): Promise<void>;
  /** The part of a commit that is slow or may run out of space. Nothing appears yet. `commit` calls it if needed. */
  prepare?(): Promise<void>;
  commit(): Promise<void>;
  /** Removes the output of a failed run and leaves an older output untouched. Does not throw. */
  discard(): Promise<void>;
}

interface Conversion {
  write(bytes: Uint8Array): Promise<void>;
  /** Writes what is left. Called once. */
  end(): Promise<void>;
  stop?(): Promise<void>;
}

/** A sink in front of `sink`, into which the conversion writes. */
export function converting(sink: TableSink, { write, end, stop }: Conversion): TableSink {
  let ended: Promise<void> | undefined;
  const prepare = async () => {
    ended ??= end();
    await ended;
    await sink.prepare?.();
  };
  return {
    write,
    prepare,
    async commit() {
      await prepare();
      await sink.commit();
    },
    async discard() {
      await stop?.();
      await sink.discard();
    },
  };
}

export async function writeAll(pieces: AsyncIterable<Uint8Array>, sink: Pick<TableSink, "write">): Promise<void> {
  for await (const piece of pieces) await sink.write(piece);
}

/** Commits what `write` has written, or leaves nothing. @throws the errors of the sink and of `write` */
export async function writeWhole(sink: TableSink, write: () => Promise<void>): Promise<void> {
  try {
    await write();
    await sink.commit();
  } catch (error) {
    await sink.discard();
    throw error;
  }
}

/** One file per status. Bytes written to the sink itself, that is, the header, start each file. */
export interface SplitSink extends TableSink {
  paths(): readonly string[];
  /** Statuses may share a file: their names have other characters than those of files. */
  nameOf(status: string): string;
  /** Opened at the first call. */
  of(name: string): Promise<TableSink>;
}

export function isSplit(sink: TableSink): sink is SplitSink {
  return "of" in sink;
}
