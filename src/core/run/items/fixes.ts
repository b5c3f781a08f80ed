/** Decides which mistyped items are replaced, and by what. */
import type { Classification, Kind } from "../../classifier/verdict.js";
import { itemKey } from "./item.js";

export const fixedReason = "fixed";

export type Fix = { readonly item: string; readonly status: string };

export type Fixer = (item: string) => Fix | undefined;

export type WantedFixes = "typos" | "all" | ReadonlySet<string>;

/** The suggestions are those of the classifier, whose verdict on them is `ok` or `alias`. */
export function fixerOf(classify: (kind: Kind, item: string) => Classification, kind: Kind, wanted: WantedFixes) {
  return (item: string): Fix | undefined => {
    const { reason, suggestion } = classify(kind, item);
    const isWanted =
      wanted === "all" || (wanted === "typos" ? reason?.startsWith("typo-domain") === true : wanted.has(itemKey(item)));
    if (suggestion === undefined || !isWanted) return undefined;
    return { item: suggestion, status: classify(kind, suggestion).status };
  };
}
