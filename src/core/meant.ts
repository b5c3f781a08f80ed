/** Finds what was meant by a word that is not known. */
import { distance } from "fastest-levenshtein";

/** Below these shares, a guess is more often wrong: `--resume` is not `--dedupe`, and ksh is not zsh. */
const leastAlike = 2 / 3;
const leastAlikeOfThree = 0.7;

/** A word may start a known one, or be like it; undefined for none. Case and hyphens do not count. */
export function meantBy(word: string, known: readonly string[]): string | undefined {
  const text = plain(word);
  // `--no-explain` means the opposite of `--explain`.
  const names = /^-*no-/.test(word) ? known.filter((each) => /^-*no-/.test(each)) : known;
  if (text === "" || names.length === 0) return undefined;
  const likes = names.map((each) => {
    const other = plain(each);
    if (other === text) return { each, alike: 2 };
    if (opposite.some((pair) => pair.includes(text) && pair.includes(other))) return { each, alike: 0 };
    if (text.length > 2 && other.startsWith(text)) return { each, alike: 1 };
    // Letters in another order: `--prot`.
    if (letters(other) === letters(text)) return { each, alike: 0.9 };
    return { each, alike: 1 - distance(text, other) / Math.max(text.length, other.length) };
  });
  const best = likes.reduce((one, other) => (other.alike > one.alike ? other : one), { each: "", alike: 0 });
  return best.alike >= (text.length > 3 ? leastAlike : leastAlikeOfThree) ? best.each : undefined;
}

/** As {@link meantBy}, for names given by users: one may also contain the other. */
export function nameMeant(wanted: string, names: readonly string[]): string | undefined {
  const isIn = (part: string, whole: string) => part.length > 3 && whole.includes(part);
  return (
    meantBy(wanted, names) ?? names.find((name) => isIn(plain(name), plain(wanted)) || isIn(plain(wanted), plain(name)))
  );
}

const opposite: readonly (readonly string[])[] = [["online", "offline"]];

const plain = (word: string): string => word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

const letters = (text: string): string => [...text].sort().join("");
