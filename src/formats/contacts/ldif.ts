/** Reads the persons in an LDIF file (RFC 2849), as directories and Thunderbird export it. */
import type { Contact, Contacts } from "./contact.js";

/** Attributes with addresses (RFC 4524, section 2.16, and Thunderbird's), and with names, the best first. */
const addressAttributes = /^(?:mail|rfc822mailbox|mozillasecondemail|mailalternateaddress|proxyaddresses)$/;
const nameAttributes = ["displayname", "cn", "commonname", "givenname", "uid"];

export async function* ldifContacts(lines: AsyncIterable<readonly string[]>): Contacts {
  let isRecord = false;
  let names = new Map<string, string>();
  let addresses: string[] = [];
  const taken = (): Contact => {
    const name = nameAttributes.map((attribute) => names.get(attribute)).find((each) => each) ?? "";
    const contact = { name, addresses };
    [isRecord, names, addresses] = [false, new Map(), []];
    return contact;
  };
  const read = (line: string): void => {
    // An attribute, its options, one or two colons, and the value. Two colons mean that the value is in Base64.
    const [, attribute = "", isBase64, written = ""] = /^([\w.-]+)(?:;[^:]*)?:(:?) *(.*)$/s.exec(line) ?? [];
    const value = (isBase64 ? Buffer.from(written, "base64").toString() : written).trim();
    const name = attribute.toLowerCase();
    if (name === "dn") isRecord = true;
    else if (addressAttributes.test(name) && value !== "") addresses.push(value.replace(/^smtp:/i, ""));
    else if (nameAttributes.includes(name) && !names.has(name)) names.set(name, value);
  };
  for await (const all of lines) {
    const contacts: Contact[] = [];
    for (const line of all) {
      if (line.trim() !== "") read(line);
      else if (isRecord) contacts.push(taken());
    }
    yield contacts;
  }
  if (isRecord) yield [taken()];
}
