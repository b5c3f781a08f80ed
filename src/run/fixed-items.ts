/**
 * Repairs the items of a chunk: replaces those that are mistyped or have marks around them in their records, which are
 * rendered afterwards, in whatever format.
 */
import type { Replacement, ScannedChunk, ValueText } from "../table/scan/scanned-chunk.js";
import type { BlockClassifier } from "./blocks/block-classifier.js";
import { type Fixer, fixedReason } from "./fixes.js";
import type { FoundItem } from "./item.js";
import type { ItemLedger } from "./item-ledger.js";
import type { NumberedChunk } from "./settle/settler.js";
import { hasItem, isKept, notCheckedCode } from "./status-codes.js";

/** An item that is replaced: its index in its field, and what replaces it. */
interface FixedItem {
  readonly field: number;
  readonly nth: number;
  readonly item: string;
}

export interface FixedChunk {
  /** The records with the new items. */
  readonly chunk: ScannedChunk;
  readonly items: readonly FixedItem[];
  /** By field, what the replaced items were. */
  readonly was: ReadonlyMap<number, string>;
}

/**
 * Replaces items, and gives them, and their fields, the codes of the new ones.
 *
 * @returns undefined if nothing is replaced
 */
export function fixItems(
  { codes, items }: NumberedChunk,
  ledger: ItemLedger,
  records: () => ScannedChunk,
  classifier: BlockClassifier,
  fixer: Fixer,
): FixedChunk | undefined {
  const fields = new FixedFields(ledger, fixer);
  const all = items?.codes ?? codes;
  for (let index = 0, end = 0; index < all.length; index = end) {
    const field = items ? items.fields[index]! : index;
    for (end = index + 1; items?.fields[end] === field; ) end++;
    const own = all.subarray(index, end);
    const mayBeFixed =
      fields.hasFake(own) || (own.some(isJudged) && classifier.mayBeMarked(records(), field));
    if (mayBeFixed) fields.fix(field, own, classifier.textsOf(records(), field));
  }
  if (fields.items.length === 0) return undefined;
  if (items) classifier.takeDeciding(codes, items);
  fields.replacements.sort((a, b) => a.start - b.start);
  return { chunk: records().replace(fields.replacements), items: fields.items, was: fields.was };
}

const isJudged = (code: number): boolean => hasItem(code) && !isKept(code) && code !== notCheckedCode;

class FixedFields {
  readonly items: FixedItem[] = [];
  readonly was = new Map<number, string>();
  readonly replacements: Replacement[] = [];
  readonly #ledger: ItemLedger;
  readonly #fixer: Fixer;
  readonly #isFake: readonly boolean[];

  constructor(ledger: ItemLedger, fixer: Fixer) {
    this.#ledger = ledger;
    this.#fixer = fixer;
    this.#isFake = ledger.codes.statuses.map((status, code) => status === "fake" && !isKept(code));
  }

  hasFake(codes: Uint8Array): boolean {
    return codes.some((code) => this.#isFake[code]);
  }

  /**
   * Replaces the items of a field.
   *
   * @param codes the codes of its items, which get those of the new ones
   * @param texts nothing if the items cannot be told apart in the field
   */
  fix(
    field: number,
    codes: Uint8Array,
    texts: readonly { readonly text: ValueText; readonly items: readonly FoundItem[] }[],
  ): void {
    let nth = 0;
    for (const { text, items } of texts) {
      let [result, from] = ["", 0];
      for (const found of items) {
        const by = this.#newItem(codes, nth, found);
        if (by !== undefined) {
          result += text.text.slice(from, found.start) + (found.written?.(by) ?? by);
          from = found.end;
          this.items.push({ field, nth, item: by });
          this.#keepOld(field, found.isMarked ? text.text.slice(found.start, found.end) : found.item);
        }
        nth++;
      }
      if (from === 0) continue;
      const bytes = text.written(result + text.text.slice(from));
      this.replacements.push({ start: text.start, end: text.end, bytes });
    }
  }

  /** Returns what replaces an item, and gives it its new code; undefined if it stays. */
  #newItem(codes: Uint8Array, nth: number, { item, isMarked }: FoundItem): string | undefined {
    const code = codes[nth]!;
    if (!isJudged(code)) return undefined;
    const fix = this.#isFake[code] ? this.#fixer(item) : undefined;
    if (fix === undefined && !isMarked) return undefined;
    const status = fix?.status ?? this.#ledger.codes.statuses[code]!;
    // Without its marks, an item that is fake is as fake as before.
    if (fix !== undefined || !this.#isFake[code])
      codes[nth] = this.#ledger.codeFor({ status, reason: fixedReason });
    return fix?.item ?? item;
  }

  #keepOld(field: number, old: string): void {
    const before = this.was.get(field);
    this.was.set(field, before === undefined ? old : `${before}; ${old}`);
  }
}
