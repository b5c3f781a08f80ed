/**
 * The characters that programs and people leave around and inside addresses. One list for all: the items in values, the
 * syntax, the suggestions and `--fix`. Knows single characters only.
 */

/**
 * Beyond ASCII: what cannot be seen, that is, white space, controls, joiners, directions and the like (the Unicode categories Z,
 * Cc and Cf and the property Default_Ignorable_Code_Point); punctuation and accents of their own; angle brackets of full width and
 * ornamental quotes, which are symbols in Unicode.
 */
const mark = /^[\p{Z}\p{Cc}\p{Cf}\p{DI}\p{P}\p{Sk}＜＞❛-❞]$/u;

/** Apostrophes that text processors and phones write in place of `'`, as in `o’hara@example.net`. */
export const apostrophes = /[´ʼ‘’′＇]/g;

/** Characters that cannot be seen inside a word, but for joiners between letters that need them. */
export const hidden =
  /(?![\u200c\u200d])[\p{Cf}\p{DI}]|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])/gu;

export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns a part of a text without the invisible characters and the typographic marks at its ends. ESC stays, which starts a longer
 * sequence.
 */
export const withoutMarks = (text: string, span: Span): Span =>
  trimmedBy(
    text,
    span,
    (character) =>
      (character <= " " && character !== "\x1b") || (character >= "\x7f" && mark.test(character)),
  );

/** Returns a part of a text without white space of ASCII at its ends. */
export const withoutBlanks = (text: string, span: Span): Span =>
  trimmedBy(text, span, (character) => " \t\n\v\f\r".includes(character));

function trimmedBy(text: string, { start, end }: Span, isLeftOut: (character: string) => boolean): Span {
  let [from, to] = [start, end];
  for (let next = ""; from < to; from += next.length) {
    next = String.fromCodePoint(text.codePointAt(from)!);
    if (!isLeftOut(next)) break;
  }
  for (let last = ""; to > from; to -= last.length) {
    // One character, or two that are a pair.
    last = text.slice(Math.max(from, to - 2), to);
    if (last.codePointAt(0)! <= 0xffff) last = last.slice(-1);
    if (!isLeftOut(last)) break;
  }
  return { start: from, end: to };
}
