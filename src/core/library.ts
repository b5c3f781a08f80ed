/** What the library shows in Node.js and in browsers, all of it public. Does no I/O. */
import { canonicalItem } from "./classifier/canonical.js";
import type { Flag } from "./classifier/flags/flag-names.js";
import { flagsOf } from "./classifier/flags/flags.js";
import type { Kind } from "./classifier/verdict.js";

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
