/** Counts, sizes, shares and names as people read them. */

export const readFormats = "CSV, TSV, one item per line, JSON, JSON Lines, .xlsx, vCard or LDIF, also with gzip";

/** Control characters move the cursor, direction marks disguise a name, and there are line separators. */
const withoutMoves = (text: string, escaped: (character: string) => string): string =>
  /^[ -~]*$/.test(text) ? text : text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, escaped);

export function printable(text: string): string {
  const shown = withoutMoves(text, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
  return isForRunner ? withoutCommands(shown) : shown;
}

/** Returns JSON for a terminal: control characters that JSON allows are escaped, too. */
export const printableJson = (value: unknown): string =>
  JSON.stringify(value)
    .replace(/[\u007f-\u009f]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`)
    // The runner of GitHub Actions takes `##[` for a command.
    .replaceAll("##[", "##\\u005b");

let isForRunner = false;

/** Set where the runner of GitHub Actions reads standard error: no text from outside may become a command. */
export function printForRunner(isRunner: boolean): void {
  isForRunner = isRunner;
}

/** The runner takes `::command::` at the start of a line and `##[command]` anywhere (its ActionCommand.cs). */
const withoutCommands = (text: string): string =>
  text.replace(/^(\s*):(?=:)/, "$1\\u{3a}").replaceAll("##[", "##\\u{5b}");

const escapeText = (text: string): string => withoutMoves(text.replaceAll("%", "%25"), encodeURIComponent);
const escapeProperty = (text: string): string => escapeText(text).replaceAll(":", "%3A").replaceAll(",", "%2C");

/** https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands */
export function workflowCommand(
  level: "error" | "notice",
  text: string,
  { file, line }: { readonly file?: string | undefined; readonly line?: number | undefined } = {},
): string {
  const place = file === undefined ? "" : ` file=${escapeProperty(file)}${line === undefined ? "" : `,line=${line}`}`;
  return `::${level}${place}::${escapeText(text)}\n`;
}

export const failureLine = (text: string): string =>
  isForRunner ? workflowCommand("error", `idv: ${text}`) : `idv: ${printable(text)}\n`;

/** `2,000`. Not toLocaleString, which loads the data of all locales: a tenth of the time of a small run. */
export const grouped = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${grouped(count)} ${count === 1 ? one : many}`;

/** `12.5 %`; a share of nothing is `0.0 %`. */
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

export const linesText = ({ count, lines }: { readonly count: number; readonly lines: readonly number[] }): string =>
  `${count === 1 ? "line" : "lines"} ${lines.join(", ")}${count > lines.length ? " ..." : ""}`;

export const isUrl = (word: string): boolean => /^https?:\/\//i.test(word);

/** Whether a URL names a host, and no page of it. */
export const isHostUrl = (word: string): boolean => /^https?:\/\/[^/]+\/?$/i.test(word);

/** A word of a POSIX shell. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** A path that starts with a hyphen would be an option. */
export const pathWord = (path: string): string => (path.startsWith("-") ? `./${path}` : path);
