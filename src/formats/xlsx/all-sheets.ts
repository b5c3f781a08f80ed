/** A workbook of which all sheets are wanted. It comes back in one pass, or not at all. */
import { buffer } from "node:stream/consumers";
import type { ItemProfile } from "../../core/table/sniff/item-profile.js";
import { FileError } from "../../files/errors.js";
import { found } from "../../files/found.js";
import { openInputFile } from "../../files/input.js";
import { type FileSink, openOutputFile } from "../../files/output.js";
import type { Container, ReturnedContainer } from "../format.js";
import { type Archive, type ChangedPart, inMemory, rebuilt } from "../zip/archive.js";
import { rebuiltInto } from "../zip/rebuilt-into.js";
import { bookPath } from "./sheet.js";
import { listSheets, openBook, sheetIn } from "./workbook.js";

/** @throws ChoiceError when it is not a workbook, FileError or TableError when it cannot be read */
export async function openAllSheets(
  path: string,
  name: string,
  profile: ItemProfile,
  signal: AbortSignal,
): Promise<Container> {
  const input = await openInputFile(path, signal);
  const { hasChanged, close } = input;
  const [size, read] = [input.size!, input.read!];
  const file = { length: size, read };
  /** The part that names the sheets, with the changes of all sheets so far. */
  const changed = new Map<string, Buffer>();
  try {
    const opened = await openBook(name, file, signal, changed);
    const { names, tables } = await listSheets(name, opened, profile, signal);
    let written: ReturnType<typeof returnedWorkbook> | undefined;
    return {
      ...{ name, within: "", format: opened.book.format, isOfSheets: true, names, tables, hasChanged, close },
      ...(opened.book.addColumns === undefined && {
        stays: "a template does not come back; write its sheets to a folder with -o FOLDER/",
      }),
      read: (sheet) => ({
        ...{ bytes: piecesOf(file), size, read, hasChanged, close: async () => {} },
        openSheet: (inputName) =>
          sheetIn(inputName, { ...opened, rebuild: written?.takeParts }, profile, sheet, signal),
      }),
      returnTo: async (target, sheets) => {
        // Opening a named pipe would wait for its reader.
        if (found(target)?.isFile() === false) {
          throw new FileError(`${target}: not a regular file, so it cannot get several sheets`);
        }
        const paths = await opened.book.changeable(sheets);
        const rebuild = (changes: AsyncIterable<ChangedPart>) => rebuilt(file, opened.parts, paths, changes);
        written = returnedWorkbook(await openOutputFile(target), rebuild, changed);
        return written.returned;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const pieceBytes = 65_536;

async function* piecesOf({ length, read }: Archive): AsyncGenerator<Buffer> {
  for (let at = 0; at < length; at += pieceBytes) yield read(at, Math.min(length, at + pieceBytes));
}

/** What a sheet changes in the part that names the sheets is kept in `changed`, where the next one finds it. */
function returnedWorkbook(
  file: FileSink,
  rebuild: (changes: AsyncIterable<ChangedPart>) => AsyncIterable<Uint8Array>,
  changed: Map<string, Buffer>,
) {
  const kept = () => Array.from(changed, ([path, bytes]) => ({ path, bytes: piecesOf(inMemory(bytes)) }));
  const { add, written, ...sink } = rebuiltInto(file, rebuild, kept);
  /** Yields nothing: the parts go into the file of all sheets. */
  async function* takeParts(parts: AsyncIterable<ChangedPart>): AsyncGenerator<never> {
    for await (const { path, bytes } of parts) {
      if (path === bookPath) changed.set(path, await buffer(bytes));
      else await Promise.race([written, new Promise<void>((resolve) => add({ path, bytes: withEnd(bytes, resolve) }))]);
    }
  }
  const returned: ReturnedContainer = {
    ...sink,
    isSame: async () => (await file.isSame?.()) === true,
    // A sheet comes as parts, not as bytes.
    partSink: () => ({
      write: () => Promise.reject(new Error("a sheet was written as bytes, not as parts")),
      ...{ commit: async () => {}, discard: async () => {} },
    }),
  };
  return { takeParts, returned };
}

async function* withEnd(bytes: AsyncIterable<Uint8Array>, onEnd: () => void): AsyncGenerator<Uint8Array> {
  yield* bytes;
  onEnd();
}
