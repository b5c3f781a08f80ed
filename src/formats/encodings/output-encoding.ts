/** Writes text in another encoding than UTF-8. */
import { ChoiceError, FileError } from "../../files/errors.js";
import type { TableSink } from "../../files/table-sink.js";

/** Encodings of Unicode, which have all characters and a byte order mark. */
const unicode = /^utf-?(?:8|16|32)/i;

/** Leaves out a byte order mark that the encoding (a WHATWG label) lacks. @throws ChoiceError, FileError on writing */
export async function encodeInto(name: string, sink: TableSink, encoding: string): Promise<TableSink> {
  const { default: iconv } = await import("iconv-lite");
  // `latin1` is windows-1252, as for the input.
  const target = new TextDecoder(encoding).encoding;
  if (!iconv.encodingExists(target)) throw new ChoiceError(`${target} cannot be written; use UTF-8`);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let isStart = true;
  const encoded = (bytes?: Uint8Array): Buffer => {
    let text = decoder.decode(bytes, { stream: bytes !== undefined });
    if (isStart && !unicode.test(target)) text = text.replace(/^\ufeff/, "");
    isStart &&= text === "";
    const found = iconv.encode(text, target, { addBOM: false });
    const back = iconv.decode(found, target, { stripBOM: false });
    if (back !== text) throw new FileError(`${name}: ${faultOf(text, back)} does not exist in ${target}; use UTF-8`);
    return found;
  };
  let isEnded = false;
  const prepare = async () => {
    if (!isEnded) {
      isEnded = true;
      const rest = encoded();
      if (rest.length > 0) await sink.write(rest);
    }
    await sink.prepare?.();
  };
  return {
    write: (bytes) => sink.write(encoded(bytes)),
    prepare,
    async commit() {
      await prepare();
      await sink.commit();
    },
    discard: () => sink.discard(),
  };
}

function faultOf(text: string, back: string): string {
  const [characters, others] = [[...text], [...back]];
  const character = characters.find((each, index) => each !== others[index]) ?? "";
  return `the character U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}`;
}
