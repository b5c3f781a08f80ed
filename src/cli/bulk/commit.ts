/** The fourth step of a bulk run: makes its files appear, in an order that loses no data when something fails. */

import { FileError } from "../../files/errors.js";
import type { InputFile } from "../../files/input.js";
import type { FileCopy, FileSink } from "../../files/output.js";
import type { TableSink } from "../../files/table-sink.js";

export const unchanged = (inputName: string): string => `${inputName}: nothing has changed; the file stays as it is`;

export interface Outputs {
  readonly input: Pick<InputFile, "hasChanged">;
  readonly inputName: string;
  readonly isInPlace: boolean;
  readonly sink: TableSink;
  readonly file?: Pick<FileSink, "isSame"> | undefined;
  readonly backup?: FileCopy | undefined;
  readonly badRowsFile?: TableSink | undefined;
  readonly note: (text: string) => void;
  /** Called when all is ready, before the first file appears. */
  readonly appear: () => Promise<void>;
}

/**
 * Slow work is done before the input is checked for changes, so that rows appended meanwhile are not lost. The backup
 * is a copy of the file that was read: if another run replaces that file meanwhile, both stay as they are. Returns true
 * if no byte of a replaced file would change; then its older backup stays, too. @throws FileError
 */
export async function commitOutputs(outputs: Outputs): Promise<boolean> {
  const { input, inputName, isInPlace, sink, file, backup, badRowsFile, note, appear } = outputs;
  await sink.prepare?.();
  await badRowsFile?.prepare?.();
  await backup?.prepare();
  if (await input.hasChanged()) {
    const what = `${inputName} has changed while it was read`;
    if (isInPlace) throw new FileError(`${what}; it is left as it is now; run again`);
    note(`${what}; rows that came later may be missing`);
  }
  const isUnchanged = isInPlace && (await file?.isSame?.()) === true;
  await appear();
  if (isUnchanged) {
    await backup?.discard();
    await sink.discard();
  } else {
    await backup?.commit();
    await sink.commit();
  }
  await badRowsFile?.commit();
  return isUnchanged;
}
