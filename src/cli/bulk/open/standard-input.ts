/** Opens standard input, and copies archives, which are read from their end. */
import { devNull } from "node:os";
import { FileError } from "../../../files/errors.js";
import { found } from "../../../files/found.js";
import { type InputFile, readStream } from "../../../files/input.js";
import { isZipStart } from "../../../formats/compression/compression-format.js";
import { peek } from "../../../formats/encodings/decoding.js";
import { startBytes, uncompressedStart } from "../../../formats/file-start.js";
import { say } from "../../terminal/terminal.js";
import type { Resources } from "./resources.js";

/** Whether standard input is /dev/null, as in jobs of systemd: then a list was meant, and an empty one would be written. */
export function isNothing(): boolean {
  const own = found(0);
  return own?.isCharacterDevice() === true && own.rdev === found(devNull)?.rdev;
}

/** The path of a copy for archives and spreadsheet files. @throws FileError when it cannot be read or copied */
export async function openStandardInput(resources: Resources): Promise<InputFile | string> {
  if (found(0)?.isDirectory()) throw new FileError("standard input: is a folder; give a file");
  if (process.stdin.isTTY) say("reading standard input; Ctrl-D ends it");
  let { start, bytes } = await peek(readStream("standard input", process.stdin, resources.signal));
  let plain = await uncompressedStart(start);
  // A slow program may have written too little to tell.
  for (let read = 0; plain.length < 4 && start.length > read && start.length < startBytes; ) {
    read = start.length;
    ({ start, bytes } = await peek(bytes, read + 1));
    plain = await uncompressedStart(start);
  }
  if (isZipStart(plain)) return resources.copies.add("standard input", bytes);
  return { bytes, size: undefined, hasChanged: async () => false, close: async () => {} };
}
