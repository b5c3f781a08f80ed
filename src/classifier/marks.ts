/**
 * The characters that programs and people leave around and inside addresses. One list for all: the items in values, the
 * syntax, the suggestions and `--fix`. Knows single characters only.
 */

/**
 * Returns whether a character cannot be seen: white space, controls, joiners, directions and the like, which are the
 * Unicode categories Z, Cc and Cf and the property Default_Ignorable_Code_Point. Not ESC, which starts a longer sequence.
 */
const isInvisible = (character: string): boolean =>
  (character <= " " && character !== "\x1b") || (character >= "\x7f" && invisible.test(character));

/** Returns whether a character is a quote, a bracket, punctuation or an accent of its own that ASCII does not have. */
const isTypographic = (character: string): boolean => character > "\x7f" && typographic.test(character);

const invisible = /^[\p{Z}\p{Cc}\p{Cf}\p{DI}]$/u;
const typographic = /^[\p{P}\p{Sk}]$/u;

/** Apostrophes that text processors and phones write in place of `'`, as in `o’hara@example.net`. */
export const apostrophes = /[\u00b4\u02bc\u2018\u2019\u2032\uff07]/g;

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Returns a part of a text without the invisible characters and the typographic marks at its ends. */
export const withoutMarks = (text: string, span: Span): Span =>
  trimmedBy(text, span, (character) => isInvisible(character) || isTypographic(character));

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
