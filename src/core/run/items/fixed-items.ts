// Replaces mistyped or marked items of a chunk in their records, before rendering. One finder decides what an item is:
// patches of rendered rows missed escapes in JSON, several items in a field and marks around them.
import { similarDomain } from "../../classifier/rules/domain/typo-domain.js";
import type { Replacement, ScannedChunk, ValueText } from "../../table/scan/scanned-chunk.js";
import type { BlockClassifier } from "../blocks/block-classifier.js";
import type { ItemLedger } from "../item-ledger.js";
import type { NumberedChunk } from "../settle/settler.js";
import { hasItem, isKept, notCheckedCode } from "../status-codes.js";
import { type Fix, type Fixer, fixedReason } from "./fixes.js";
import type { FoundItem } from "./item.js";

interface FixedItem {
  readonly field: number;
  readonly nth: number;
  readonly item: string;
}

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
  const fields = new FixedFields(ledger, fixer, (text) => classifier.items.inText(text));
  const all = items?.codes ?? codes;
  for (let index = 0, end = 0; index < all.length; index = end) {
    const field = items ? items.fields[index]! : index;
    for (end = index + 1; items?.fields[end] === field; ) end++;
    const own = all.subarray(index, end);
    const mayBeFixed =
      fields.hasMistyped(own) || (own.some(isJudged) && classifier.items.mayBeMarked(records(), field));
    if (mayBeFixed) fields.fix(field, own, classifier.items.textsOf(records(), field));
  }
  if (fields.items.length === 0) return undefined;
  if (items) classifier.judge.takeDeciding(codes, items);
  fields.replacements.sort((a, b) => a.start - b.start);
  return { chunk: records().replace(fields.replacements), items: fields.items, was: fields.was };
}

const isJudged = (code: number): boolean => hasItem(code) && !isKept(code) && code !== notCheckedCode;

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((item, nth) => item === others[nth]);

class FixedFields {
  readonly items: FixedItem[] = [];
  readonly was = new Map<number, string>();
  readonly replacements: Replacement[] = [];
  readonly #ledger: ItemLedger;
  readonly #fixer: Fixer;
  readonly #itemsIn: (text: string) => readonly string[];
  readonly #isFake: readonly boolean[];
  readonly #mayBeMistyped: readonly boolean[];

  constructor(ledger: ItemLedger, fixer: Fixer, itemsIn: (text: string) => readonly string[]) {
    this.#ledger = ledger;
    this.#fixer = fixer;
    this.#itemsIn = itemsIn;
    const { statuses, reasons } = ledger.codes;
    this.#isFake = statuses.map((status, code) => status === "fake" && !isKept(code));
    this.#mayBeMistyped = this.#isFake.map(
      (isFake, code) => isFake || (reasons[code] === similarDomain.code && !isKept(code)),
    );
  }

  hasMistyped(codes: Uint8Array): boolean {
    return codes.some((code) => this.#mayBeMistyped[code]);
  }

  fix(
    field: number,
    codes: Uint8Array,
    texts: readonly { readonly text: ValueText; readonly items: readonly FoundItem[] }[],
  ): void {
    let first = 0;
    for (const { text, items } of texts) {
      const fixes = items.map((found, nth) => this.#fixOf(codes[first + nth]!, found, items));
      let [result, from] = ["", 0];
      for (const [nth, { start, end, written }] of items.entries()) {
        const by = fixes[nth]?.item;
        if (by === undefined) continue;
        result += text.text.slice(from, start) + (written?.(by) ?? by);
        from = end;
      }
      result += text.text.slice(from);
      const wanted = items.map(({ item }, nth) => fixes[nth]?.item ?? item);
      if (from > 0 && isSame(this.#itemsIn(result), wanted)) {
        for (const [nth, { item, start, end, isMarked }] of items.entries()) {
          const fix = fixes[nth];
          if (fix === undefined) continue;
          codes[first + nth] = this.#ledger.codeFor({ status: fix.status, reason: fixedReason });
          this.items.push({ field, nth: first + nth, item: fix.item });
          this.#keepOld(field, isMarked ? text.text.slice(start, end) : item);
        }
        this.replacements.push({ start: text.start, end: text.end, bytes: text.written(result) });
      }
      first += items.length;
    }
  }

  #fixOf(code: number, found: FoundItem, all: readonly FoundItem[]): Fix | undefined {
    const { item, start, end, isMarked } = found;
    const isApart = all.every((other) => other === found || other.start >= end || other.end <= start);
    if (!isJudged(code) || !isApart) return undefined;
    const fix = this.#mayBeMistyped[code] ? this.#fixer(item) : undefined;
    if (fix === undefined && !isMarked) return undefined;
    // Without its marks, an item that is fake is as fake as before.
    if (fix === undefined && this.#isFake[code]) return undefined;
    return { item: fix?.item ?? item, status: fix?.status ?? this.#ledger.codes.statuses[code]! };
  }

  #keepOld(field: number, old: string): void {
    const before = this.was.get(field);
    this.was.set(field, before === undefined ? old : `${before}; ${old}`);
  }
}
