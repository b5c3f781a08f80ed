/** Reads lists of mailboxes in a line, as people copy them from a message: `Ann <a@b.net>, "Lee, Bob" <c@d.net>`. */
import type { Contact } from "./contact.js";

/** A mailbox with a name or in angle brackets (RFC 5322, section 3.4): the name, and the address. */
const mailbox = String.raw`\s*(?:("(?:[^"\\]|\\.)*"|[^"<>,;@]*?)\s*<([^<>\s,;]+@[^<>\s,;]+)>)\s*`;
const line = new RegExp(`^${mailbox}(?:[,;]${mailbox})*[,;]?\\s*$`);
const each = new RegExp(`${mailbox}(?:[,;]|$)`, "g");

/**
 * Returns whether a text is such a list and not a table: it has a line with several mailboxes, and its lines do not all
 * have the same number of them.
 *
 * @param text the whole input
 */
export function isMailboxList(text: string): boolean {
  const unfolded = text.replace(/(?:\r\n|\r|\n)[ \t]/g, " ");
  const lines = unfolded.split(/\r\n|\r|\n/).filter((each) => each.trim() !== "");
  if (lines.length === 0 || !lines.every((each) => line.test(each))) return false;
  const counts = lines.map((found) => found.match(each)!.length);
  return Math.max(...counts) > 1 && (lines.length === 1 || new Set(counts).size > 1);
}

export async function* mailboxContacts(lines: AsyncIterable<string>): AsyncGenerator<Contact> {
  for await (const text of lines) {
    for (const [, name = "", address = ""] of text.matchAll(each)) {
      const isQuoted = name.startsWith('"');
      yield {
        name: isQuoted ? name.slice(1, -1).replace(/\\(.)/g, "$1") : name.trim(),
        addresses: [address],
      };
    }
  }
}
