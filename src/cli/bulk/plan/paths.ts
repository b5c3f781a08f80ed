/** Decides where the files of a run are: input, output, and the backup of a file that is replaced. */
import { existsSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { Kind } from "../../../core/validator/validator.js";
import { endingOf, writtenName } from "../../../files/ending.js";
import { FileError } from "../../../files/errors.js";
import { found, isDevicePath, resolvedPath } from "../../../files/found.js";
import type { InputFile } from "../../../files/input.js";
import type { Container } from "../../../formats/format.js";
import { formatByName, tableEndings } from "../../../formats/registry.js";
import { isHostUrl, isUrl, printable, shellWord } from "../../../text.js";
import { UsageError } from "../../errors.js";
import type { BulkOptions } from "../../options/bulk.js";
import { commandFor } from "../command-line.js";
import { missingFileHint } from "./missing-file.js";

export interface Input {
  readonly path: string;
  readonly member?: { readonly container: Container; readonly table: string } | undefined;
  readonly standardInput?: InputFile | string | undefined;
}

export interface FilePaths extends Pick<Input, "member" | "standardInput"> {
  /** Undefined for standard input; for a table in an archive, its name after that of the archive. */
  readonly input: string | undefined;
  /** Undefined for standard output and `--split`. */
  readonly output: string | undefined;
  /** Created if it is missing; set only if the user named no file in it. */
  readonly folder: string | undefined;
  /** The container that the table goes back into. */
  readonly returned?: { readonly path: string; readonly backup: string | undefined } | undefined;
  readonly isInPlace: boolean;
  readonly backup: string | undefined;
}

export function pathsOf(kind: Kind, inputs: readonly Input[], options: BulkOptions): readonly FilePaths[] {
  for (const { path, member } of inputs) {
    checkStays(member, options);
    if (/^[a-z][a-z\d+.-]+:\/\//i.test(path) && !existsSync(path)) throw isUrlNotFile(kind, path);
  }
  const files = inputs.filter(({ member }) => !member).map(({ path }) => path);
  const seen = new Set<string>();
  const twice = files.find((path) => seen.size === seen.add(resolve(path)).size);
  const { column = [], sheet = "" } = options;
  // The shell has put the names of files in the place of a star.
  const isOther = (value: string) =>
    files.length > 1 && (twice !== undefined || tableEndings.has(endingOf(value))) && existsSync(value);
  const starred = [...column, sheet].find((value) => files.includes(value) || isOther(value));
  if (starred !== undefined) throw new UsageError(`${printable(starred)}: is a file; a star needs quotes: "*"`);
  if (twice !== undefined) throw new UsageError(`${printable(twice)}: is named twice; leave out one of them`);
  const isSeveral = inputs.length > 1;
  const isReturned = checkReturned(inputs, options);
  // Which tables of an archive have items is not known yet.
  const isUndecided = options.output === undefined && inputs.every(({ member }) => member !== undefined);
  if (isSeveral && !isReturned && !isUndecided) checkSeveral(kind, inputs, options);
  if (options.inPlace !== undefined && inputs.some(({ path }) => path === "-")) {
    throw new UsageError("--in-place needs a FILE; standard input cannot be replaced");
  }
  const names = namesBelow(inputs.map(({ path }) => path));
  return inputs.map(({ path, member, standardInput }, i) => ({
    ...(member ? pathsOfTable(path, member, isSeveral, options) : pathsOfFile(path, names[i]!, isSeveral, options)),
    ...(standardInput && { standardInput }),
  }));
}

/** Whether the output is a file of the kind that is read, with its tables. @throws UsageError for one made of several */
function checkReturned(inputs: readonly Input[], { output }: BulkOptions): boolean {
  const containers = new Set(inputs.map(({ member }) => member?.container));
  const isFitting = [...containers].every((container) => container && canReturn(container, output));
  const advice = "write them to a folder with -o FOLDER/";
  if (isFitting && containers.size > 1)
    throw new UsageError(`${output}: tables of several files do not fit into one; ${advice}`);
  return isFitting;
}

const canReturn = ({ format, stays }: Container, output: string | undefined): boolean =>
  stays === undefined && output?.toLowerCase().endsWith(`.${format}`) === true;

type Member = NonNullable<Input["member"]>;

function checkStays(member: Member | undefined, { inPlace, output }: BulkOptions): void {
  const { name, format, stays } = member?.container ?? {};
  const isWanted = inPlace !== undefined || output?.toLowerCase().endsWith(`.${format}`);
  if (stays !== undefined && isWanted) throw new UsageError(`${name}: ${stays}`);
}

function pathsOfTable(path: string, member: Member, isSeveral: boolean, options: BulkOptions): FilePaths {
  const { output, inPlace, dryRun } = options;
  const { container, table } = member;
  const input = `${container.name}/${table}`;
  const paths = { input, member, folder: undefined, isInPlace: inPlace !== undefined, backup: undefined };
  if (inPlace !== undefined) return { ...paths, output: input, returned: { path, backup: backupOf(path, inPlace) } };
  if (output === undefined || output === "-") return { ...paths, output: undefined };
  if (canReturn(container, output)) {
    if (!dryRun && isSameFile(path, output)) throw isInput(output);
    return { ...paths, output: `${output}/${table}`, returned: { path: output, backup: undefined } };
  }
  if (!isSeveral && !isFolder(output)) return { ...paths, output };
  const file = asTable(join(output, ...namesIn(fileNameOf(path, member))));
  return { ...paths, output: file, folder: dirname(file) };
}

/** Tables that are only read, such as contacts, become CSV; other names that no table can have are refused. */
const asTable = (path: string): string => (tableEndings.has(endingOf(path)) ? writtenName(path) : path);

function fileNameOf(path: string, { container: { within, isOfSheets }, table }: Member): string {
  // Archives in archives become folders.
  const place = within.replace(/\.zip(?:\.gz|\.zst)?(?=\/|$)/gi, "");
  if (!isOfSheets) return `${place}/${table}`;
  const base = (place || basename(path)).replace(/\.\w+$/, "");
  return `${path === "-" && within === "" ? "" : `${base}-`}${table}.csv`;
}

/** Nothing is written outside of the folder, whatever the names in an archive are. */
const namesIn = (path: string): readonly string[] =>
  path
    .split(/[/\\]/)
    .filter((name) => !["", ".", ".."].includes(name))
    .map((name) => name.replaceAll(":", "_"));

function isUrlNotFile(kind: Kind, url: string): UsageError {
  let instead = isUrl(url) ? `curl -sSf ${shellWord(url)} | idv ${commandFor(kind)}` : "copy it to this machine first";
  const [, sheet] = /^https:\/\/docs\.google\.com\/spreadsheets\/d\/([\w-]+)/.exec(url) ?? [];
  const download = `https://docs.google.com/spreadsheets/d/${sheet}/export?format=csv`;
  if (sheet !== undefined) instead = `curl -sSfL ${shellWord(download)} | idv ${commandFor(kind)}`;
  const path = /^file:\/\/(?:localhost(?=\/))?(.+)$/i.exec(url)?.[1];
  if (path !== undefined) instead = `write ${shellWord(path)}`;
  if (kind === "domain" && isHostUrl(url)) instead = `to check a domain: idv check ${shellWord(url)}`;
  return new UsageError(`${printable(url)}: is a URL, and idv reads files: ${instead}`);
}

const isSameFile = (input: string, output: string): boolean =>
  !isDevicePath(output) && resolvedPath(output) === resolvedPath(input) && found(input)?.isFile() !== false;

const isInput = (output: string): UsageError =>
  new UsageError(`-o ${printable(output)}: is the input itself; to replace it, use -I, or -I.bak to keep the old one`);

function checkSeveral(kind: Kind, inputs: readonly Input[], options: BulkOptions): void {
  const { output, inPlace, split, dryRun } = options;
  if (inputs.some(({ path, member }) => path === "-" && !member))
    throw new UsageError("several files: standard input cannot be one of them");
  if (split !== undefined || dryRun) return;
  if (inPlace !== undefined || (output !== undefined && isFolder(output))) return;
  const paths = inputs.map(({ path }) => path);
  const missing = inputs.find(({ path, member }) => !member && !existsSync(path))?.path;
  if (missing === undefined && output !== undefined && !existsSync(output) && !/\.\w+$/.test(output))
    throw new UsageError(`-o ${printable(output)}: no such folder; to create it, write -o ${shellWord(`${output}/`)}`);
  if (missing === undefined) throw needPaths(inputs);
  const name = printable(missing);
  const among = meantAmong(paths, missing);
  if (among !== undefined) throw new UsageError(`${name}: no such file; ${among}`);
  const given = paths.map((path) => resolve(path));
  const hint = missingFileHint(missing, kind, given);
  const isSecond = paths.length === 2 && output === undefined && missing === paths[1];
  const isOutput = isSecond && /^[^=%]+\.\w+$/.test(missing) && (hint?.endsWith("?") ?? true);
  const toOutput = `if the output is meant, write -o ${shellWord(missing)}`;
  if (isOutput) throw new UsageError(`${name}: no such file; ${hint === undefined ? "" : `${hint} `}${toOutput}`);
  throw new FileError(`${name}: cannot be read: no such file${hint === undefined ? "" : `; ${hint}`}`);
}

/** What a word was meant to be by those around it. */
function meantAmong(words: readonly string[], missing: string): string | undefined {
  const at = words.indexOf(missing);
  const withBlank = [words.slice(at, at + 2), words.slice(Math.max(0, at - 1), at + 1)].map((two) => two.join(" "));
  const found = withBlank.find((path) => existsSync(path));
  if (found !== undefined) return `quote the name: ${shellWord(found)}`;
  return /^-\D/.test(missing) ? "options go in front of --" : undefined;
}

export function needPaths(inputs: readonly Pick<FilePaths, "member">[]): UsageError {
  const [container, ...others] = new Set(inputs.map(({ member }) => member?.container));
  const isOne = container !== undefined && others.length === 0;
  const tables = container?.isOfSheets ? "sheets" : "files";
  const what = isOne ? `the ${inputs.length} ${tables} of ${container.name}` : `${inputs.length} files`;
  const together = isOne ? `to one file with -o FILE.${container.format}, ` : "";
  const places = `write them to a folder with -o FOLDER/, ${together}or replace them with -I`;
  return new UsageError(`${what} cannot share one output: ${places}`);
}

/** Names in the folder of the outputs; where two files have one name, their paths below the folder that has all of them. */
function namesBelow(files: readonly string[]): readonly string[] {
  const names = files.map((path) => basename(path));
  if (new Set(names).size === names.length) return names;
  const paths = files.map((path) => resolve(path));
  const folder = paths.reduce((common, path) => {
    let above = common;
    while (!path.startsWith(join(above, sep)) && dirname(above) !== above) above = dirname(above);
    return above;
  }, dirname(paths[0]!));
  const below = paths.map((path) => relative(folder, path));
  // On two drives of Windows.
  return below.some(isAbsolute) ? names : below;
}

function pathsOfFile(file: string, name: string, isSeveral: boolean, options: BulkOptions): FilePaths {
  const { output: named, inPlace } = options;
  const input = file === "-" ? undefined : file;
  // On macOS, `sed -i .bak` is typed with a space.
  if (inPlace === "" && /^(?:\.\w+|bak|backup|old|orig|save)$/.test(file) && !existsSync(file)) {
    const suffix = file.startsWith(".") ? file : `.${file}`;
    throw new UsageError(`${file}: no such file; to keep the old files, write -I${suffix}, without a space`);
  }
  checkFormat(file, options);
  const paths = { input, folder: undefined, isInPlace: inPlace !== undefined, backup: backupOf(file, inPlace) };
  if (inPlace !== undefined) return { ...paths, output: input };
  const wanted = named === "-" ? undefined : named;
  const isNamed = wanted !== undefined && (isSeveral ? isFolder(wanted) : wanted.endsWith("/"));
  const folder = input !== undefined && isNamed ? wanted : undefined;
  const output = folder === undefined ? wanted : asTable(join(folder, name));
  if (input !== undefined && output !== undefined && isSameFile(input, output)) {
    throw isInput(output);
  }
  return { ...paths, output, folder: folder && dirname(output!) };
}

/** A file with another format than its name says would be read wrongly. */
function checkFormat(file: string, { inPlace, format }: BulkOptions): void {
  const named = inPlace === undefined || format === undefined ? format : formatByName(file);
  if (named === undefined || named === format) return;
  throw new UsageError(
    `--in-place: ${file} would have the format ${format}; write it with -o ${printable(`${file.replace(/\.[^./]*$/, "")}.${format}`)}`,
  );
}

const backupOf = (path: string, inPlace: string | undefined): string | undefined =>
  inPlace ? `${path}${inPlace}` : undefined;

const isFolder = (output: string): boolean => output.endsWith("/") || found(output)?.isDirectory() === true;

export function checkNotItself({ input, output }: FilePaths, { split, dryRun }: BulkOptions): void {
  if (output !== undefined || split !== undefined || dryRun) return;
  const from = found(input ?? 0);
  const to = found(1);
  if (from?.isFile() && from.ino === to?.ino && from.dev === to.dev) {
    const emptied = from.size === 0 ? ", which the shell has emptied" : "";
    const what = `standard output goes to the same file${emptied}`;
    throw new UsageError(`${input ?? "standard input"}: ${what}; to replace a file, use -I`);
  }
}
