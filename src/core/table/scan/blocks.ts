/** Regroups a table into blocks of whole lines for the scanner. Must not know about quotes or records. */
import { carriageReturn, lineFeed } from "../../ascii.js";
import { Pause } from "./pause.js";

/** In bytes: large enough to hand to a worker cheaply, small enough for a core's cache. */
const usualBytes = 524_288;
/** Milliseconds in which a block may fill. Then rows that arrive slowly through a pipe are passed on. */
const pauseMilliseconds = 50;

export interface Block {
  readonly bytes: Buffer;
  /** Whether the input pauses or ends after this block: then rows that wait for more should be written. */
  readonly isBeforePause: boolean;
}

export interface BlockOptions {
  readonly blockBytes?: number | undefined;
  readonly endsAtPauses?: boolean | undefined;
  readonly ahead?: Uint8Array;
}

/**
 * Blocks end after a line ending, never within a CRLF; only the last one, and one without any, may not. A block before
 * a pause may be empty. Each is valid until the next one is requested.
 */
export async function* blocksOf(
  input: AsyncIterator<Uint8Array>,
  { blockBytes = usualBytes, endsAtPauses = false, ahead = Buffer.of() }: BlockOptions = {},
): AsyncGenerator<Block> {
  let buffer = Buffer.of();
  let length = 0;
  let reading: Promise<IteratorResult<Uint8Array>> | undefined;
  let rest = ahead;
  let pause = new Pause(pauseMilliseconds);
  if (!endsAtPauses) pause.end();
  try {
    for (;;) {
      let isBeforePause = false;
      if (rest.length === 0) {
        reading ??= input.next();
        const read: IteratorResult<Uint8Array> | undefined = await pause.orResult(reading);
        if (read?.done) break;
        isBeforePause = read === undefined;
        if (read !== undefined) {
          reading = undefined;
          rest = read.value;
        }
      }
      // The ends of blocks must not depend on the pieces in which the bytes arrive, only on bytes and pauses.
      const taken = rest.subarray(0, length < blockBytes ? blockBytes - length : blockBytes);
      rest = rest.subarray(taken.length);
      if (length + taken.length > buffer.length) {
        buffer = Buffer.concat([buffer.subarray(0, length)], 2 * (length + taken.length));
      }
      buffer.set(taken, length);
      length += taken.length;
      if (!isBeforePause && length < blockBytes) {
        if (pause.isEnded && endsAtPauses) pause = new Pause(pauseMilliseconds);
        continue;
      }
      pause.end();
      const end = lineEndIn(buffer.subarray(0, length)) || (isBeforePause ? 0 : withoutCr(buffer, length));
      yield { bytes: buffer.subarray(0, end), isBeforePause };
      buffer.copyWithin(0, end, length);
      length -= end;
      // After a pause, the time runs from the next bytes.
      if (!isBeforePause && endsAtPauses) pause = new Pause(pauseMilliseconds);
    }
    const end = lineEndIn(buffer.subarray(0, length));
    if (end > 0) yield { bytes: buffer.subarray(0, end), isBeforePause: false };
    if (end < length) yield { bytes: buffer.subarray(end, length), isBeforePause: true };
  } finally {
    pause.end();
    // While a read is pending, the input may never finish closing: do not wait for it.
    const ended = input.return?.();
    if (reading === undefined) await ended;
  }
}

const withoutCr = (bytes: Buffer, length: number): number =>
  bytes[length - 1] === carriageReturn ? length - 1 : length;

function lineEndIn(bytes: Buffer): number {
  const lastLf = bytes.lastIndexOf(lineFeed);
  return lastLf !== -1 ? lastLf + 1 : bytes.lastIndexOf(carriageReturn, bytes.length - 2) + 1;
}
