/** Errors of files. They do not describe the content, which has its own errors. */
import { Fault, type FaultWords } from "../fault.js";

export class FileError extends Fault {
  override readonly name = "FileError";

  constructor(what: string, words: FaultWords = {}) {
    super(words.code ?? "file", what, words);
  }
}

/** The reader of the output has closed it, as in `idv ... | head`. */
export class ClosedPipe extends Error {
  override readonly name = "ClosedPipe";
}

/** An option that does not fit the file, such as a column that it lacks. */
export class ChoiceError extends Fault {
  override readonly name = "ChoiceError";

  constructor(what: string, words: FaultWords = {}) {
    super(words.code ?? "option", what, words);
  }
}

const readReasons: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  ENOTDIR: "no such file",
  ELOOP: "its links lead in a circle",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "is a folder",
  ENAMETOOLONG: "its name is too long",
};

const writeReasons: Readonly<Record<string, string>> = {
  ...readReasons,
  EROFS: "the file system is read-only",
  ENOENT: "the folder does not exist",
  ENOTDIR: "its folder is a file",
  EEXIST: "is a file",
  EBUSY: "is a mount point, which cannot be replaced",
  EXDEV: "is on a different device from its folder",
  EFBIG: "it would exceed the file size limit (ulimit -f)",
  ENOSPC: "no space left on the device",
  EDQUOT: "the disk quota is used up",
};

export function readFault(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return readReasons[code ?? ""] ?? message;
}

export function writeFault(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return writeReasons[code ?? ""] ?? message;
}

export function cannotWrite(path: string, error: unknown): Error {
  if (error instanceof FileError || error instanceof ClosedPipe) return error;
  if ((error as NodeJS.ErrnoException).code === "EPIPE") return new ClosedPipe(`${path}: was closed by its reader`);
  return new FileError(`${path}: cannot be written: ${writeFault(error)}`);
}
