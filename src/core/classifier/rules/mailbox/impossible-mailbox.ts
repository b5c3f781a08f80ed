/** The rule for impossible mailboxes: local parts that a provider does not allow. The kernel uses the same tables. */
import { dot } from "../../../ascii.js";
import { utf8 } from "../../utf8.js";
import type { MailboxName, MailboxRule } from "../rule.js";

/** Mailbox names that a provider allows. Measured against 48,598 addresses of real people. */
interface MailboxGrammar {
  readonly mailbox?: MailboxName;
  readonly noPlus?: true;
  readonly takesPhones?: true;
  readonly says: string;
}

const phone = /^\+?\d{10,15}$/;

const atStart = 1;
const inside = 2;
const atEnd = 4;
const letters = "abcdefghijklmnopqrstuvwxyz";
const digits = "0123456789";

function mailboxName(
  first: string,
  rest: string,
  { last = rest, shortest = 1, longest = Number.POSITIVE_INFINITY, dots = "free" as MailboxName["dots"] } = {},
): MailboxName {
  const positions = new Uint8Array(256);
  const allow = (characters: string, position: number) => {
    for (const byte of utf8(characters + characters.toUpperCase())) positions[byte]! |= position;
  };
  allow(first, atStart);
  allow(rest, inside);
  allow(last, atEnd);
  return { positions, shortest, longest, dots };
}

const noPlus = "has no plus addressing";
const alphanumerics = letters + digits;
const looseCharacters = `${alphanumerics}._-`;
const loose = mailboxName(looseCharacters, looseCharacters);
const looseWords = "takes only letters, digits and . _ -";

const grammars: readonly (readonly [string, MailboxGrammar])[] = [
  [
    "gmail.com googlemail.com",
    {
      mailbox: mailboxName(alphanumerics, alphanumerics, { shortest: 6, longest: 30, dots: "ignored" }),
      says: "needs 6 to 30 characters, letters and digits",
    },
  ],
  [
    "outlook hotmail live msn.com",
    {
      mailbox: mailboxName(alphanumerics, looseCharacters, { last: `${alphanumerics}_-`, dots: "apart" }),
      says: `starts with a letter or digit and ${looseWords}`,
    },
  ],
  [
    "icloud.com me.com mac.com",
    {
      // Hide My Email makes names such as `carpals-grabby.0x` and `0x.carpals-grabby`.
      mailbox: mailboxName(alphanumerics, looseCharacters, { shortest: 3 }),
      says: "needs 3 characters or more, a letter or digit first",
    },
  ],
  [
    "yandex",
    {
      mailbox: mailboxName(letters, `${alphanumerics}.-`, { longest: 30 }),
      // Mail for 79871234567@ and +79871234567@ arrives if the phone number is switched on as login (Yandex help).
      takesPhones: true,
      says: "needs a letter first, at most 30 characters, or a phone number",
    },
  ],
  ["yahoo ymail.com rocketmail.com", { mailbox: loose, noPlus: true, says: looseWords }],
  ["mail.ru bk.ru list.ru inbox.ru", { mailbox: loose, says: looseWords }],
  ["proton.me protonmail.com pm.me", { mailbox: loose, says: looseWords }],
  [
    "aol gmx tuta tutanota web.de mail.com t-online.de qq.com foxmail.com 163.com 126.com yeah.net libero.it " +
      "laposte.net rediffmail.com",
    { noPlus: true, says: noPlus },
  ],
  // Not of the family `yahoo`: another company runs it, and its mailbox names are unknown.
  ["yahoo.co.jp", { says: "" }],
];

const grammarOf: ReadonlyMap<string, MailboxGrammar> = new Map(
  grammars.flatMap(([domains, grammar]) => domains.split(" ").map((domain) => [domain, grammar] as const)),
);

export const mailboxNames: readonly MailboxName[] = [...new Set(grammars.flatMap(([, { mailbox }]) => mailbox ?? []))];

const findMailboxGrammar = (ascii: string, family: string | undefined): MailboxGrammar | undefined =>
  grammarOf.get(ascii) ?? (family === undefined ? undefined : grammarOf.get(family));

/** Misplaced dots come only in quoted strings and before a `+`. */
const isApart = (local: string, at: number, end: number): boolean =>
  at > 0 && local.charCodeAt(at - 1) !== dot && at + 1 < end;

function findImpossibleMailbox({ mailbox, noPlus: hasNoPlus, says }: MailboxGrammar, local: string, plus: number) {
  if (hasNoPlus && plus !== -1) return noPlus;
  if (mailbox === undefined) return undefined;
  const { positions, shortest, longest, dots } = mailbox;
  const end = plus === -1 ? local.length : plus;
  const misplaced = dots === "ignored" ? "has no dot at the ends of a mailbox, nor two in a row" : says;
  let length = 0;
  let last = 0;
  for (let i = 0; i < end; i++) {
    const charCode = local.charCodeAt(i);
    if (charCode === dot && dots !== "free") {
      if (!isApart(local, i, end)) return misplaced;
      if (dots === "ignored") continue;
    }
    const allowed = charCode < positions.length ? positions[charCode]! : 0;
    if ((allowed & (length === 0 ? atStart : inside)) === 0) return says;
    last = allowed;
    length++;
  }
  return length >= shortest && length <= longest && (last & atEnd) !== 0 ? undefined : says;
}

export const impossibleMailbox = {
  code: "impossible-mailbox",
  status: "fake",
  words: "impossible mailbox",
  plainly: "the provider gives out no such name",
  source: "what the provider accepts when a mailbox is made",
  forPerson: "The provider of this address gives out no such mailbox. Please check the spelling before the @.",
  example: "`impossible-mailbox: yahoo.com has no plus addressing`",
  names: [...grammarOf.keys()],
  at(ascii, family) {
    const grammar = findMailboxGrammar(ascii, family);
    if (grammar === undefined) return undefined;
    return {
      find(local, plus) {
        if (grammar.takesPhones && phone.test(local)) return undefined;
        const why = findImpossibleMailbox(grammar, local, plus);
        return why === undefined ? undefined : { subject: `${ascii} ${why}` };
      },
      kernel: { name: grammar.mailbox, hasNoPlus: grammar.noPlus },
    };
  },
} as const satisfies MailboxRule;
