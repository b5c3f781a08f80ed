/** How columns of items are recognised, by their names and their values. */
import { nameFitOf } from "../table/sniff/column.js";
import type { ItemProfile } from "../table/sniff/item-profile.js";
import type { Kind } from "../validator/validator.js";
import { addressIn, isItem, listedItems, longestList, looksLikeHost } from "./item.js";

const longestJson = 65_536;

/**
 * Returns the items in a JSON object or array, as in JSON lines: the fields named like a column of items or, if there are none,
 * all that look like items. Undefined for values that are not JSON.
 */
export function itemsInJson(kind: Kind, text: string): readonly string[] | undefined {
  if (!/^[{[]/.test(text) || text.length > longestJson) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const leaves = [...leavesOf("", value)];
  const named = leaves.filter(({ name, text }) => text !== "" && nameFitOf(name, profiles[kind]) === 3);
  const found = named.length > 0 ? named : leaves.filter(({ text }) => isItem(kind, text));
  return found.map(({ text }) => text);
}

/** Yields the texts in a JSON value with the names of their fields. Elements of an array have the array's name. */
function* leavesOf(
  name: string,
  value: unknown,
): Generator<{ readonly name: string; readonly text: string }> {
  if (typeof value === "string") yield { name, text: value.trim() };
  if (typeof value !== "object" || value === null) return;
  const isArray = Array.isArray(value);
  for (const [key, inner] of Object.entries(value)) yield* leavesOf(isArray ? name : key, inner);
}

const hasItemInJson = (kind: Kind, field: string): boolean =>
  itemsInJson(kind, field.trim())?.some((item) => isItem(kind, item)) ?? false;

export const innerAddress = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+/;

export const profiles: Readonly<Record<Kind, ItemProfile>> = {
  email: {
    plural: "e-mail addresses",
    columnNames: [
      ...["email", "mail", "emailaddress", "mailaddress", "emailid", "useremail", "contactemail", "smtp"],
      ...["correo", "correoelectronico", "correoelectrónico", "courriel", "adresseemail", "adressemail"],
      ...[
        "emailadresse",
        "mailadresse",
        "epost",
        "epostadress",
        "eposta",
        "epostaadresi",
        "adresseélectronique",
        "adresseelectronique",
        "mél",
        "sahkoposti",
        "sähköposti",
        "почта",
      ],
      ...["электроннаяпочта", "邮箱", "电子邮件", "メール", "メールアドレス", "이메일"],
    ],
    nameWords: ["email", "mail", "courriel", "correo"],
    likeness: (field) =>
      isItem("email", field) || listedItems("email", field).length > 1 || hasItemInJson("email", field)
        ? 2
        : 0,
    resembles: (field) => /@|\(at\)|\[at\]|\uff20/i.test(field),
    // The expression is slow on long fields without an @.
    holds: (field) => field.includes("@") && innerAddress.test(field),
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
      const isListed = listedItems("domain", field).length > 1 || hasItemInJson("domain", field);
      return isItem("domain", field) || isListed ? 2 : 0;
    },
    resembles: (field) =>
      /^\S*[^\s.]\.[^\s.]\S*$/.test(field.slice(0, longestList).trim()) || field.includes("://"),
    holds: (field) => profiles.domain.likeness(field) > 0,
  },
};
