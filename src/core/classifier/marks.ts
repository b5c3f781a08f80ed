/** Characters that programs and people leave around and inside addresses: one list for all who remove them. */

// Invisible characters (Z, Cc, Cf, Default_Ignorable_Code_Point), punctuation, accents of their own, and full-width
// angle brackets and ornamental quotes, which are symbols in Unicode.
const isMark = (character: string): boolean => /^[\p{Z}\p{Cc}\p{Cf}\p{DI}\p{P}\p{Sk}＜＞❛-❞]$/u.test(character);

export const apostrophes = /[´ʼ‘’′＇]/g;

export const hidden =
  /(?![\u200c\u200d])[\p{Cf}\p{DI}]|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])/gu;

export type Span = { readonly start: number; readonly end: number };

/** Keeps ESC, which starts a longer sequence. */
export const withoutMarks = (text: string, span: Span): Span =>
  trimmedBy(
    text,
    span,
    (character) => (character <= " " && character !== "\x1b") || (character >= "\x7f" && isMark(character)),
  );

export const withoutBlanks = (text: string, span: Span): Span =>
  trimmedBy(text, span, (character) => " \t\n\v\f\r".includes(character));

function trimmedBy(text: string, { start, end }: Span, isLeftOut: (character: string) => boolean): Span {
  let from = start;
  let to = end;
  for (let next = ""; from < to; from += next.length) {
    next = String.fromCodePoint(text.codePointAt(from)!);
    if (!isLeftOut(next)) break;
  }
  for (let last = ""; to > from; to -= last.length) {
    last = text.slice(Math.max(from, to - 2), to);
    if (last.codePointAt(0)! <= 0xffff) last = last.slice(-1);
    if (!isLeftOut(last)) break;
  }
  return { start: from, end: to };
}
