/** What a provider's mailbox names look like; measured against 48,598 addresses of real people. */
export interface MailboxGrammar {
  /** What stands before any `+`; absent where that is not known. */
  readonly mailbox?: MailboxName;
  /** The provider has no plus addressing: an address with `+` cannot exist there. */
  readonly noPlus?: true;
  /** The rule in words, for the reason. */
  readonly says: string;
}

interface MailboxName {
  /** Where each byte may stand: a sum of `atStart`, `inside` and `atEnd`. */
  readonly places: Uint8Array;
  /** In characters. */
  readonly shortest: number;
  readonly longest: number;
  /** What dots mean: `ignored`, they count neither for the length nor for the mailbox; `apart`, never two in a row. */
  readonly dots: "ignored" | "apart" | "free";
}

const [atStart, inside, atEnd] = [1, 2, 4];
const letters = "abcdefghijklmnopqrstuvwxyz";
const digits = "0123456789";

/**
 * @param first the characters that a name may start with
 * @param rest those that it may go on with
 * @param last those of `rest` that it may end with
 */
function mailboxName(
  first: string,
  rest: string,
  {
    last = rest,
    shortest = 1,
    longest = Number.POSITIVE_INFINITY,
    dots = "free" as MailboxName["dots"],
  } = {},
): MailboxName {
  const places = new Uint8Array(256);
  const allow = (characters: string, place: number) => {
    for (const byte of Buffer.from(characters + characters.toUpperCase())) places[byte]! |= place;
  };
  allow(first, atStart);
  allow(rest, inside);
  allow(last, atEnd);
  return { places, shortest, longest, dots };
}

const dot = 0x2e;
const noPlus = "has no plus addressing";
const alphanumerics = letters + digits;
const looseCharacters = `${alphanumerics}._-`;
const loose = mailboxName(looseCharacters, looseCharacters);
const looseWords = "takes only letters, digits and . _ -";

/** Domains, and families of country domains by their label alone, with their grammar. */
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
      mailbox: mailboxName(letters, `${alphanumerics}._`, { shortest: 3, longest: 20 }),
      says: "needs 3 to 20 characters, a letter first",
    },
  ],
  [
    "yandex",
    {
      mailbox: mailboxName(letters, `${alphanumerics}.-`, { longest: 30 }),
      says: "needs a letter first, at most 30 characters",
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
  // Another company than the other yahoo.*; nothing is known of its mailboxes.
  ["yahoo.co.jp", { says: "" }],
];

const grammarOf: ReadonlyMap<string, MailboxGrammar> = new Map(
  grammars.flatMap(([domains, grammar]) => domains.split(" ").map((domain) => [domain, grammar] as const)),
);

/**
 * What is known of the mailbox names at a domain, if anything.
 *
 * @param ascii the domain, lower case, A-labels
 * @param family its provider's, from `providerFamily`
 */
export function findMailboxGrammar(ascii: string, family: string | undefined): MailboxGrammar | undefined {
  return grammarOf.get(ascii) ?? (family === undefined ? undefined : grammarOf.get(family));
}

/**
 * Why the provider cannot have this mailbox, in words that follow the domain: `needs 6 to 30 characters`.
 * Undefined where it can.
 *
 * @param bytes UTF-8, in either case
 * @param start where the local part starts
 * @param plus where its first `+` is; `end` when it has none
 * @param end behind the local part
 */
export function findImpossibleMailbox(
  { mailbox, noPlus: hasNoPlus, says }: MailboxGrammar,
  bytes: Uint8Array,
  start: number,
  plus: number,
  end: number,
): string | undefined {
  if (hasNoPlus && plus !== end) return noPlus;
  if (mailbox === undefined) return undefined;
  const { places, shortest, longest, dots } = mailbox;
  let length = 0;
  let last = -1;
  for (let i = start; i < plus; i++) {
    const byte = bytes[i]!;
    if (byte === dot && dots !== "free") {
      // Syntax has seen to these, except in quotes and before a `+`.
      const isApart = i > start && bytes[i - 1] !== dot && i + 1 < plus;
      if (!isApart) {
        return dots === "ignored" ? "has no dot at the ends of a mailbox, nor two in a row" : says;
      }
      if (dots === "ignored") continue;
    }
    if ((places[byte]! & (length === 0 ? atStart : inside)) === 0) return says;
    last = byte;
    length++;
  }
  const isPossible = length >= shortest && length <= longest && (places[last]! & atEnd) !== 0;
  return isPossible ? undefined : says;
}
