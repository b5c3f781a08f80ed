/** The languages of the page. A new one is a file like en.ts, and a line here. */
import { de } from "./de.js";
import { en } from "./en.js";
import { es } from "./es.js";
import { fr } from "./fr.js";
import { ja } from "./ja.js";
import type { Words } from "./words.js";

/** By their codes (BCP 47). */
export const languages: Readonly<Record<string, Words>> = { en, de, fr, es, ja };

/** Returns the first wanted language that the page has; English without one. */
export function chosenLanguage(wanted: readonly string[]): string {
  const codes = wanted.map((each) => each.slice(0, 2).toLowerCase());
  return codes.find((code) => code in languages) ?? "en";
}
