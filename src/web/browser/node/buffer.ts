/** Replaces Node's `Buffer`, for idv alone. Copies bytes first: decoders of browsers refuse shared memory. */
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const pieceLength = 8192;
/** Up to this length, a loop is faster than a decoder. */
const shortLength = 48;

type Encoding = "utf8" | "latin1" | "base64";

/** Leaves out static functions of Uint8Array, which take other parameters. */
interface BytesConstructor {
  new (length: number): Uint8Array<ArrayBuffer>;
  new (bytes: ArrayLike<number>): Uint8Array<ArrayBuffer>;
  new (memory: ArrayBuffer, start?: number, length?: number): Uint8Array<ArrayBuffer>;
}

export class Buffer extends (Uint8Array as unknown as BytesConstructor) {
  static from(
    value: string | ArrayBufferLike | Iterable<number> | ArrayLike<number>,
    encodingOrStart?: Encoding | number,
    length?: number,
  ): Buffer {
    if (typeof value === "string") {
      if (encodingOrStart === "base64") return base64Bytes(value);
      return encodingOrStart === "latin1" ? latin1Bytes(value) : utf8Bytes(value);
    }
    if (isMemory(value)) return new Buffer(value as ArrayBuffer, encodingOrStart as number | undefined, length);
    return new Buffer(value as ArrayLike<number>);
  }

  static isBuffer(value: unknown): boolean {
    return value instanceof Buffer;
  }

  static compare(a: Uint8Array, b: Uint8Array): number {
    const at = a.findIndex((byte, i) => byte !== b[i]);
    return at === -1 ? Math.sign(a.length - b.length) : Math.sign(a[at]! - (b[at] ?? -1));
  }

  compare(other: Uint8Array, start = 0, end = other.length): number {
    return Buffer.compare(this, other.subarray(start, end));
  }

  static alloc(length: number): Buffer {
    return new Buffer(length);
  }

  static readonly allocUnsafe = Buffer.alloc;
  static readonly allocUnsafeSlow = Buffer.alloc;

  static byteLength(text: string): number {
    return encoder.encode(text).length;
  }

  static concat(parts: readonly Uint8Array[], length = parts.reduce((sum, { length }) => sum + length, 0)): Buffer {
    const all = new Buffer(length);
    let end = 0;
    for (const part of parts) {
      all.set(part, end);
      end += part.length;
    }
    return all;
  }

  override toString(encoding: Encoding = "utf8", start = 0, end = this.length): string {
    const bytes = super.subarray(start, Math.max(start, end));
    if (encoding === "base64") return btoa(latin1Text(bytes));
    return encoding === "latin1" ? latin1Text(bytes) : utf8Text(bytes);
  }

  override indexOf(value: number | string | Uint8Array, from = 0): number {
    if (typeof value === "number") return super.indexOf(value, from);
    const wanted = typeof value === "string" ? utf8Bytes(value) : value;
    const [first] = wanted;
    if (first === undefined) return from;
    for (let at = super.indexOf(first, from); at !== -1; at = super.indexOf(first, at + 1)) {
      let length = 1;
      while (length < wanted.length && this[at + length] === wanted[length]) length++;
      if (length === wanted.length) return at;
    }
    return -1;
  }

  override includes(value: number | string | Uint8Array, from = 0): boolean {
    return this.indexOf(value, from) !== -1;
  }

  equals(other: Uint8Array): boolean {
    return this.length === other.length && this.every((byte, i) => byte === other[i]);
  }

  copy(target: Uint8Array, targetStart = 0, start = 0, end = this.length): number {
    const bytes = super.subarray(start, Math.min(end, start + target.length - targetStart));
    target.set(bytes, targetStart);
    return bytes.length;
  }

  /** Takes where the text goes, the encoding, or both. */
  write(text: string, startOrEncoding: number | Encoding = 0, encoding: Encoding = "utf8"): number {
    const start = typeof startOrEncoding === "number" ? startOrEncoding : 0;
    const isLatin1 = encoding === "latin1" || startOrEncoding === "latin1";
    return (isLatin1 ? latin1Bytes(text) : utf8Bytes(text)).copy(this, start);
  }

  readUInt16LE(at: number): number {
    return this.#view.getUint16(at, true);
  }

  readUInt32LE(at: number): number {
    return this.#view.getUint32(at, true);
  }

  readInt32LE(at: number): number {
    return this.#view.getInt32(at, true);
  }

  writeUInt16LE(value: number, at: number): number {
    this.#view.setUint16(at, value, true);
    return at + 2;
  }

  writeUInt32LE(value: number, at: number): number {
    this.#view.setUint32(at, value, true);
    return at + 4;
  }

  get #view(): DataView {
    return new DataView(this.buffer, this.byteOffset, this.byteLength);
  }
}

export function isUtf8(bytes: Uint8Array): boolean {
  try {
    strictDecoder.decode(unshared(bytes));
    return true;
  } catch {
    return false;
  }
}

const isMemory = (value: object): boolean => /^(?:Shared)?ArrayBuffer$/.test(value.constructor.name);

const unshared = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes);

function utf8Bytes(text: string): Buffer {
  if (text.length <= shortLength) {
    const bytes = new Buffer(text.length);
    let i = 0;
    for (let code = 0; i < text.length && code < 0x80; i++) bytes[i] = code = text.charCodeAt(i);
    if (i === text.length && (i === 0 || text.charCodeAt(i - 1) < 0x80)) return bytes;
  }
  const { buffer, byteOffset, byteLength } = encoder.encode(text);
  return new Buffer(buffer, byteOffset, byteLength);
}

/** As lenient as Node.js: both alphabets; other characters are passed over, and padding ends the text. */
function base64Bytes(text: string): Buffer {
  const [digits = ""] = text.replaceAll("-", "+").replaceAll("_", "/").split("=");
  const known = digits.replace(/[^A-Za-z0-9+/]/g, "");
  return latin1Bytes(atob(known.length % 4 === 1 ? known.slice(0, -1) : known));
}

function latin1Bytes(text: string): Buffer {
  const bytes = new Buffer(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function latin1Text(bytes: Uint8Array): string {
  let text = "";
  for (let start = 0; start < bytes.length; start += pieceLength) {
    text += String.fromCharCode.apply(null, bytes.subarray(start, start + pieceLength) as unknown as number[]);
  }
  return text;
}

function utf8Text(bytes: Uint8Array): string {
  let isAscii = bytes.length <= shortLength;
  for (let i = 0; isAscii && i < bytes.length; i++) isAscii = bytes[i]! < 0x80;
  return isAscii ? latin1Text(bytes) : decoder.decode(unshared(bytes));
}
