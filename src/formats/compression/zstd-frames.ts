/** Cuts zstd data into pieces of limited size. Knows the frame format, but does not decompress anything. */

type Step =
  | { readonly read: number }
  | { readonly skip: number }
  | { readonly cut: "between blocks" | "between frames" };

/** A block decompresses to at most 128 KiB (RFC 8878 §3.1.1.2.4). */
const blocksInPiece = 16;

/** Reads frame headers (RFC 8878 §3). `read` gets its bytes, `cut` ends a piece. @throws Error for other bytes */
function* walkFrames(): Generator<Step, never, Buffer> {
  for (;;) {
    const magic = (yield { read: 4 }).readUInt32LE();
    if ((magic & 0xfffffff0) >>> 0 === 0x184d2a50) {
      yield { skip: (yield { read: 4 }).readUInt32LE() };
    } else if (magic === 0xfd2fb528) {
      const [descriptor = 0] = yield { read: 1 };
      const isSingleSegment = (descriptor & 0x20) !== 0;
      const contentSizeFlag = descriptor >> 6;
      const contentSizeBytes = contentSizeFlag === 0 ? Number(isSingleSegment) : 1 << contentSizeFlag;
      yield { skip: Number(!isSingleSegment) + [0, 1, 2, 4][descriptor & 3]! + contentSizeBytes };
      yield* walkBlocks();
      if ((descriptor & 4) !== 0) yield { skip: 4 };
    } else throw new Error("no zstd frame where one should start");
    yield { cut: "between frames" };
  }
}

function* walkBlocks(): Generator<Step, void, Buffer> {
  for (let blocks = 1, isLast = false; !isLast; blocks++) {
    const header = (yield { read: 3 }).readUIntLE(0, 3);
    const type = (header >> 1) & 3;
    if (type === 3) throw new Error("a block of an unknown type");
    isLast = (header & 1) === 1;
    // An RLE block (type 1) stores a single byte; its size field counts the repetitions (RFC 8878 §3.1.1.2.2).
    yield { skip: type === 1 ? 1 : header >> 3 };
    if (blocks % blocksInPiece === 0) yield { cut: "between blocks" };
  }
}

/**
 * Pieces decompress to at most 2 MiB, which the decompressor buffers, and end with their frame. It accepts truncated
 * frames silently, so these are detected here. @throws Error when the bytes are not whole frames
 */
export async function* zstdPieces(input: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const walk = walkFrames();
  let step: Step = walk.next().value;
  let header = Buffer.of();
  let done = 0;
  let isBetweenFrames = true;
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk);
    let start = 0;
    let position = 0;
    for (;;) {
      if ("cut" in step) {
        if (position > start) yield bytes.subarray(start, position);
        start = position;
        isBetweenFrames = step.cut === "between frames";
        step = walk.next(Buffer.of()).value;
        continue;
      }
      const size = "read" in step ? step.read : step.skip;
      const taken = bytes.subarray(position, position + size - done);
      position += taken.length;
      done += taken.length;
      if (taken.length > 0) isBetweenFrames = false;
      if ("read" in step) header = Buffer.concat([header, taken]);
      if (done < size) break;
      step = walk.next(header).value;
      header = Buffer.of();
      done = 0;
    }
    if (position > start) yield bytes.subarray(start, position);
  }
  if (!isBetweenFrames) throw new Error("cut off");
}
