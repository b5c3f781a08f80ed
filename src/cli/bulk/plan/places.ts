/** Decides where the files of a run are: input, output, and the backup of a file that is replaced. */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { ArchivePart } from "../../../files/archive.js";
import type { ArchiveFile, ReturnedArchive } from "../../../files/archive-files.js";
import { isArchiveName } from "../../../files/format-by-name.js";
import { found } from "../../../files/found.js";
import type { InputFile } from "../../../files/input.js";
import type { FileCopy } from "../../../files/output.js";
import { UsageError } from "../../errors.js";
import type { BulkOptions } from "../../options/bulk.js";
import { printable } from "../../terminal/terminal.js";
import { isSameFile } from "./targets.js";

/** An archive with tables that are files of a run. */
export interface OpenedArchive {
  readonly file: ArchiveFile;
  readonly tables: readonly ArchivePart[];
  /** The archive that gets the tables as they come out of the run. */
  returned?: ReturnedArchive;
  backup?: FileCopy | undefined;
}

export interface Input {
  /** `-` for standard input. */
  readonly path: string;
  /** The table in the archive at that path. */
  readonly member?: { readonly archive: OpenedArchive; readonly part: ArchivePart };
  /** Standard input, or the path of a copy of it. */
  readonly standardInput?: InputFile | string | undefined;
}

export interface Places extends Pick<Input, "member" | "standardInput"> {
  /** Undefined for standard input; for a table in an archive, its name behind that of the archive. */
  readonly input: string | undefined;
  /** Undefined for standard output and `--split`. */
  readonly output: string | undefined;
  /** Folder of the output, created if it is missing; set only if the user named no file in it. */
  readonly folder: string | undefined;
  readonly isInPlace: boolean;
  readonly backup: string | undefined;
}

/**
 * @throws UsageError when several files have no separate outputs, or an input would be overwritten
 */
export function placesOf(inputs: readonly Input[], options: BulkOptions): readonly Places[] {
  const isSeveral = inputs.length > 1;
  const isArchive = checkArchiveOutput(inputs, options);
  // Which tables of an archive have items is not known yet.
  const isUndecided = options.output === undefined && inputs.every(({ member }) => member !== undefined);
  if (isSeveral && !isArchive && !isUndecided) checkSeveral(inputs, options);
  return inputs.map(({ path, member, standardInput }) => ({
    ...(member ? placesOfTable(path, member, isSeveral, options) : placesOfFile(path, isSeveral, options)),
    ...(standardInput && { standardInput }),
  }));
}

/**
 * Returns whether the output is a zip archive.
 *
 * @throws UsageError when it is, and the input is none
 */
function checkArchiveOutput(inputs: readonly Input[], { output }: BulkOptions): boolean {
  if (output === undefined || !isArchiveName(output)) return false;
  const archives = new Set(inputs.map(({ member }) => member?.archive));
  if (archives.has(undefined)) return false;
  if (archives.size > 1) {
    throw new UsageError(
      `${output}: one archive cannot have the tables of several; write them to a folder with -o FOLDER/`,
    );
  }
  return true;
}

function placesOfTable(
  path: string,
  member: NonNullable<Input["member"]>,
  isSeveral: boolean,
  { output, inPlace, dryRun }: BulkOptions,
): Places {
  const input = `${member.archive.file.name}/${member.part.name}`;
  if (inPlace !== undefined && path === "-") throw notReplaceable();
  const places = { input, member, folder: undefined, isInPlace: inPlace !== undefined, backup: undefined };
  if (inPlace !== undefined) return { ...places, output: input };
  if (output === undefined || output === "-") return { ...places, output: undefined };
  if (isArchiveName(output)) {
    if (!dryRun && isSameFile(path, output)) throw isInput(output);
    return { ...places, output: `${output}/${member.part.name}` };
  }
  if (!isSeveral && !isFolder(output)) return { ...places, output };
  // Nothing is written outside of the folder, whatever the names in the archive are.
  const names = member.part.name.split(/[/\\]/).filter((name) => !["", ".", ".."].includes(name));
  const file = join(output, ...names.map((name) => name.replaceAll(":", "_")));
  return { ...places, output: file, folder: dirname(file) };
}

const notReplaceable = (): UsageError =>
  new UsageError("--in-place needs a FILE; standard input cannot be replaced");

const isInput = (output: string): UsageError =>
  new UsageError(
    `-o ${printable(output)}: is the input itself; to replace it, use -I, or -I.bak to keep the old one`,
  );

function checkSeveral(inputs: readonly Input[], { output, inPlace, split, dryRun }: BulkOptions): void {
  if (inputs.some(({ path, member }) => path === "-" && !member))
    throw new UsageError("several files: standard input cannot be one of them");
  if (split !== undefined || dryRun) return;
  if (inPlace === undefined && (output === undefined || !isFolder(output))) {
    throw needPlaces(inputs);
  }
}

export function needPlaces(inputs: readonly Pick<Places, "member">[]): UsageError {
  const [path, ...others] = new Set(inputs.map(({ member }) => member?.archive.file.name));
  const isOne = path !== undefined && others.length === 0;
  const what = isOne ? `the ${inputs.length} tables of ${path}` : `${inputs.length} files`;
  const places = `write them to a folder with -o FOLDER/, ${isOne ? "to an archive with -o FILE.zip, " : ""}or replace`;
  return new UsageError(`${what} need a place each: ${places} them with -I`);
}

function placesOfFile(file: string, isSeveral: boolean, { output: named, inPlace }: BulkOptions): Places {
  const input = file === "-" ? undefined : file;
  const isInPlace = inPlace !== undefined;
  if (isInPlace && input === undefined) {
    throw notReplaceable();
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
    throw isInput(output);
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
