/** Reads vCard: RFC 6350 (4.0), RFC 2426 (3.0), and vCard 2.1, which has quoted-printable text. */
import type { Contact, Contacts } from "./contact.js";

const property = /^(?:[\w-]+\.)?([\w-]+)((?:;(?:[^":;]|"[^"]*")*)*):(.*)$/s;

interface Card {
  formatted: string;
  structured: string;
  readonly addresses: string[];
}

export async function* vcardContacts(lines: AsyncIterable<readonly string[]>): Contacts {
  /** Cards that are open: version 2.1 has the card of an agent in that of a person. */
  const open: Card[] = [];
  let isAgent = false;
  let before = "";
  const read = (line: string): readonly Contact[] => {
    const [, name = "", parameters = "", value = ""] = property.exec(line) ?? [];
    const isEncoded = parameters !== "" && /;(?:ENCODING=)?QUOTED-PRINTABLE/i.test(parameters);
    before = isEncoded && line.endsWith("=") ? line.slice(0, -1) : "";
    if (before !== "") return [];
    const text = isEncoded ? decoded(value, /CHARSET=([\w-]+)/i.exec(parameters)?.[1]) : value;
    const own = name.toUpperCase();
    // The end of a card may be missing.
    const isOver = own === "END" || (own === "BEGIN" && !isAgent);
    const done = isOver ? open.splice(-1) : [];
    if (own === "BEGIN") open.push({ formatted: "", structured: "", addresses: [] });
    isAgent = own === "AGENT" && value === "";
    const card = open.at(-1);
    if (card !== undefined) addTo(card, own, text);
    return done.map(contactOf);
  };
  for await (const parts of lines) yield parts.flatMap((part) => read(before + part));
  yield open.reverse().map(contactOf);
}

function addTo(card: Card, property: string, text: string): void {
  switch (property) {
    case "FN":
      card.formatted ||= unescaped(text);
      break;
    case "N":
      // Family name, given name, additional names, prefixes, suffixes.
      card.structured ||= [1, 0]
        .map((part) => unescaped(text.split(/(?<!\\);/)[part] ?? ""))
        .join(" ")
        .trim();
      break;
    case "EMAIL":
      card.addresses.push(unescaped(text).replace(/^mailto:/i, ""));
  }
}

const contactOf = ({ formatted, structured, addresses }: Card): Contact => ({
  name: formatted || structured,
  addresses: addresses.filter((address) => address !== ""),
});

const unescaped = (text: string): string =>
  (text.includes("\\") ? text.replace(/\\(.)/g, (_, one: string) => (/n/i.test(one) ? " " : one)) : text).trim();

function decoded(value: string, charset = "utf-8"): string {
  const binary = value.replace(/=([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  const bytes = Buffer.from(binary, "latin1");
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return bytes.toString();
  }
}
