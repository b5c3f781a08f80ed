/** The formats: which one a file is, by its first bytes, and which one a name asks for. */
import type { TableFormat } from "../core/table/records.js";
import { endingOf } from "../files/ending.js";
import { ChoiceError } from "../files/errors.js";
import type { Refusals, SheetFormat, SheetKind } from "./format.js";
import { spreadsheets } from "./xlsx/format.js";

const sheetFormats: readonly SheetFormat[] = [spreadsheets];

export const textRefuses: Refusals = { sheet: "--sheet is for spreadsheet files, and this is not one" };

export const sheetFormatOf = (start: Uint8Array): SheetFormat | undefined =>
  sheetFormats.find((format) => format.starts(start));

export const formatOfKind = (kind: SheetKind): SheetFormat => sheetFormats.find(({ kinds }) => kinds.includes(kind))!;

export const sheetKind = (name: string): SheetKind | undefined =>
  sheetFormats.flatMap(({ kinds }) => kinds).find((kind) => kind === name);

export const sheetKindOf = (path: string): SheetKind | undefined => sheetKind(endingOf(path));

const textFormats = new Map<string, TableFormat>(
  Object.entries({ csv: "csv", tsv: "tsv", tab: "tsv", jsonl: "jsonl", ndjson: "jsonl", json: "json" } as const),
);

const notWritten = new Set([
  ...["xls", "xlsb", "ods", "numbers", "feather", "arrow", "avro", "orc", "parquet"],
  ...["xml", "html", "htm", "pdf", "doc", "docx", "rtf", "yaml", "yml", "db", "sqlite", "vcf", "ldif"],
  ...["zip", "7z", "bz2", "xz", "br", "lz4", "rar", "tar", "tgz"],
]);

interface TableEnding {
  /** Whether files of other things have it, too. */
  readonly isVague: boolean;
  readonly isWritten: boolean;
}

export const tableEndings: ReadonlyMap<string, TableEnding> = new Map(
  [...textFormats.keys(), "txt", "vcf", "ldif", ...sheetFormats.flatMap(({ kinds }) => kinds)].map((ending) => [
    ending,
    { isVague: ["txt", "json"].includes(ending), isWritten: !["vcf", "ldif"].includes(ending) },
  ]),
);

/** Undefined if the name gives no hint, or asks for sheets. @throws ChoiceError if it cannot be written */
export function formatByName(path: string): TableFormat | undefined {
  const name = endingOf(path);
  if (notWritten.has(name)) {
    throw new ChoiceError(`${path}: .${name} cannot be written; name it .csv, .tsv, .jsonl, .json or .xlsx`);
  }
  return textFormats.get(name);
}

export const isContainerName = (path: string): boolean => /\.zip$/i.test(path) || sheetKindOf(path) !== undefined;
