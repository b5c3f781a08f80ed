/**
 * The text of a field, in the encoding of its bytes: without its quotes if it has them, and two quotes inside as one.
 *
 * @param binary the field as it stands in the table, a binary string
 */
export function unquote(binary: string): string {
  if (!binary.startsWith('"')) return binary;
  const close = /^"[^"]*(?:""[^"]*)*"/.exec(binary)?.[0].length ?? binary.length;
  const inside = binary.slice(1, close - 1).replaceAll('""', '"');
  // csv-parse takes a NUL behind the closing quote for its end.
  if (close === binary.length || binary[close] === "\u0000") return inside + binary.slice(close);
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
