// Finds the files whose tables are files of a run: zip archives and, if all sheets are wanted, spreadsheet files; also
// compressed and in each other. What is inside is unpacked into private copies: archives are read from their end.
import type { ItemProfile } from "../core/table/sniff/item-profile.js";
import { Fault } from "../fault.js";
import { endingOf } from "../files/ending.js";
import { ChoiceError, FileError } from "../files/errors.js";
import { openInputFile } from "../files/input.js";
import type { PrivateCopies } from "../files/private-copy.js";
import { isZipStart } from "./compression/compression-format.js";
import { decodeInput } from "./encodings/decoding.js";
import { isCompressed, startOf } from "./file-start.js";
import type { Container } from "./format.js";
import { sheetKindOf, tableEndings } from "./registry.js";
import { type ArchiveFile, openArchive } from "./zip/archive-files.js";

/** A few bytes can stand for any depth. */
const mostNested = 4;

const officePart =
  /^(?:\[Content_Types\]\.xml|mimetype|xl\/workbook\..*|word\/document\.xml|Index\/Document\.iwa|Index\.zip)$/;

const toFolder = "write its tables to a folder with -o FOLDER/";
const stays = `an archive in another file is not put back; ${toFolder}`;

export interface ContainerChoices {
  readonly profile: ItemProfile;
  readonly allSheets: boolean;
  /** Whether the file comes back: then only its own tables are taken, and archives in it stay as they are. */
  readonly comesBack: boolean;
  readonly signal: AbortSignal;
  readonly atEnd: (close: () => Promise<void>) => Promise<void>;
  readonly onFault: (fault: Fault) => void;
  readonly copies: PrivateCopies;
}

/** None for a table itself. @throws FileError, TableError for unreadable files, ChoiceError for those without tables */
export async function containersIn(path: string, name: string, choices: ContainerChoices) {
  const containers = await containersAt({ path, name, within: "", depth: 0 }, choices);
  if (containers === undefined && choices.allSheets) {
    // A file that cannot be opened is a fault of its own.
    if (path !== "-") await (await openInputFile(path, choices.signal)).close();
    throw new ChoiceError(`${name}: --sheet "*" is for spreadsheet files, and this is not one`);
  }
  if (containers?.length === 0) throw new ChoiceError(`${name}: a zip archive without tables`);
  return containers ?? [];
}

interface Place {
  readonly path: string;
  readonly name: string;
  readonly within: string;
  readonly depth: number;
}

async function containersAt(place: Place, choices: ContainerChoices): Promise<readonly Container[] | undefined> {
  const { path, name, within, depth } = place;
  const start = await startOf(path);
  if (!isZipStart(start)) return undefined;
  const { profile, allSheets, signal, atEnd } = choices;
  if (sheetKindOf(name) !== undefined && !allSheets) return undefined;
  const archive = isCompressed(path) ? await unpackedCopy(place, choices) : path;
  const inner = { within, ...((depth > 0 || archive !== path) && { stays }) };
  const openBook = async () => {
    const { openAllSheets } = await import("./xlsx/all-sheets.js");
    const book = await openAllSheets(archive, name, profile, signal);
    await atEnd(book.close);
    return [{ ...book, ...inner }];
  };
  if (sheetKindOf(name) !== undefined) return openBook();
  const file = await openArchive(archive, name, signal);
  const has = (test: (part: string) => boolean) => file.parts.some((part) => test(part.name));
  const isOffice = has((part) => officePart.test(part));
  if (isOffice || (allSheets && !has(isContainer(allSheets)))) {
    await file.close();
    return allSheets ? openBook() : undefined;
  }
  await atEnd(() => file.close());
  if (depth === mostNested) throw new FileError(`${name}: archives are nested too deeply; unpack it`);
  const { found, opened, broken, left } = await containersOf(file, place, choices);
  const own = tablesOf(file, name, opened, inner);
  const isNothing = own.length + found.length === 0;
  if (isNothing && broken[0] !== undefined) throw broken[0];
  if (isNothing && left !== undefined) throw new ChoiceError(`${name}/${left}: ${stays}`);
  for (const fault of broken) choices.onFault(fault);
  return [...own, ...found];
}

function tablesOf(
  file: ArchiveFile,
  name: string,
  opened: ReadonlySet<string>,
  inner: Pick<Container, "within" | "stays">,
): readonly Container[] {
  const names = file.parts.map((part) => part.name).filter((part) => !part.endsWith("/") && !opened.has(part));
  // A spreadsheet file that could not be opened as its sheets fails as a table.
  const tables = names.filter((part) => isWanted(part) && tableEndings.has(endingOf(part)));
  refuseDoubles(name, tables);
  return tables.length === 0 ? [] : [{ ...file, ...inner, format: "zip", isOfSheets: false, names, tables }];
}

/** @throws ChoiceError when two parts have one name, by which they are read */
function refuseDoubles(name: string, parts: readonly string[]): void {
  const seen = new Set<string>();
  const twice = parts.find((part) => seen.size === seen.add(part).size);
  if (twice !== undefined) throw new ChoiceError(`${name}: two of its files are named ${twice}; unpack it`);
}

async function containersOf(file: ArchiveFile, { name, within, depth }: Place, choices: ContainerChoices) {
  const { allSheets, comesBack, copies, signal } = choices;
  const found: Container[] = [];
  const opened = new Set<string>();
  /** Of parts that stay as they are, and make the run fail when the others are done. */
  const broken: Fault[] = [];
  const parts = file.parts.map((part) => part.name).filter(isWanted);
  const containers = parts.filter(isContainer(allSheets));
  const book = containers.find((part) => sheetKindOf(part) !== undefined);
  if (comesBack && book !== undefined)
    throw new ChoiceError(
      `${name}/${book}: --sheet "*" is not for workbooks in an archive that comes back; ${toFolder}`,
    );
  const wanted = comesBack ? [] : containers;
  refuseDoubles(name, wanted);
  for (const part of wanted) {
    const inner = { name: `${name}/${part}`, within: `${within && `${within}/`}${part}`, depth: depth + 1 };
    try {
      const path = await copies.add(inner.name, file.read(part).bytes);
      const containers = (await containersAt({ ...inner, path }, choices)) ?? [];
      if (containers.length > 0) opened.add(part);
      found.push(...containers);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Fault)) throw error;
      // A workbook fails as a table, when its turn comes.
      if (sheetKindOf(part) === undefined) broken.push(error);
    }
  }
  return { found, opened, broken, left: comesBack ? containers[0] : undefined };
}

const isContainer =
  (allSheets: boolean) =>
  (part: string): boolean =>
    endingOf(part) === "zip" || (allSheets && sheetKindOf(part) !== undefined);

/** Hidden files, and what macOS adds to archives, are not tables. */
function isWanted(part: string): boolean {
  const base = part.slice(Math.max(part.lastIndexOf("/"), part.lastIndexOf("\\")) + 1);
  return base !== "" && !base.startsWith(".") && !part.startsWith("__MACOSX/");
}

async function unpackedCopy({ path, name }: Place, { signal, copies }: ContainerChoices): Promise<string> {
  const file = await openInputFile(path, signal);
  try {
    const { bytes } = await decodeInput(name, file.bytes, "utf-8");
    return await copies.add(name, bytes);
  } finally {
    await file.close();
  }
}
