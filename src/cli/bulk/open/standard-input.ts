/** Opens standard input, and copies archives, which are read from their end, to a file. */
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { cannotWrite, FileError } from "../../../files/errors.js";
import { found } from "../../../files/found.js";
import { type InputFile, readStream } from "../../../files/input.js";
import { newPrivateFolder, removeAbandonedFolders } from "../../../files/temporary-files.js";
import { isZipStart } from "../../../formats/zip/zip-start.js";
import { say } from "../../terminal/terminal.js";
import type { Resources } from "./resources.js";

/**
 * Waits for the first bytes of standard input.
 *
 * @returns standard input, or the path of a copy if it is a zip archive or a spreadsheet file
 * @throws FileError when it cannot be read or copied
 */
export async function openStandardInput(resources: Resources): Promise<InputFile | string> {
  if (found(0)?.isDirectory()) throw new FileError("standard input: is a folder; give a file");
  if (process.stdin.isTTY) say("reading standard input; Ctrl-D ends it");
  const rest = readStream("standard input", process.stdin, resources.signal);
  const first = await rest.next();
  async function* bytes() {
    if (first.done) return;
    yield first.value;
    yield* rest;
  }
  if (!first.done && isZipStart(first.value)) return copyOf(bytes(), resources);
  return { bytes: bytes(), size: undefined, hasChanged: async () => false, close: async () => {} };
}

/** Returns the path of a copy that only this user can read, and that is removed when the run ends. */
async function copyOf(bytes: AsyncIterable<Uint8Array>, resources: Resources): Promise<string> {
  await removeAbandonedFolders();
  try {
    const folder = await newPrivateFolder();
    await resources.atEnd(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, "input");
    const file = await open(path, "wx", 0o600);
    try {
      for await (const piece of bytes) await file.writeFile(piece);
    } finally {
      await file.close();
    }
    return path;
  } catch (error) {
    resources.signal.throwIfAborted();
    if (error instanceof FileError) throw error;
    throw cannotWrite("a copy of standard input", error);
  }
}
