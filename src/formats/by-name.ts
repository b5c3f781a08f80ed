/** Derives the format of an output from its name. */
import { endingOf } from "../files/ending.js";
import { ChoiceError } from "../files/errors.js";

/** Formats that come back as the file that was read, with added cells. */
export type WorkbookFormat = "xlsx" | "xlsm";
export type NamedFormat = "csv" | "tsv" | "jsonl" | "json" | WorkbookFormat;

const written: ReadonlyMap<string, NamedFormat> = new Map([
  ["csv", "csv"],
  ["tsv", "tsv"],
  ["tab", "tsv"],
  ["jsonl", "jsonl"],
  ["ndjson", "jsonl"],
  ["json", "json"],
  ["xlsx", "xlsx"],
  ["xlsm", "xlsm"],
]);

const notWritten = new Set([
  ...["xls", "xlsb", "ods", "numbers", "feather", "arrow", "avro", "orc", "parquet"],
  ...["xml", "html", "htm", "pdf", "doc", "docx", "rtf", "yaml", "yml", "db", "sqlite", "vcf", "ldif"],
  ...["zip", "7z", "bz2", "xz", "br", "lz4", "rar", "tar", "tgz"],
]);

/**
 * Returns the format that a name asks for, compressed or not; undefined if the name gives no hint.
 *
 * @throws ChoiceError if the name asks for a format that cannot be written
 */
export function formatByName(path: string): NamedFormat | undefined {
  const name = endingOf(path);
  if (notWritten.has(name)) {
    throw new ChoiceError(`${path}: .${name} cannot be written; name it .csv, .tsv, .jsonl, .json or .xlsx`);
  }
  return written.get(name);
}

export const isArchiveName = (path: string): boolean => /\.zip$/i.test(path);

export const isWorkbook = (format: string | undefined): format is WorkbookFormat =>
  format === "xlsx" || format === "xlsm";
