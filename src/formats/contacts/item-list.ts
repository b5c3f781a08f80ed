/** Reads lists of items as people copy them from recipients: `Ann <a@b.net>, "Lee, Bob" <c@d.net>; e@f.net`. */
import { parsedJson } from "../../core/table/json/json-values.js";
import type { ItemProfile } from "../../core/table/sniff/item-profile.js";
import type { Contact, Contacts } from "./contact.js";

/** All lines are of items, one of several. Unless it `isWhole`, the last line may be cut off. */
export function isItemList(text: string, isWhole: boolean, profile: ItemProfile): boolean {
  const lines = unfolded(text).split(/\r\n|\r|\n/);
  const whole = isWhole || lines.length === 1 ? lines : lines.slice(0, -1);
  let isAny = false;
  for (const line of whole.filter((line) => line.trim() !== "")) {
    const isCut = !isWhole && lines.length === 1;
    const [first = ""] = partsOf(isCut ? line.slice(0, lastEnd(line)) : line);
    const listed = isJson(line, isCut) ? undefined : profile.listed(first);
    if (listed === undefined) return false;
    isAny ||= listed.length > 1;
  }
  return isAny;
}

/** After a separator, a line that starts with white space continues the one before it (RFC 5322, section 2.2.3). */
const unfolded = (text: string): string => text.replace(/([,;])[ \t]*(?:\r\n|\r|\n)[ \t]+(?=\S)/g, "$1 ");

const startOfJson = /^\s*(?:\[\s*[[{"\]]|\{\s*["}])/;
const outsideStrings = /^[\s\w.,:[\]{}+-]*$/;

/** If the line is cut, its start decides, as far as it may be JSON. */
function isJson(line: string, isCut: boolean): boolean {
  if (!startOfJson.test(line)) return false;
  if (isCut) return outsideStrings.test(line.replace(/"(?:[^"\\]|\\.)*(?:"|$)/g, ""));
  return parsedJson(line) !== undefined;
}

const longestPart = 8192;

function* partsOf(line: string): Generator<string> {
  let rest = line;
  while (rest.length > longestPart) {
    const end = lastEnd(rest.slice(0, longestPart)) || longestPart;
    yield rest.slice(0, end);
    rest = rest.slice(end);
  }
  yield rest;
}

/** The last item must be whole: before a separator that is not in a name. */
function lastEnd(text: string): number {
  const close = text.lastIndexOf(">");
  const separator = Math.max(text.lastIndexOf(","), text.lastIndexOf(";"), text.lastIndexOf(" "));
  return (close === -1 ? separator : close) + 1;
}

/** Around a list as Python prints it. In a long line, they are in different parts. */
const bracketsOfList = /^\[\s*(?=['"])|(?<=['"])\s*\]\s*$/g;

/** A line that is not a list is one item, so that nothing is lost. */
export async function* itemContacts(pieces: AsyncIterable<string>, profile: ItemProfile): Contacts {
  let rest = "";
  function* contactsIn(line: string): Generator<Contact> {
    for (const part of partsOf(line)) {
      const own = part.replace(/^[\s,;]+/, "").replace(bracketsOfList, "");
      if (own.trim() === "") continue;
      const listed = profile.listed(own) ?? [{ name: "", item: own }];
      for (const { name, item } of listed) yield { name, addresses: [item] };
    }
  }
  for await (const piece of pieces) {
    // The next line may continue the last one.
    const lines = unfolded(rest + piece).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop()!;
    if (lines.length > 0 && rest.trim() === "") rest = `${lines.pop()!}\n${rest}`;
    yield lines.flatMap((line) => [...contactsIn(line)]);
    if (rest.length <= longestLine) continue;
    const end = lastEnd(rest);
    yield [...contactsIn(rest.slice(0, end))];
    rest = rest.slice(end);
  }
  for (const line of unfolded(rest).split(/\r\n|\n|\r/)) yield [...contactsIn(line)];
}

const longestLine = 65_536;
