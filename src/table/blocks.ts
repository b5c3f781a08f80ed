/** Large enough that handing a block to another thread costs little, small enough to stay in a processor's cache. */
const blockBytes = 262_144;
/** Rows that come one by one through a pipe go out one by one. */
const pauseMilliseconds = 50;

const [lf, cr] = [0x0a, 0x0d];

/** Some bytes of a table. */
export interface Block {
  readonly bytes: Buffer;
  /** The input pauses behind it: what waits for more should not. */
  readonly isBeforePause: boolean;
}

/**
 * The bytes in blocks that end behind a line end; only the last may end otherwise, and one in which no line ends. Before
 * a pause it may be empty. Each is good until the next is asked for.
 */
export async function* blocksOf(input: AsyncIterator<Uint8Array>): AsyncGenerator<Block> {
  let buffer = Buffer.allocUnsafeSlow(2 * blockBytes);
  let length = 0;
  let reading: Promise<IteratorResult<Uint8Array>> | undefined;
  let mayPause = false;
  try {
    for (;;) {
      reading ??= input.next();
      const read: IteratorResult<Uint8Array> | undefined = await (mayPause ? orPause(reading) : reading);
      if (read?.done) break;
      if (read !== undefined) {
        reading = undefined;
        if (length + read.value.length > buffer.length) {
          buffer = Buffer.concat([buffer.subarray(0, length)], 2 * (length + read.value.length));
        }
        buffer.set(read.value, length);
        length += read.value.length;
      }
      mayPause = read !== undefined;
      if (mayPause && length < blockBytes) continue;
      const end = lineEndIn(buffer.subarray(0, length)) || (mayPause ? length : 0);
      yield { bytes: buffer.subarray(0, end), isBeforePause: !mayPause };
      buffer.copyWithin(0, end, length);
      length -= end;
    }
    if (length > 0) yield { bytes: buffer.subarray(0, length), isBeforePause: true };
  } finally {
    // A read that nothing comes for would hold up the end.
    const ended = input.return?.();
    if (reading === undefined) await ended;
  }
}

/** What is read, or undefined when the input pauses. */
function orPause<Read>(reading: Promise<Read>): Promise<Read | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const pause = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), pauseMilliseconds);
  });
  return Promise.race([reading, pause]).finally(() => clearTimeout(timer));
}

/** The index behind the last line end; 0 when there is none. A CR at the very end may be half of a CRLF. */
function lineEndIn(bytes: Buffer): number {
  const lastLf = bytes.lastIndexOf(lf);
  return lastLf !== -1 ? lastLf + 1 : bytes.lastIndexOf(cr, bytes.length - 2) + 1;
}
