/** The rule for addresses typed to get past a form (`test@gmail.com`) and copied samples (`you@yourdomain.com`). */
import { families, mailcomDomains, majorProviders } from "../../providers.js";
import type { MailboxRule } from "../rule.js";

const freeMail: ReadonlySet<string> = new Set([...majorProviders, ...mailcomDomains]);

const numericMailboxes: ReadonlySet<string> = new Set(["qq.com", "vip.qq.com", "foxmail.com"]);

/** Each is the local part of at most 0.005 % of real addresses. */
const placeholderWords = "test asdf qwerty foo bar fake none null nobody example noemail".split(" ");
const wordDomain = new RegExp(`^(${placeholderWords.join("|")})\\.[^.]*$`);
const longAsdf = /^asdf+$/;
const oneCharacter = /^(.)\1{2,}$/;
export const keyboardRows = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];

const sampleDomains: ReadonlySet<string> = new Set(["domain.com", "yourdomain.com", "mydomain.com", "company.com"]);
const sampleName = /^(?:you|name|your.*)$/;

type Placeholders = "all" | "not-numbers" | "sample" | { readonly word: string } | undefined;

/** Words count only at free-mail providers and at the same word (`test@test.com`): a company may well have `test@`. */
function findPlaceholders(ascii: string, family: string | undefined): Placeholders {
  if (sampleDomains.has(ascii)) return "sample";
  const word = wordDomain.exec(ascii)?.[1];
  if (word !== undefined) return { word };
  if (family === undefined && !freeMail.has(ascii)) return undefined;
  return numericMailboxes.has(ascii) ? "not-numbers" : "all";
}

/** Excludes `12345`, single characters, `me`, `mail` and `user`: real people have them. */
function isPlaceholder(rule: Placeholders, local: string): boolean {
  if (rule === undefined) return false;
  const isWord = rule === "all" || rule === "not-numbers";
  if (isWord && !startsLikePlaceholder(local)) return false;
  const name = local.toLowerCase();
  if (rule === "sample") return sampleName.test(name);
  if (typeof rule === "object") return name === rule.word;
  if (rule === "not-numbers" && /^\d+$/.test(name)) return false;
  return (
    placeholderWords.includes(name) ||
    longAsdf.test(name) ||
    oneCharacter.test(name) ||
    (name.length >= 4 && keyboardRows.some((row) => row.includes(name)))
  );
}

export const placeholderStarts: ReadonlySet<number> = new Set([
  ...placeholderWords.map((word) => threeAt(word, 0)),
  ...keyboardRows.flatMap((row) => Array.from(row.slice(2), (_, i) => threeAt(row, i))),
  ...Array.from({ length: 32 }, (_, letter) => threeOf(letter, letter, letter)),
]);

function threeAt(text: string, start: number): number {
  return threeOf(text.charCodeAt(start), text.charCodeAt(start + 1), text.charCodeAt(start + 2));
}

/** Range 0 to 32,767, ignoring case. A collision costs a needless check, but hides no placeholder. */
export function threeOf(first: number, second: number, third: number): number {
  return ((first & 31) << 10) | ((second & 31) << 5) | (third & 31);
}

/** Fast path: skips {@link isPlaceholder} for 99 of 100 local parts at free-mail providers. */
function startsLikePlaceholder(local: string): boolean {
  const first = local.charCodeAt(0);
  const second = local.charCodeAt(1);
  const third = local.charCodeAt(2);
  // Some characters are ASCII only in lower case, such as the Kelvin sign.
  return (first | second | third) > 127 || placeholderStarts.has(threeOf(first, second, third));
}

export const placeholder = {
  code: "placeholder",
  status: "fake",
  words: "placeholder",
  plainly: "typed to fill a form, such as test or asdf",
  source: "words that people write to skip a field",
  forPerson: "This looks like a placeholder. Please give your own address.",
  example: "`test@hotmail.com`",
  names: [...freeMail, ...sampleDomains, ...families, ...placeholderWords],
  at(ascii, family) {
    const placeholders = findPlaceholders(ascii, family);
    if (placeholders === undefined) return undefined;
    const hasWords = placeholders === "all" || placeholders === "not-numbers";
    return {
      find: (local) => (isPlaceholder(placeholders, local) ? {} : undefined),
      kernel: hasWords ? { hasPlaceholders: true } : undefined,
    };
  },
} as const satisfies MailboxRule;
