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
  let pause = new Pause();
  try {
    for (;;) {
      reading ??= input.next();
      const read: IteratorResult<Uint8Array> | undefined = await pause.orResult(reading);
      if (read?.done) break;
      if (read !== undefined) {
        reading = undefined;
        if (length + read.value.length > buffer.length) {
          buffer = Buffer.concat([buffer.subarray(0, length)], 2 * (length + read.value.length));
        }
        buffer.set(read.value, length);
        length += read.value.length;
      }
      const isBeforePause = read === undefined;
      if (!isBeforePause && length < blockBytes) {
        if (pause.isEnded) pause = new Pause();
        continue;
      }
      pause.end();
      const end = lineEndIn(buffer.subarray(0, length)) || (isBeforePause ? 0 : withoutCr(buffer, length));
      yield { bytes: buffer.subarray(0, end), isBeforePause };
      buffer.copyWithin(0, end, length);
      length -= end;
      // Behind a pause, the next one is counted from what comes next.
      if (!isBeforePause) pause = new Pause();
    }
    if (length > 0) yield { bytes: buffer.subarray(0, length), isBeforePause: true };
  } finally {
    pause.end();
    // A read that nothing comes for would hold up the end.
    const ended = input.return?.();
    if (reading === undefined) await ended;
  }
}

/** A pause of the input, counted from when it is made, until it is ended. */
class Pause {
  isEnded = false;
  readonly #over: Promise<undefined>;
  #stop = () => {};

  constructor() {
    this.#over = new Promise((resolve) => {
      const timer = setTimeout(() => resolve(undefined), pauseMilliseconds);
      this.#stop = () => clearTimeout(timer);
    });
  }

  /** What is read; undefined when the time is over before. */
  orResult<Read>(reading: Promise<Read>): Promise<Read | undefined> {
    return this.isEnded ? reading : Promise.race([reading, this.#over]);
  }

  end(): void {
    this.isEnded = true;
    this.#stop();
  }
}

/** A CR at the very end may be half of a CRLF, which has to stay together. */
const withoutCr = (bytes: Buffer, length: number): number => (bytes[length - 1] === cr ? length - 1 : length);

/** The index behind the last line end; 0 when there is none. A CR at the very end may be half of a CRLF. */
function lineEndIn(bytes: Buffer): number {
  const lastLf = bytes.lastIndexOf(lf);
  return lastLf !== -1 ? lastLf + 1 : bytes.lastIndexOf(cr, bytes.length - 2) + 1;
}
