/** Turns the raw bytes of an input file into text that the table reader can parse. */
import { isUtf8 } from "node:buffer";
import { ChoiceError } from "../../files/errors.js";
import { type Compression, compressionByMagic } from "../compression/compression-format.js";
import { createDecoder, encodingByMark, transcode } from "./text-encoding.js";

export interface DecodedInput {
  /** In UTF-8 or another superset of ASCII. */
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly compression: Compression | undefined;
  /** Uncompressed; at least four bytes unless the input is shorter. */
  readonly start: Uint8Array;
  /** Undefined when the input needed no transcoding. */
  readonly encoding: string | undefined;
  /** Whether `auto` found none, and the bytes are not UTF-8. */
  readonly isUnsure: boolean;
}

/**
 * A named `encoding` beats the byte order mark, but not what is certainly UTF-8, unless `isForced`; `auto` guesses.
 * @throws ChoiceError, FileError for damaged bytes
 */
export async function decodeInput(
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  encoding?: string,
  isForced = false,
): Promise<DecodedInput> {
  const isGuessed = encoding === "auto";
  const isNamed = encoding !== undefined && !isGuessed && createDecoder(encoding).encoding !== "utf-8";
  const raw = await peek(bytes);
  const compression = compressionByMagic(raw.start);
  const peeked = compression
    ? await peek((await import("../compression/compression.js")).decompress(name, compression, raw.bytes))
    : raw;
  const marked = encoding === undefined || isGuessed ? encodingByMark(peeked.start) : undefined;
  const plain = isGuessed && marked === undefined ? await sampled(peeked) : await checked(peeked);
  const found = isNamed ? encoding : (marked ?? plain.guess);
  const text = found === undefined ? plain.bytes : transcode(name, createDecoder(found), plain.bytes);
  const isUnsure = plain.isUnsure === true && found === undefined;
  return { bytes: text, compression, start: plain.start, encoding: found, isUnsure };

  async function checked({ start, bytes }: Peeked): Promise<Peeked> {
    if (!isNamed || isForced) return { start, bytes };
    const all = await peek(bytes, sampleBytes);
    if (isOtherUtf8(Buffer.from(all.start), encoding)) {
      throw new ChoiceError(`${name}: is UTF-8, not ${encoding}`, {
        advice: "leave out --encoding, or pass --force",
        page: "choose UTF-8",
      });
    }
    return { start, bytes: all.bytes };
  }
}

/**
 * Whether text is UTF-8 and would be garbled: it has characters beyond ASCII and is to be of one byte each, or it is to
 * be UTF-16 and has no NUL. Characters of two bytes, as of GBK, may be UTF-8 by chance.
 */
function isOtherUtf8(start: Buffer, encoding: string): boolean {
  const lineEnd = start.lastIndexOf(0x0a) + 1 || start.length;
  const lines = start.subarray(0, lineEnd);
  if (lines.length === 0 || !isUtf8(lines)) return false;
  const { encoding: name } = createDecoder(encoding);
  if (name.startsWith("utf-16")) return !lines.includes(0);
  return /^(?:windows-|iso-8859-|koi8-|ibm|mac|x-mac)/.test(name) && lines.some((byte) => byte >= 0x80);
}

const sampleBytes = 65_536;

async function sampled({ start, bytes }: Peeked): Promise<Peeked> {
  const { guessEncoding } = await import("../../core/table/sniff/guess-encoding.js");
  const all = await peek(bytes, sampleBytes);
  const lines = Buffer.from(all.start);
  const isUnsure = !isUtf8(lines.subarray(0, lines.lastIndexOf(0x0a) + 1 || lines.length));
  return { start, bytes: all.bytes, guess: guessEncoding(all.start), isUnsure };
}

interface Peeked {
  readonly start: Uint8Array;
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly guess?: string | undefined;
  /** Whether it is not UTF-8. */
  readonly isUnsure?: boolean;
}

/** Longest signature: a zstd magic number. */
const markBytes = 4;

/** Returns at least `length` bytes from the start, unless there are fewer, and all bytes. */
export async function peek(bytes: AsyncIterable<Uint8Array>, length = markBytes): Promise<Peeked> {
  const input = bytes[Symbol.asyncIterator]();
  let start = Buffer.of();
  let next = await input.next();
  while (!next.done && start.length + next.value.length < length) {
    start = Buffer.concat([start, next.value]);
    next = await input.next();
  }
  const before = start;
  const first = next;
  async function* all() {
    try {
      if (before.length > 0) yield before;
      for (let each = first; !each.done; each = await input.next()) yield each.value;
    } finally {
      await input.return?.();
    }
  }
  const most = Math.max(length, sampleBytes);
  return { start: first.done ? before : Buffer.concat([before, first.value.subarray(0, most)]), bytes: all() };
}
