import { mailcomDomains, majorProviders, providerFamily } from "./providers.js";

const freeMail: ReadonlySet<string> = new Set([...majorProviders, ...mailcomDomains]);

/** Their mailboxes are numbers by default, so digits mean nothing there. */
const numericMailboxes: ReadonlySet<string> = new Set(["qq.com", "vip.qq.com", "foxmail.com"]);

/** What people type to get past a form, each at most 0.005 % of real addresses. */
const words = /^(?:test|asdf+|qwerty|foo|bar|fake|none|null|nobody|example|noemail)$/;
const oneCharacter = /^(.)\1{2,}$/;
const keyboardRows = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];

/**
 * Whether the whole local part is a placeholder. Only at free-mail providers: a company may well have a mailbox
 * `test@`. All digits, single characters and words such as `me`, `mail`, `user` are real people.
 *
 * @param local the local part
 * @param ascii the domain, lower case, A-labels
 */
export function isPlaceholder(local: string, ascii: string): boolean {
  if (!freeMail.has(ascii) && providerFamily(ascii) === undefined) return false;
  const name = local.toLowerCase();
  if (/^\d+$/.test(name) && numericMailboxes.has(ascii)) return false;
  return (
    words.test(name) ||
    oneCharacter.test(name) ||
    (name.length >= 4 && keyboardRows.some((row) => row.includes(name)))
  );
}
