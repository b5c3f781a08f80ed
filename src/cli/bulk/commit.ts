/** The fourth step of a bulk run: makes its files appear, in an order that loses no data when something fails. */

import { FileError } from "../../files/errors.js";
import type { InputFile } from "../../files/input.js";
import type { FileSink, ReplacedFile } from "../../files/output.js";
import type { TableSink } from "../../files/table-sink.js";

export const unchanged = (inputName: string): string => `${inputName}: nothing has changed; the file stays as it is`;

export interface Outputs {
  readonly input: Pick<InputFile, "hasChanged">;
  readonly inputName: string;
  readonly isInPlace: boolean;
  readonly sink: TableSink;
  readonly file?: Pick<FileSink, "isSame"> | undefined;
  readonly replaced?: ReplacedFile | undefined;
  readonly badRowsFile?: TableSink | undefined;
  readonly note: (text: string) => void;
  /** Called when all is ready, before the first file appears. */
  readonly appear: () => Promise<void>;
}

/**
 * Slow work is done before the input is checked for changes. A file that is replaced has a second name until then: it
 * shows what others append at the same moment, and the file is put back. Returns true if no byte of a replaced file
 * would change; then its older backup stays, too. @throws FileError
 */
export async function commitOutputs(outputs: Outputs): Promise<boolean> {
  const { input, inputName, isInPlace, sink, file, replaced, badRowsFile, note, appear } = outputs;
  const what = `${inputName} changed while it was read`;
  const isLate = () => new FileError(`${what}, so it is not replaced; run again`);
  await sink.prepare?.();
  await badRowsFile?.prepare?.();
  // It may be gone, and cannot be held then.
  if (isInPlace && (await input.hasChanged())) throw isLate();
  await replaced?.hold();
  // Some file systems give a second name another number.
  const isWatched = replaced?.heldAt !== undefined && !(await input.hasChanged(replaced.heldAt));
  const isUnchanged = isInPlace && (await file?.isSame?.()) === true;
  await appear();
  if (await input.hasChanged()) {
    if (isInPlace) throw isLate();
    note(`${what}; rows added since may be missing`);
  }
  if (isUnchanged) await sink.discard();
  else {
    await replaced?.commit();
    // A file that others have put in its place meanwhile is theirs.
    if (isInPlace && (await input.hasChanged())) {
      await replaced?.discard();
      throw isLate();
    }
    await sink.commit();
    if (isWatched && (await input.hasChanged(replaced.heldAt))) {
      await replaced.restore();
      throw isLate();
    }
  }
  await replaced?.discard();
  await badRowsFile?.commit();
  return isUnchanged;
}
