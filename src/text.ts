/** Counts, sizes, shares and names as people read them. */

/** What lists may be, for whoever sends one. */
export const readFormats = "CSV, TSV, an item a line, JSON, JSON Lines, .xlsx, vCard or LDIF, also with gzip";

/**
 * Makes text from a file, a server or the command line safe to print. Control characters could move the cursor or
 * change colours, direction marks could disguise a name: these and line separators become visible escapes.
 */
export function printable(text: string): string {
  const shown = text.replace(
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
  return isForRunner ? withoutCommands(shown) : shown;
}

/** Returns a value as JSON for a terminal: control characters that JSON allows are escaped, too. */
export const printableJson = (value: unknown): string =>
  JSON.stringify(value)
    .replace(/[\u007f-\u009f]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`)
    // The runner of GitHub Actions takes `##[` for a command.
    .replaceAll("##[", "##\\u005b");

let isForRunner = false;

/** Prepares for standard error that the runner of GitHub Actions reads: no text from outside becomes a command. */
export function printForRunner(isRunner: boolean): void {
  isForRunner = isRunner;
}

/**
 * The runner takes `::command::` at the start of a line, after spaces, too, and `##[command]` anywhere in a line (its source,
 * ActionCommand.cs).
 */
const withoutCommands = (text: string): string =>
  text.replace(/^(\s*):(?=:)/, "$1\\u{3a}").replaceAll("##[", "##\\u{5b}");

/**
 * Groups the digits of a whole number in threes: `2,000`. toLocaleString would load the data of all locales, a tenth of
 * the time of a small run.
 */
export const grouped = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${grouped(count)} ${count === 1 ? one : many}`;

/** Returns a share with one decimal, such as `12.5 %`; that of nothing is `0.0 %`. */
export const percent = (part: number, whole: number): string =>
  `${whole === 0 ? "0.0" : ((100 * part) / whole).toFixed(1)} %`;

export function sizeOf(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let [size, unit] = [bytes, 0];
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000;
    unit++;
  }
  if (unit === 0) return counted(bytes, "byte");
  return `${size >= 10 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

/** Names the first lines of many: `lines 3, 5, 8 ...`. */
export const linesText = ({
  count,
  lines,
}: {
  readonly count: number;
  readonly lines: readonly number[];
}): string => `${count === 1 ? "line" : "lines"} ${lines.join(", ")}${count > lines.length ? " ..." : ""}`;
