/** How the library classifies: with lists of its caller, and in a form of addresses. */
import type { Classifier } from "./classifier/classifier.js";
import { Fault } from "./classifier/syntax/fault.js";
import { compileList, type ListName, type OwnLists, parseListLine } from "./classifier/tables/own-lists.js";
import type { Classification } from "./classifier/verdict.js";
import type { EmailForm, ListedItems } from "./library.js";
import { extractItem } from "./run/items/item.js";

/** A mistyped option would be ignored. @throws TypeError for one that is not `known` */
export function refuseOthers(options: object, ...known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new TypeError(`unknown option ${unknown}`);
}

/** @throws TypeError for a kind that there is not, such as `emails` */
export function refuseKind(kind: string): void {
  if (kind !== "email" && kind !== "domain") throw new TypeError(`unknown kind ${kind}`);
}

/** @throws TypeError when an entry is neither a domain nor an address */
export function compileLists({ allow = [], deny = [] }: ListedItems): OwnLists {
  const compile = (list: ListName, entries: readonly string[]) => {
    for (const entry of entries) {
      const parsed = parseListLine(entry, list);
      if (parsed instanceof Fault) throw new TypeError(`neither a domain nor an address: ${parsed.what}`);
    }
    return compileList(list, entries);
  };
  return { allow: compile("allow", allow), deny: compile("deny", deny) };
}

const htmlLabel = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
const htmlAddress = new RegExp(`^[a-zA-Z0-9.!#$%&'*+/=?^_\`{|}~-]+@${htmlLabel}(?:\\.${htmlLabel})*$`);

/** Classifies an address in a form. @throws TypeError when it is no string, or there is no such form */
export function classifyIn(
  { classify }: Pick<Classifier, "classify">,
  address: string,
  options: EmailForm = {},
): Classification {
  refuseOthers(options, "form");
  const { form = "lenient" } = options;
  if (typeof address !== "string") throw new TypeError("the address is not a string");
  if (form === "strict") return classify("email", address);
  if (form === "lenient") return classify("email", extractItem("email", address));
  if (form !== "browser") throw new TypeError(`unknown form ${form}; forms: strict, lenient, browser`);
  // Browsers remove line breaks and white space around the value before they check it.
  const value = address.replace(/[\r\n]/g, "").trim();
  if (!htmlAddress.test(value)) return { status: "fake", reason: "syntax: no browser accepts it" };
  return classify("email", value);
}
