/** Removes and adds the quotes of a single field. Only for tables whose quote and escape character is `"`. */

/**
 * Returns the content of a field: without its quotes, and with each doubled quote inside them as one.
 *
 * Text after the closing quote makes the whole field plain text, quotes included: `"Lee, Ann" <ann@example.net>`.
 * Exception: if that text starts with a NUL or the comment character, the quotes are removed all the same. csv-parse,
 * the reference, does so too.
 *
 * @param binary the field with its quotes, a binary string
 * @param comment the character that starts a comment; null if the table has no comments
 * @returns a binary string
 */
export function unquote(binary: string, comment: string | null): string {
  if (!binary.startsWith('"')) return binary;
  const close = closeOf(binary);
  const inside = binary.slice(1, close - 1).replaceAll('""', '"');
  const next = binary[close];
  if (next === undefined || next === "\u0000" || next === comment) return inside + binary.slice(close);
  return `"${inside}"${binary.slice(close)}`;
}

/** Returns the index after the closing quote of a field that starts with one; its length if there is none. */
export const closeOf = (binary: string): number =>
  /^"[^"]*(?:""[^"]*)*"/.exec(binary)?.[0].length ?? binary.length;

/**
 * Quotes a field if it contains the delimiter, a quote or a line ending (RFC 4180 §2.5 to 2.7).
 *
 * @param field text or a binary string
 */
export function quoteField(field: string, delimiter: string): string {
  const needsQuotes = field.includes(delimiter) || /["\r\n]/.test(field);
  return needsQuotes ? `"${field.replaceAll('"', '""')}"` : field;
}

/**
 * Returns where the last fields of a record start, with the delimiter before them, if all of them are empty; undefined
 * otherwise.
 *
 * @param end index after the record
 * @param count number of last fields
 */
export function emptyTail(
  bytes: Uint8Array,
  end: number,
  count: number,
  delimiter: string | null,
): number | undefined {
  const code = delimiter?.charCodeAt(0);
  let start = end;
  for (let field = 0; field < count; field++) {
    const isQuoted = bytes[start - 1] === 0x22 && bytes[start - 2] === 0x22;
    start -= isQuoted ? 3 : 1;
    if (bytes[start] !== code) return undefined;
  }
  return start;
}
