import { mailcomDomains, majorProviders } from "../providers.js";

const freeMail: ReadonlySet<string> = new Set([...majorProviders, ...mailcomDomains]);

/** Their mailboxes are numbers by default, so digits mean nothing there. */
const numericMailboxes: ReadonlySet<string> = new Set(["qq.com", "vip.qq.com", "foxmail.com"]);

/** What people type to get past a form, each at most 0.005 % of real addresses. */
const words = "test asdf qwerty foo bar fake none null nobody example noemail".split(" ");
const longAsdf = /^asdf+$/;
const oneCharacter = /^(.)\1{2,}$/;
const keyboardRows = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];

/** The placeholders of a domain: none, all, or those that are not numbers. */
export type PlaceholderRule = "all" | "not-numbers" | undefined;

/**
 * Whether placeholders mean anything at a domain. Only at free-mail providers: a company may well have a mailbox
 * `test@`.
 *
 * @param ascii the domain, lower case, A-labels
 * @param family its provider's, from `providerFamily`
 */
export function findPlaceholderRule(ascii: string, family: string | undefined): PlaceholderRule {
  if (family === undefined && !freeMail.has(ascii)) return undefined;
  return numericMailboxes.has(ascii) ? "not-numbers" : "all";
}

/**
 * Whether the whole local part is a placeholder. All digits, single characters and words such as `me`, `mail`,
 * `user` are real people.
 *
 * @param local the local part
 */
export function isPlaceholder(rule: PlaceholderRule, local: string): boolean {
  if (rule === undefined) return false;
  const name = local.toLowerCase();
  if (rule === "not-numbers" && /^\d+$/.test(name)) return false;
  return (
    words.includes(name) ||
    longAsdf.test(name) ||
    oneCharacter.test(name) ||
    (name.length >= 4 && keyboardRows.some((row) => row.includes(name)))
  );
}

/** Which pairs of letters a word or a piece of a keyboard row starts with, by {@link pairOf}. */
const pairs = new Uint8Array(1024);
for (const word of words) pairs[pairOf(word.charCodeAt(0), word.charCodeAt(1))] = 1;
for (const row of keyboardRows) {
  for (let i = 1; i < row.length; i++) pairs[pairOf(row.charCodeAt(i - 1), row.charCodeAt(i))] = 1;
}

function pairOf(first: number, second: number): number {
  return ((first & 31) << 5) | (second & 31);
}

/**
 * Whether {@link isPlaceholder} has to be asked, seen from the first two characters alone: one in twenty names.
 *
 * @param first the first two characters of an ASCII local part, in either case
 */
export function mayBePlaceholder(first: number, second: number): boolean {
  return pairs[pairOf(first, second)] === 1 || (first | 32) === (second | 32);
}
