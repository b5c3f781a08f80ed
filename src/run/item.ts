/** Extracts items from the values of a table, and tells when two items are the same. */
import { canonicalItem } from "../classifier/canonical.js";
import type { ItemProfile } from "../table/sniff/item-profile.js";
import type { Kind } from "../validator/validator.js";

/**
 * Extracts the e-mail address from a value. Trims the value and unwraps `Name <address>`, `<address>` and
 * `mailto:address?subject=...` (RFC 6068). The classifier decides whether the result is an address.
 */
function addressIn(value: string): string {
  const text = unwrap(value);
  if (!/^mailto:/i.test(text)) return text;
  const [address = ""] = text.slice("mailto:".length).split("?");
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}

/** Extracts the host from a value. Trims the value and takes the host out of a URL, an address or `host:port`. */
function hostIn(value: string): string {
  const text = addressIn(value);
  // `medium.com/@ann` is a URL without its scheme, `sales/eu@example.net` an address.
  if (/^[^@]*[^@/]@[^@/]+$/.test(text)) return text.slice(text.indexOf("@") + 1);
  const [authority = ""] = text.replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\//i, "").split(/[/?#]/, 1);
  return authority.slice(authority.lastIndexOf("@") + 1).replace(/:\d*$/, "");
}

/** Trims a value. If it ends with text in angle brackets, returns that text. */
function unwrap(value: string): string {
  const text = value.trim();
  const open = text.endsWith(">") ? text.lastIndexOf("<") : -1;
  return open === -1 ? text : text.slice(open + 1, -1).trim();
}

const itemIn: Readonly<Record<Kind, (value: string) => string>> = { email: addressIn, domain: hostIn };

/** Extracts the item from a value of the table. Returns an empty string when there is none. */
export function extractItem(kind: Kind, value: string): string {
  return itemIn[kind](value);
}

/** Returns the key of an item. Items with equal keys are the same item. */
export function itemKey(item: string): string {
  return item.toLowerCase();
}

/** Returns the key of an item's mailbox. Items with equal keys reach the same mailbox, as far as is known. */
export function mailboxKey(kind: Kind, item: string): string {
  return canonicalItem(kind, item) ?? itemKey(item);
}

/** Rough shapes of items. They exclude delimiters, so that a whole record does not look like one address. */
const looksLikeAddress = /^[^\s@,;|"<>()]+@[^\s@,;|"<>()]+$/;
const looksLikeHost = /^(?:[^\s.@,;|"<>()/:_]+\.)+(?:[a-z]{2,}|xn--[a-z0-9-]+|[^\0-\x7f]{2,})\.?$/i;

/** Profiles by which the column with the items is recognised, for each kind. */
export const profiles: Readonly<Record<Kind, ItemProfile>> = {
  email: {
    plural: "e-mail addresses",
    columnNames: [
      ...["email", "mail", "emailaddress", "mailaddress", "emailid", "useremail", "contactemail", "smtp"],
      ...["correo", "correoelectronico", "correoelectrónico", "courriel", "adresseemail", "adressemail"],
      ...["emailadresse", "mailadresse", "epost", "epostadress", "sahkoposti", "sähköposti", "почта"],
      ...["электроннаяпочта", "邮箱", "电子邮件", "メール", "メールアドレス", "이메일"],
    ],
    nameWords: ["email", "mail", "courriel", "correo"],
    likeness: (field) => (looksLikeAddress.test(addressIn(field)) ? 2 : 0),
    resembles: (field) => /@|\(at\)|\[at\]|\uff20/i.test(field),
  },
  domain: {
    plural: "domains",
    columnNames: [
      ...["domain", "domainname", "host", "hostname", "website", "url", "site", "web", "homepage", "fqdn"],
      ...["webseite", "dominio", "domaine", "sitio", "siteweb", "домен", "сайт", "域名"],
    ],
    nameWords: ["domain", "website", "hostname", "homepage", "url"],
    likeness: (field) => {
      if (looksLikeHost.test(addressIn(field).split("@")[1] ?? "")) return 1;
      return looksLikeHost.test(hostIn(field)) ? 2 : 0;
    },
    resembles: (field) => /^\s*\S*[^\s.]\.[^\s.]\S*\s*$/.test(field) || field.includes("://"),
  },
};
