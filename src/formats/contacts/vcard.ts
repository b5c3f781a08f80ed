/** Reads vCard: RFC 6350 (4.0), RFC 2426 (3.0), and vCard 2.1, which has quoted-printable text. */
import type { Contact, Contacts } from "./contact.js";

const property = /^(?:[\w-]+\.)?([\w-]+)((?:;(?:[^":;]|"[^"]*")*)*):(.*)$/s;

export async function* vcardContacts(lines: AsyncIterable<readonly string[]>): Contacts {
  let [formatted, structured, addresses]: [string, string, string[]] = ["", "", []];
  let before = "";
  for await (const parts of lines) {
    const contacts: Contact[] = [];
    for (const part of parts) {
      const line = before + part;
      const [, name = "", parameters = "", value = ""] = property.exec(line) ?? [];
      const isEncoded = parameters !== "" && /;(?:ENCODING=)?QUOTED-PRINTABLE/i.test(parameters);
      before = isEncoded && line.endsWith("=") ? line.slice(0, -1) : "";
      if (before !== "") continue;
      const text = isEncoded ? decoded(value, /CHARSET=([\w-]+)/i.exec(parameters)?.[1]) : value;
      switch (name.toUpperCase()) {
        case "BEGIN":
          [formatted, structured, addresses] = ["", "", []];
          break;
        case "FN":
          formatted ||= unescaped(text);
          break;
        case "N":
          // Family name, given name, additional names, prefixes, suffixes.
          structured ||= [1, 0]
            .map((part) => unescaped(text.split(/(?<!\\);/)[part] ?? ""))
            .join(" ")
            .trim();
          break;
        case "EMAIL":
          addresses.push(unescaped(text).replace(/^mailto:/i, ""));
          break;
        case "END":
          contacts.push({ name: formatted || structured, addresses: addresses.filter((address) => address !== "") });
          [formatted, structured, addresses] = ["", "", []];
      }
    }
    yield contacts;
  }
}

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
