// Replaces mistyped or marked items of a chunk in their records, before rendering. One finder decides what an item is:
// patches of rendered rows missed escapes in JSON, several items in a field and marks around them.
import type { Replacement, ScannedChunk } from "../../table/scan/scanned-chunk.js";
import type { BlockClassifier } from "../blocks/block-classifier.js";
import type { ItemLedger } from "../item-ledger.js";
import type { NumberedChunk } from "../settle/settler.js";
import { hasItem, isKept, notCheckedCode } from "../status-codes.js";
import { type Fixer, fixedReason, mayBeMistyped } from "./fixes.js";
import type { FoundItem } from "./item.js";

type FixedItem = { readonly field: number; readonly nth: number; readonly item: string };

export interface FixedChunk {
  readonly chunk: ScannedChunk;
  readonly items: readonly FixedItem[];
  readonly was: ReadonlyMap<number, string>;
}

/** Replaces items and updates their codes. Returns undefined if nothing is replaced. */
export function fixItems(
  { codes, items }: NumberedChunk,
  ledger: ItemLedger,
  records: () => ScannedChunk,
  classifier: BlockClassifier,
  fixer: Fixer,
): FixedChunk | undefined {
  const fixed: FixedItem[] = [];
  const was = new Map<number, string>();
  const replacements: Replacement[] = [];
  const { statuses } = ledger.codes;
  const isFake = statuses.map((status, code) => status === "fake" && !isKept(code));
  const isMistyped = statuses.map((_, code) => mayBeMistyped(code, ledger.codes));

  function fixOf(code: number, found: FoundItem, all: readonly FoundItem[]) {
    const { item, start, end, isMarked } = found;
    const isApart = all.every((other) => other === found || other.start >= end || other.end <= start);
    if (!isJudged(code) || !isApart) return undefined;
    const fix = isMistyped[code] ? fixer(item) : undefined;
    if (fix === undefined && !isMarked) return undefined;
    // Without its marks, an item that is fake is as fake as before.
    if (fix === undefined && isFake[code]) return undefined;
    // Without its marks, an item has the reason that it had with them.
    if (fix === undefined && statuses[code] !== "ok") return { item, code };
    const status = fix?.status ?? statuses[code]!;
    return { item: fix?.item ?? item, code: ledger.codeFor({ status, reason: fixedReason }) };
  }

  function fix(field: number, codes: Uint8Array): void {
    let first = 0;
    for (const { text, items } of classifier.items.textsOf(records(), field)) {
      const at = first;
      const fixes = items.map((found, nth) => fixOf(codes[at + nth]!, found, items));
      const wanted = items.map(({ item }, nth) => fixes[nth]?.item ?? item);
      const result = mended(text.text, items, fixes);
      first += items.length;
      if (result === undefined || !isSame(classifier.items.inText(result), wanted)) continue;
      for (const [nth, { item, start, end, isMarked }] of items.entries()) {
        const fix = fixes[nth];
        if (fix === undefined) continue;
        codes[at + nth] = fix.code;
        fixed.push({ field, nth: at + nth, item: fix.item });
        const before = was.get(field);
        const old = isMarked ? text.text.slice(start, end) : item;
        was.set(field, before === undefined ? old : `${before}; ${old}`);
      }
      replacements.push({ start: text.start, end: text.end, bytes: text.written(result) });
    }
  }

  const all = items?.codes ?? codes;
  for (let index = 0, end = 0; index < all.length; index = end) {
    const field = items ? items.fields[index]! : index;
    for (end = index + 1; items?.fields[end] === field; ) end++;
    const own = all.subarray(index, end);
    if (own.some((code) => isMistyped[code]) || (own.some(isJudged) && classifier.items.mayBeMarked(records(), field)))
      fix(field, own);
  }
  if (fixed.length === 0) return undefined;
  if (items) classifier.judge.takeDeciding(codes, items);
  replacements.sort((a, b) => a.start - b.start);
  return { chunk: records().replace(replacements), items: fixed, was };
}

/** Returns a text with its items replaced; undefined if none is. */
function mended(
  text: string,
  items: readonly FoundItem[],
  fixes: readonly (Pick<FixedItem, "item"> | undefined)[],
): string | undefined {
  let result = "";
  let from = 0;
  for (const [nth, { start, end, written }] of items.entries()) {
    const by = fixes[nth]?.item;
    if (by === undefined) continue;
    result += text.slice(from, start) + (written?.(by) ?? by);
    from = end;
  }
  return from === 0 ? undefined : result + text.slice(from);
}

const isJudged = (code: number): boolean => hasItem(code) && !isKept(code) && code !== notCheckedCode;

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((item, nth) => item === others[nth]);
