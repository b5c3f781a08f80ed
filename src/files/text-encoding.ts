import { TextDecoder } from "node:util";
import { TableChoiceError, TableError } from "../table/errors.js";

/** The encoding that a byte order mark stands for and that is not a superset of ASCII, if any. */
export function encodingByMark(start: Uint8Array): string | undefined {
  if (start[0] === 0xff && start[1] === 0xfe) return "utf-16le";
  return start[0] === 0xfe && start[1] === 0xff ? "utf-16be" : undefined;
}

/**
 * Makes UTF-8 of text in another encoding; a byte order mark stays one.
 *
 * @param name the file's name in errors, or `standard input`
 * @param encoding a label of the WHATWG Encoding Standard: `latin1`, `windows-1252`, `utf-16le`, `shift_jis` ...
 * @throws TableChoiceError when there is no such encoding
 * @throws TableError from the iteration, when the bytes are not text in it
 */
export function transcode(
  name: string,
  encoding: string,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const decoder = createDecoder(encoding);
  async function* transcoded() {
    let position = 0;
    const decode = (chunk?: Uint8Array): Buffer => {
      try {
        return Buffer.from(decoder.decode(chunk, { stream: chunk !== undefined }));
      } catch {
        throw new TableError(
          `${name}: not ${decoder.encoding} text, at byte ${position + 1} or behind it; name its --encoding`,
        );
      }
    };
    for await (const chunk of bytes) {
      yield decode(chunk);
      position += chunk.length;
    }
    yield decode();
  }
  return transcoded();
}

/** Whether tables in this encoding are read as they are. */
export function isUtf8(encoding: string): boolean {
  return createDecoder(encoding).encoding === "utf-8";
}

function createDecoder(encoding: string): TextDecoder {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  } catch {
    throw new TableChoiceError(
      `no encoding "${encoding}"; utf-8, utf-16le, windows-1252, iso-8859-2, shift_jis or gbk, for example`,
    );
  }
}
