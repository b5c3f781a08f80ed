/** How columns of items are recognised, by their names and their values. */
import { type JsonText, parsedJson, textsIn } from "../../table/json/json-values.js";
import { nameFitOf } from "../../table/sniff/column.js";
import type { ItemProfile } from "../../table/sniff/item-profile.js";
import { type Kind, knownStatuses } from "../../validator/validator.js";
import { extractItem, looksLikeHost } from "./item.js";
import { isItem, type ListPart, listedParts } from "./item-list.js";

const longestJson = 65_536;
/** The expression takes the square of it. */
const longestHost = 16_384;

/** Returns fields named like a column of items or, without any, all that look like items; undefined if not JSON. */
export function itemsInJson(kind: Kind, text: string): readonly JsonText[] | undefined {
  if (!/^\s*[{[]/.test(text) || text.length > longestJson || parsedJson(text) === undefined) return undefined;
  const texts = textsIn(text).filter((found) => found.text.trim() !== "");
  const named = texts.filter(({ name }) => nameFitOf(name, profiles[kind]) === 3);
  return named.length > 0 ? named : texts.filter((found) => mayHoldItem(kind, found.text));
}

const mayHoldItem = (kind: Kind, text: string): boolean =>
  isItem(kind, text) || (listedParts(kind, text)?.length ?? 0) > 1;

const hasItemInJson = (kind: Kind, field: string): boolean =>
  itemsInJson(kind, field.trim())?.some(({ text }) => mayHoldItem(kind, text)) ?? false;

function listedIn(kind: Kind, line: string) {
  const whole: ListPart = { start: 0, end: line.replace(/[\s,;]+$/, "").length };
  const parts = listedParts(kind, line) ?? [whole];
  const found: { readonly name: string; readonly item: string }[] = [];
  for (const part of parts) {
    const text = line.slice(part.start, part.end).trim();
    if (part.isName) {
      found.push({ name: text, item: "" });
      continue;
    }
    if (!isItem(kind, text)) return undefined;
    const [, name, address] = /^(.*?)\s*<([^<>]*)>$/s.exec(text) ?? [];
    found.push({ name: nameIn(name ?? ""), item: address?.trim() ?? text });
  }
  return found;
}

const nameIn = (name: string): string =>
  /^".*"$/s.test(name) ? name.slice(1, -1).replace(/\\(.)/g, "$1") : name.trim();

export const innerAddress = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+/;

export const profiles: Readonly<Record<Kind, ItemProfile>> = {
  email: {
    plural: "e-mail addresses",
    get other() {
      return profiles.domain;
    },
    columnNames: [
      ...["email", "mail", "emailaddress", "mailaddress", "emailid", "useremail", "contactemail", "smtp"],
      ...["correo", "correoelectronico", "correoelectrónico", "courriel", "adresseemail", "adressemail"],
      ...["emailadresse", "mailadresse", "epost", "epostadress", "eposta", "epostaadresi", "mél"],
      ...["adresseélectronique", "adresseelectronique", "sahkoposti", "sähköposti"],
      ...["почта", "электроннаяпочта", "邮箱", "电子邮件", "メール", "メールアドレス", "이메일"],
    ],
    nameWords: ["email", "mail", "courriel", "correo"],
    statuses: knownStatuses,
    listed: (line) => listedIn("email", line),
    likeness: (field) => (mayHoldItem("email", field) || hasItemInJson("email", field) ? 2 : 0),
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
    statuses: knownStatuses,
    listed: (line) => listedIn("domain", line),
    likeness: (field) => {
      if (looksLikeHost.test(extractItem("email", field).split("@")[1] ?? "")) return 1;
      return mayHoldItem("domain", field) || hasItemInJson("domain", field) ? 2 : 0;
    },
    resembles: (field) => /^\S*[^\s.]\.[^\s.]\S*$/.test(field.slice(0, longestHost).trim()) || field.includes("://"),
    holds: (field) => profiles.domain.likeness(field) > 0,
  },
};
