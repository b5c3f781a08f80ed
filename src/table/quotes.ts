/**
 * The text of a field, in the encoding of its bytes: without its quotes if it has them, and two quotes inside as one.
 *
 * Text after the closing quote makes all of it plain text, quotes included: `"Lee, Ann" <ann@example.net>`. Where the first
 * character of that text is a NUL or starts comments, csv-parse takes the quote for a closing one all the same; so does
 * this, because csv-parse is the reference.
 *
 * @param binary the field as it stands in the table, a binary string
 * @param comment what a line of comment starts with; null when there are none
 */
export function unquote(binary: string, comment: string | null): string {
  if (!binary.startsWith('"')) return binary;
  const close = /^"[^"]*(?:""[^"]*)*"/.exec(binary)?.[0].length ?? binary.length;
  const inside = binary.slice(1, close - 1).replaceAll('""', '"');
  const next = binary[close];
  if (next === undefined || next === "\u0000" || next === comment) return inside + binary.slice(close);
  return `"${inside}"${binary.slice(close)}`;
}

/**
 * A field as it is written: in quotes where it has to be (RFC 4180 §2.5 to 2.7).
 *
 * @param field text or a binary string
 */
export function quoteField(field: string, delimiter: string): string {
  const needsQuotes = field.includes(delimiter) || /["\r\n]/.test(field);
  return needsQuotes ? `"${field.replaceAll('"', '""')}"` : field;
}
