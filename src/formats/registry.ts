/** The formats: which one a file is, by its first bytes, and which one a name asks for. */
import type { TableFormat } from "../core/table/records.js";
import { endingOf, isWritten } from "../files/ending.js";
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

export const tableEndings: ReadonlySet<string> = new Set([
  ...[...textFormats.keys(), "txt", "vcf", "ldif"],
  ...sheetFormats.flatMap(({ kinds }) => kinds),
]);

/** Undefined if the name gives no hint, or asks for sheets. @throws ChoiceError if it cannot be written */
export function formatByName(path: string): TableFormat | undefined {
  const name = endingOf(path);
  if (!isWritten(path)) {
    throw new ChoiceError(`${path}: .${name} cannot be written; name it .csv, .tsv, .jsonl, .json or .xlsx`);
  }
  return textFormats.get(name);
}

export const isContainerName = (path: string): boolean => /\.zip$/i.test(path) || sheetKindOf(path) !== undefined;
