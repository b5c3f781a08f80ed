// Reads vCard (RFC 6350, and 2.1 and 3.0), LDIF (RFC 2849) and lists of mailboxes (RFC 5322) as a CSV table: a row for
// each address of a contact, and one with an empty field for a contact without an address.
import { nameText } from "../../core/table/bytes.js";
import { quoteField } from "../../core/table/quotes.js";
import type { ItemProfile } from "../../core/table/sniff/item-profile.js";
import type { Contacts } from "./contact.js";
import { isItemList, itemContacts } from "./item-list.js";
import { ldifContacts } from "./ldif.js";
import { vcardContacts } from "./vcard.js";

interface AddressBook {
  readonly what: string;
  /** Name of the column with the addresses; `email` by default. */
  readonly column?: string;
  readonly contactsIn: (bytes: AsyncIterable<Uint8Array>) => Contacts;
}

const addressBooks: readonly (AddressBook & { readonly start: RegExp })[] = [
  { what: "a vCard file", start: /^\s*BEGIN:VCARD/i, contactsIn: (bytes) => vcardContacts(wholeLines(bytes)) },
  {
    what: "an LDIF file",
    start: /^\s*(?:version: *1\r?\n\s*)?(?:#[^\n]*\n(?: [^\n]*\n)*[\r\n]*)*dn::? /i,
    contactsIn: (bytes) => ldifContacts(wholeLines(bytes)),
  },
];

/** Returns undefined for other files; an undefined `profile` if the file cannot be a list. */
export function addressBookIn(start: Buffer, isWhole: boolean, profile?: ItemProfile): AddressBook | undefined {
  const text = start.toString("latin1").replace(/^\xef\xbb\xbf/, "");
  const book = addressBooks.find((book) => book.start.test(text));
  if (book !== undefined || profile === undefined) return book;
  if (!isItemList(start.toString().replace(/^\ufeff/, ""), isWhole, profile)) return undefined;
  return {
    what: `a list of ${profile.plural}`,
    column: profile.columnNames[0]!,
    contactsIn: (bytes) => itemContacts(decodedPieces(bytes), profile),
  };
}

export async function* csvOf({ column = "email", contactsIn }: AddressBook, bytes: AsyncIterable<Uint8Array>) {
  let piece = `name,${column}\n`;
  for await (const contacts of contactsIn(bytes)) {
    for (const { name, addresses } of contacts) {
      for (const address of addresses.length > 0 ? addresses : [""]) {
        piece += `${quoteField(name, ",")},${quoteField(address, ",")}\n`;
      }
    }
    if (piece.length < pieceLength) continue;
    yield Buffer.from(piece);
    piece = "";
  }
  yield Buffer.from(piece);
}

async function* decodedPieces(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

const pieceLength = 65_536;
/** Longer lines hold pictures and keys. They are cut. */
const longestLine = 65_536;

/** White space at the start continues the line before (RFC 6350 section 3.2, RFC 2849 note 2). */
async function* wholeLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[]> {
  let line: string | undefined;
  let rest = "";
  let isStart = true;
  const wholeIn = (lines: readonly string[]) => {
    const whole: string[] = [];
    for (const next of lines) {
      if (line === undefined || !/^[ \t]/.test(next)) {
        if (line !== undefined) whole.push(nameText(line));
        line = next;
      } else if (line.length < longestLine) line += next.slice(1);
    }
    return whole;
  };
  for await (const chunk of bytes) {
    // Of more lines at once, many would outlive a collection of garbage.
    for (let start = 0; start < chunk.length; start += pieceLength) {
      const piece = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString(
        "latin1",
        start,
        start + pieceLength,
      );
      const text = rest + (isStart ? piece.replace(/^\xef\xbb\xbf/, "") : piece);
      isStart = false;
      const lines = text.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop()!;
      if (rest.length > longestLine && !rest.endsWith("\r")) rest = rest.slice(0, longestLine);
      yield wholeIn(lines);
    }
  }
  yield wholeIn([rest.replace(/\r$/, ""), ""]);
}
