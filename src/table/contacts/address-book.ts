/**
 * Reads address books, vCard (RFC 6350, and 2.1 and 3.0 before it) and LDIF (RFC 2849), and lists of mailboxes (RFC
 * 5322), as a CSV table of names and addresses. A contact with several addresses has several rows; one without an
 * address has an empty field.
 */
import { nameText } from "../bytes.js";
import { quoteField } from "../quotes.js";
import type { Contact } from "./contact.js";
import { ldifContacts } from "./ldif.js";
import { isMailboxList, mailboxContacts } from "./mailbox-list.js";
import { vcardContacts } from "./vcard.js";

interface AddressBook {
  readonly what: string;
  readonly matches: (start: string, mayBeList: boolean) => boolean;
  /** @param lines lines, unfolded, as text that is decoded from UTF-8 where possible */
  readonly contactsIn: (lines: AsyncIterable<string>) => AsyncGenerator<Contact>;
}

const addressBooks: readonly AddressBook[] = [
  {
    what: "a vCard file",
    matches: (start) => /^\s*BEGIN:VCARD/i.test(start),
    contactsIn: vcardContacts,
  },
  {
    what: "an LDIF file",
    matches: (start) => /^\s*(?:version: *1\r?\n\s*)?(?:#.*\r?\n\s*)*dn::? /i.test(start),
    contactsIn: ldifContacts,
  },
  {
    what: "a list of mailboxes",
    matches: (start, mayBeList) => mayBeList && isMailboxList(start),
    contactsIn: mailboxContacts,
  },
];

/**
 * Returns the address book that a file is; undefined for other files.
 *
 * @param start the first bytes of the file
 * @param mayBeList whether they are all of its bytes, and it may be a list of mailboxes
 */
export function addressBookIn(start: Buffer, mayBeList: boolean): AddressBook | undefined {
  const text = start.toString("latin1").replace(/^\xef\xbb\xbf/, "");
  return addressBooks.find((book) => book.matches(text, mayBeList));
}

export async function* csvOf(
  book: AddressBook,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let piece = "name,email\n";
  for await (const { name, addresses } of book.contactsIn(wholeLines(bytes))) {
    for (const address of addresses.length > 0 ? addresses : [""]) {
      piece += `${quoteField(name, ",")},${quoteField(address, ",")}\n`;
    }
    if (piece.length < pieceLength) continue;
    yield Buffer.from(piece);
    piece = "";
  }
  yield Buffer.from(piece);
}

const pieceLength = 65_536;
/** Longer lines hold pictures and keys. They are cut. */
const longestLine = 65_536;

/**
 * Yields lines. A line that starts with white space continues the one before it (RFC 6350 section 3.2, RFC 2849 note
 * 2).
 */
async function* wholeLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let line: string | undefined;
  let rest = "";
  const added = (next: string) => {
    const isContinued = line !== undefined && /^[ \t]/.test(next);
    const whole = isContinued ? undefined : line;
    if (!isContinued) line = next;
    else if (line!.length < longestLine) line += next.slice(1);
    return whole;
  };
  for await (const chunk of bytes) {
    const lines = (rest + Buffer.from(chunk).toString("latin1")).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop()!;
    if (rest.length > longestLine && !rest.endsWith("\r")) rest = rest.slice(0, longestLine);
    for (const next of lines) {
      const whole = added(next);
      if (whole !== undefined) yield nameText(whole);
    }
  }
  for (const next of [rest.replace(/\r$/, ""), ""]) {
    const whole = added(next);
    if (whole !== undefined) yield nameText(whole);
  }
}
