/** Writes text in an encoding, also lines of the input that are not UTF-8. */
import { isUtf8 } from "node:buffer";
import { ChoiceError, FileError } from "../../files/errors.js";
import { converting, type TableSink } from "../../files/table-sink.js";
import { createDecoder, textOfLines } from "./text-encoding.js";

/** Encodings of Unicode, which have all characters and a byte order mark. */
const unicode = /^utf-?(?:8|16|32)/i;

/** Leaves out a byte order mark that the encoding (a WHATWG label) lacks. @throws ChoiceError, FileError on writing */
export async function encodeInto(name: string, sink: TableSink, encoding: string): Promise<TableSink> {
  const { default: iconv } = await import("iconv-lite");
  // `latin1` is windows-1252, as for the input.
  const target = createDecoder(encoding).encoding;
  if (!iconv.encodingExists(target)) throw new ChoiceError(`${target} cannot be written; use UTF-8`);
  let cut = Buffer.of();
  let isStart = true;
  const encoded = (bytes: Uint8Array = Buffer.of(), isEnd = false): Buffer => {
    const own = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const all = cut.length === 0 ? own : Buffer.concat([cut, own]);
    const end = all.length - (isEnd ? 0 : cutBytes(all));
    cut = Buffer.from(all.subarray(end));
    const whole = all.subarray(0, end);
    if (target === "utf-8" && isUtf8(whole)) return whole;
    let text = textOfLines(whole);
    if (isStart && !unicode.test(target)) text = text.replace(/^\ufeff/, "");
    isStart &&= text === "";
    const found = iconv.encode(text, target, { addBOM: false });
    const back = iconv.decode(found, target, { stripBOM: false });
    if (back !== text) throw new FileError(`${name}: ${faultOf(text, back)} does not exist in ${target}; use UTF-8`);
    return found;
  };
  return converting(sink, {
    write: (bytes) => sink.write(encoded(bytes)),
    async end() {
      const rest = encoded(undefined, true);
      if (rest.length > 0) await sink.write(rest);
    },
  });
}

/** Number of bytes at the end of the last character, if others of it are missing (RFC 3629). */
function cutBytes(bytes: Buffer): number {
  for (let count = 1; count <= Math.min(3, bytes.length); count++) {
    const byte = bytes[bytes.length - count]!;
    if (byte >= 0x80 && byte < 0xc0) continue;
    return byte >= 0xc0 && (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > count ? count : 0;
  }
  return 0;
}

function faultOf(text: string, back: string): string {
  const characters = [...text];
  const others = [...back];
  const character = characters.find((each, index) => each !== others[index]) ?? "";
  return `the character U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}`;
}
