/** Decides which mistyped items are replaced, and by what. */
import type { Classification, Kind } from "../../classifier/verdict.js";
import { itemKey } from "./item.js";

/** Reason of a row whose item was replaced. */
export const fixedReason = "fixed";

interface Fix {
  readonly item: string;
  /** Status of that item. */
  readonly status: string;
}

/** Returns what replaces an item; undefined if it stays. */
export type Fixer = (item: string) => Fix | undefined;

/**
 * Which items are replaced: those with the reason `typo-domain`, all with a suggestion, or only these, in lower case.
 */
export type WantedFixes = "typos" | "all" | ReadonlySet<string>;

/** The suggestions are those of the classifier, whose verdict on them is `ok` or `alias`. */
export function fixerOf(
  classify: (kind: Kind, item: string) => Classification,
  kind: Kind,
  wanted: WantedFixes,
): Fixer {
  return (item) => {
    const { reason, suggestion } = classify(kind, item);
    const isWanted =
      wanted === "all" ||
      (wanted === "typos" ? reason?.startsWith("typo-domain") === true : wanted.has(itemKey(item)));
    if (suggestion === undefined || !isWanted) return undefined;
    return { item: suggestion, status: classify(kind, suggestion).status };
  };
}
