/** Writes the sheets of a workbook one by one, as without `--sheet "*"`. A fault in a later one leaves no file. */
import type { ItemProfile } from "../../core/table/sniff/item-profile.js";
import { FileError } from "../../files/errors.js";
import { found } from "../../files/found.js";
import { openInputFile } from "../../files/input.js";
import { type FileSink, openOutputFile } from "../../files/output.js";
import type { Container, ReturnedContainer } from "../format.js";
import { listSheets } from "./workbook.js";

/** @throws ChoiceError when it is not a workbook, FileError or TableError when it cannot be read */
export async function openAllSheets(
  path: string,
  name: string,
  profile: ItemProfile,
  signal: AbortSignal,
): Promise<Container> {
  const { read, size, hasChanged, close } = await openInputFile(path, signal);
  const { format, names, tables } = await listSheets(name, { length: size!, read: read! }, profile, signal).catch(
    async (error: unknown) => {
      await close();
      throw error;
    },
  );
  let current = path;
  const onWritten = (written: string) => {
    current = written;
  };
  return {
    name,
    within: "",
    format,
    isOfSheets: true,
    names,
    tables,
    hasChanged,
    close,
    read: () => openInputFile(current, signal),
    returnTo: async (target) => {
      // Opening a named pipe would wait for its reader.
      if (found(target)?.isFile() === false) {
        throw new FileError(`${target}: not a regular file, so it cannot get several sheets`);
      }
      return returnedWorkbook(target, onWritten);
    },
  };
}

/** Each sheet is written with all others into a temporary file, from which the next one is read. */
function returnedWorkbook(target: string, onWritten: (path: string) => void): ReturnedContainer {
  let last: FileSink | undefined;
  return {
    async partSink() {
      const sink = await openOutputFile(target);
      const commit = async () => {
        await sink.prepare?.();
        await last?.discard();
        last = sink;
        onWritten(sink.temporary!);
      };
      return { ...sink, commit };
    },
    /** Takes no bytes: all are in sheets. */
    write: async () => {},
    prepare: async () => last?.prepare?.(),
    isSame: async () => (await last?.isSame?.()) === true,
    commit: async () => last?.commit(),
    discard: async () => last?.discard(),
  };
}
