/** What the library has in Node.js and in browsers. Does no I/O. */
import { canonicalItem } from "./classifier/canonical.js";
import type { Classifier } from "./classifier/classifier.js";
import type { Flag } from "./classifier/flags/flag-names.js";
import { flagsOf } from "./classifier/flags/flags.js";
import { Fault } from "./classifier/syntax/fault.js";
import { compileList, type ListName, type OwnLists, parseListLine } from "./classifier/tables/own-lists.js";
import type { Classification, Kind } from "./classifier/verdict.js";
import { extractItem } from "./run/items/item.js";

export type { Flag } from "./classifier/flags/flag-names.js";
export type { Classification, ClassifierStatus, Kind, Reason, ReasonCode } from "./classifier/verdict.js";
export type { Why } from "./classifier/why.js";

export interface ListedItems {
  /** Domains (with all below) and addresses that are `ok` if their syntax is valid; `postmaster@*` is at any domain. */
  readonly allow?: readonly string[];
  /**
   * Domains and addresses that are `disposable`, unless `allow` has them too; also `*`, for all that `allow` lacks, and
   * `mx:example.net`, for domains whose mail that host receives, which DNS says.
   */
  readonly deny?: readonly string[];
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

/**
 * Returns one spelling for all items that reach the same mailbox: `annlee@gmail.com` for `Ann.Lee+news@googlemail.com`.
 * Returns undefined for an item with invalid syntax or an address literal.
 */
export function canonical(kind: Kind, item: string): string | undefined {
  return canonicalItem(kind, item);
}

/**
 * Returns facts about an item beside its verdict, none of which says that it is bad: `["role", "free-provider"]` for
 * `info@gmail.com`. An item with invalid syntax has none.
 * @param mx the host that receives the mail, as `check` gives it; then also `parked` and `mx:google`
 */
export function flags(kind: Kind, item: string, mx?: string): readonly Flag[] {
  return flagsOf(kind, item, mx?.toLowerCase());
}

export interface EmailForm {
  /**
   * What is accepted. `lenient`, the default, finds the address in what people type and paste: white space around it,
   * `mailto:`, `Name <address>`. `strict` takes it as it is in an envelope. `browser` accepts what a field of the type
   * `email` accepts (HTML Standard, section 4.10.5.1.5), and then applies the rules.
   */
  readonly form?: "lenient" | "strict" | "browser";
}

const htmlLabel = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
const htmlAddress = new RegExp(`^[a-zA-Z0-9.!#$%&'*+/=?^_\`{|}~-]+@${htmlLabel}(?:\\.${htmlLabel})*$`);

/** Classifies an address in a form. Never throws. */
export function classifyIn(
  { classify }: Pick<Classifier, "classify">,
  address: string,
  { form = "lenient" }: EmailForm = {},
): Classification {
  if (form === "strict") return classify("email", address);
  if (form === "lenient") return classify("email", extractItem("email", address));
  // Browsers remove line breaks and white space around the value before they check it.
  const value = address.replace(/[\r\n]/g, "").trim();
  if (!htmlAddress.test(value)) return { status: "fake", reason: "syntax: no browser accepts it" };
  return classify("email", value);
}
