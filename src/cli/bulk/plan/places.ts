/** Decides where the files of a run are: input, output, and the backup of a file that is replaced. */
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { found } from "../../../files/found.js";
import { UsageError } from "../../errors.js";
import type { BulkOptions } from "../../options/bulk.js";
import { printable } from "../../terminal/terminal.js";
import { isSameFile } from "./targets.js";

export interface Places {
  /** Undefined for standard input. */
  readonly input: string | undefined;
  /** Undefined for standard output and `--split`. */
  readonly output: string | undefined;
  /** Folder of the output, created if it is missing; set only if the user named no file in it. */
  readonly folder: string | undefined;
  readonly isInPlace: boolean;
  readonly backup: string | undefined;
}

/**
 * @param files paths of the inputs; none, or `-` alone, for standard input
 * @throws UsageError when several files have no separate outputs, or an input would be overwritten
 */
export function placesOf(files: readonly string[], options: BulkOptions): readonly Places[] {
  if (files.length > 1) checkSeveral(files, options);
  return (files.length === 0 ? ["-"] : files).map((file) => placesOfFile(file, files.length > 1, options));
}

function checkSeveral(files: readonly string[], { output, inPlace, split, dryRun }: BulkOptions): void {
  if (files.includes("-")) throw new UsageError("several files: standard input cannot be one of them");
  if (split !== undefined || dryRun) return;
  if (inPlace === undefined && (output === undefined || !isFolder(output))) {
    throw new UsageError(
      `${files.length} files need a place each: write them to a folder with -o FOLDER/, or replace them with -I`,
    );
  }
}

function placesOfFile(file: string, isSeveral: boolean, { output: named, inPlace }: BulkOptions): Places {
  const input = file === "-" ? undefined : file;
  const isInPlace = inPlace !== undefined;
  if (isInPlace && input === undefined) {
    throw new UsageError("--in-place needs a FILE; standard input cannot be replaced");
  }
  // On macOS, `sed -i .bak` is typed with a space.
  if (inPlace === "" && /^\.\w+$/.test(file) && !existsSync(file)) {
    throw new UsageError(`${file}: no such file; to keep the old files, write -I${file}, without a space`);
  }
  if (isInPlace) {
    return {
      input,
      output: input,
      folder: undefined,
      isInPlace,
      backup: inPlace === "" ? undefined : `${input}${inPlace}`,
    };
  }
  const wanted = named === "-" ? undefined : named;
  const isNamed = wanted !== undefined && (isSeveral ? isFolder(wanted) : wanted.endsWith("/"));
  const folder = input !== undefined && isNamed ? wanted : undefined;
  const output = folder === undefined ? wanted : join(folder, basename(input!));
  if (input !== undefined && output !== undefined && isSameFile(input, output)) {
    throw new UsageError(
      `-o ${printable(output)}: is the input itself; to replace it, use -I, or -I.bak to keep the old one`,
    );
  }
  return { input, output, folder, isInPlace, backup: undefined };
}

const isFolder = (output: string): boolean => output.endsWith("/") || found(output)?.isDirectory() === true;

/** @throws UsageError when standard output is the input, which the shell has emptied by then */
export function checkNotItself({ input, output }: Places, { split, dryRun }: BulkOptions): void {
  if (input === undefined || output !== undefined || split !== undefined || dryRun) return;
  const [from, to] = [found(input), found(1)];
  if (from?.isFile() && from.ino === to?.ino && from.dev === to.dev) {
    throw new UsageError(
      `${input}: standard output goes to the same file, which the shell has emptied; to replace a file, use -I`,
    );
  }
}
