/** Detects UTF-16, transcodes text to UTF-8, and reads lines in any encoding. Knows nothing of compression. */
import { isUtf8 } from "node:buffer";
import { lineFeed } from "../../core/ascii.js";
import { decodeWindows1252 } from "../../core/table/bytes.js";
import { ChoiceError, FileError } from "../../files/errors.js";

/** UTF-8 needs no transcoding, and UTF-32 is not supported. */
export function encodingByMark(start: Uint8Array): string | undefined {
  const isUtf32 = start[2] === 0 && start[3] === 0;
  if (start[0] === 0xff && start[1] === 0xfe) return isUtf32 ? undefined : "utf-16le";
  return start[0] === 0xfe && start[1] === 0xff ? "utf-16be" : undefined;
}

/** A byte order mark becomes a UTF-8 one. @throws FileError from the iteration */
export async function* transcode(name: string, decoder: TextDecoder, bytes: AsyncIterable<Uint8Array>) {
  let position = 0;
  const decode = (chunk?: Uint8Array): Buffer => {
    try {
      return Buffer.from(decoder.decode(chunk, { stream: chunk !== undefined }));
    } catch {
      throw new FileError(`${name}: not ${decoder.encoding} text, at or after byte ${position + 1}`, {
        advice: "pass the right --encoding",
        page: "save it as UTF-8",
      });
    }
  };
  for await (const chunk of bytes) {
    yield decode(chunk);
    position += chunk.length;
  }
  yield decode();
}

/** `encoding` is a WHATWG label. @throws ChoiceError when it is unknown */
export function createDecoder(encoding: string): TextDecoder {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  } catch {
    const meant = encodingMeant(encoding);
    throw new ChoiceError(
      `unknown encoding "${encoding}"${meant ? ` (did you mean ${meant}?)` : ""}; use utf-8, utf-16le, windows-1252, iso-8859-2, shift_jis or gbk, for example`,
    );
  }
}

function encodingMeant(name: string): string | undefined {
  // As programs of Windows and books call it.
  if (/^(?:ansi|latin)$/i.test(name)) return "windows-1252";
  const page = name.replace(/^\D*(125\d|874)$/, "windows-$1");
  const spellings = [page, name.replaceAll(/[_ ]/g, "-"), name.replaceAll(/[-_ ]/g, ""), name.replace(/(?=\d)/, "-")];
  return spellings.find((each) => {
    try {
      return new TextDecoder(each);
    } catch {
      return false;
    }
  });
}

/** Reads lines that are not UTF-8 as windows-1252, as cells are read. */
export function textOfLines(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  const hasMark = bytes.subarray(0, 3).toString() === "\ufeff";
  const lines = hasMark ? ["\ufeff"] : [];
  for (let start = hasMark ? 3 : 0; start < bytes.length; ) {
    const end = bytes.indexOf(lineFeed, start) + 1 || bytes.length;
    const line = bytes.subarray(start, end);
    lines.push(isUtf8(line) ? line.toString() : decodeWindows1252(line));
    start = end;
  }
  return lines.join("");
}
