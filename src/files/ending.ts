/** The endings of names of files. */

/** Whether a report of this name is a page, or one that is printed. */
export const isPage = (path: string): boolean => !isMarkdown(path) && !["json", "svg"].includes(endingOf(path));

export const isMarkdown = (path: string): boolean => /\.(?:md|markdown)$/i.test(path);

/** In lower case, ignoring that of a compression; empty if there is none. */
export function endingOf(path: string): string {
  const [, ending = ""] = /\.([^./\\]+)(?:\.(?:gz|zst))?$/i.exec(path) ?? [];
  return ending.toLowerCase();
}

/** Of files that are no tables, or of tables that are only read. */
const notWritten = new Set([
  ...["xls", "xlsb", "ods", "numbers", "feather", "arrow", "avro", "orc", "parquet"],
  ...["xml", "html", "htm", "pdf", "doc", "docx", "rtf", "odt", "ppt", "pptx", "yaml", "yml", "vcf", "ldif"],
  ...["md", "markdown", "7z", "bz2", "xz", "br", "lz4", "rar", "tar", "tgz", "zip"],
  ...["png", "jpg", "jpeg", "gif", "svg", "webp", "sql", "db", "sqlite", "js", "ts", "py", "sh", "exe", "eml", "mbox"],
]);

/** Whether a table can have this name: false for other files, and for tables that are only read. */
export const isWritten = (path: string): boolean => !notWritten.has(endingOf(path));

/** Returns a name that ends in .csv in the place of one that no table can have, also if it is compressed. */
export const writtenName = (path: string): string =>
  isWritten(path) ? path : path.replace(/\.\w+(?:\.(?:gz|zst))?$/i, ".csv");

/** Returns the name of a derived table: `data/list-clean.csv.gz` for `data/list.csv.gz`. */
export function nameWith(path: string, word: string): string {
  const [, stem = path, ending = ""] = /^(.*?[^/])((?:\.[^./]+)(?:\.(?:gz|zst))?)?$/is.exec(writtenName(path)) ?? [];
  return `${stem}-${word}${ending}`;
}
