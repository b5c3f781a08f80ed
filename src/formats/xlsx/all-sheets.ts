/** Writes the sheets of a workbook one by one, as without `--sheet "*"`. A fault in a later one leaves no file. */

import type { ItemProfile } from "../../core/table/sniff/item-profile.js";
import { FileError } from "../../files/errors.js";
import { found } from "../../files/found.js";
import { openInputFile } from "../../files/input.js";
import { type FileSink, openOutputFile } from "../../files/output.js";
import type { TableSink } from "../../files/table-sink.js";
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
      return new ReturnedWorkbook(target, onWritten);
    },
  };
}

/** Each sheet is written with all others into a temporary file, from which the next one is read. */
class ReturnedWorkbook implements ReturnedContainer {
  readonly #target: string;
  readonly #onWritten: (path: string) => void;
  #last: FileSink | undefined;

  constructor(target: string, onWritten: (path: string) => void) {
    this.#target = target;
    this.#onWritten = onWritten;
  }

  async partSink(): Promise<TableSink> {
    const sink = await openOutputFile(this.#target);
    const commit = async () => {
      await sink.prepare?.();
      await this.#last?.discard();
      this.#last = sink;
      this.#onWritten(sink.temporary!);
    };
    return { ...sink, commit };
  }

  /** Takes no bytes: all are in sheets. */
  async write(): Promise<void> {}

  async prepare(): Promise<void> {
    await this.#last?.prepare?.();
  }

  async isSame(): Promise<boolean> {
    return (await this.#last?.isSame?.()) === true;
  }

  async commit(): Promise<void> {
    await this.#last?.commit();
  }

  async discard(): Promise<void> {
    await this.#last?.discard();
  }
}
