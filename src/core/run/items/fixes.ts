/** Decides which mistyped items are replaced, and by what. */

import { similarDomain } from "../../classifier/rules/domain/typo-domain.js";
import type { Classification, Kind } from "../../classifier/verdict.js";
import { isKept } from "../status-codes.js";
import { itemKey } from "./item.js";

export const fixedReason = "fixed";

export type Fix = { readonly item: string; readonly status: string };

export type Fixer = (item: string) => Fix | undefined;

export type WantedFixes = "typos" | "all" | ReadonlySet<string>;

interface VerdictCodes {
  readonly statuses: readonly string[];
  readonly reasons: readonly (string | undefined)[];
}

/** Returns whether items of a code may be replaced: this run found them fake, or like a larger provider. */
export const mayBeMistyped = (code: number, { statuses, reasons }: VerdictCodes) =>
  !isKept(code) && (statuses[code] === "fake" || reasons[code] === similarDomain.code);

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
