/** Replaces mistyped items in their rows by what was probably meant. */
import { findTypo } from "../classifier/rules/typo-domain.js";
import type { Classification, Kind } from "../classifier/verdict.js";
import type { ScannedChunk } from "../table/scan/scanned-chunk.js";
import { Offset, recordWords } from "../table/scan/scanner.js";
import type { WrittenRecords } from "../table/writers/output.js";
import { itemKey } from "./item.js";

/** Reason of a row whose item was replaced. */
export const fixedReason = "fixed";

export interface Fix {
  readonly item: string;
  /** Status of that item. */
  readonly status: string;
}

/** Returns what replaces an item; undefined if it stays. */
export type Fixer = (item: string) => Fix | undefined;

/**
 * Which items are replaced: those at a domain that is one edit from a large provider, all with a suggestion, or only these, in
 * lower case.
 */
export type WantedFixes = "typos" | "all" | ReadonlySet<string>;

/** The suggestions are those of the classifier, whose verdict on them is `ok` or `alias`. */
export function fixerOf(
  classify: (kind: Kind, item: string) => Classification,
  kind: Kind,
  wanted: WantedFixes,
): Fixer {
  const isWanted = (item: string): boolean => {
    if (wanted === "all") return true;
    if (wanted !== "typos") return wanted.has(itemKey(item));
    return findTypo(item.slice(item.lastIndexOf("@") + 1).toLowerCase()) !== undefined;
  };
  return (item) => {
    const { status, suggestion } = classify(kind, item);
    if (status !== "fake" || suggestion === undefined || !isWanted(item)) return undefined;
    return { item: suggestion, status: classify(kind, suggestion).status };
  };
}

/** An item at a range of bytes of its chunk, and what replaces it. */
export interface FixedRow {
  readonly row: number;
  readonly start: number;
  readonly end: number;
  readonly bytes: Uint8Array;
}

/** Returns where an item is to be replaced; undefined if its row does not have it as it is, but with escapes. */
export function findFix(chunk: ScannedChunk, row: number, item: string, fix: Fix): FixedRow | undefined {
  const word = row * recordWords;
  const [from, to] = [chunk.at[word + Offset.valueStart]!, chunk.at[word + Offset.valueEnd]!];
  const text = Buffer.from(item);
  const at = chunk.bytes.subarray(from, to).indexOf(text);
  if (at === -1 || /["\\]/.test(item)) return undefined;
  return { row, start: from + at, end: from + at + text.length, bytes: Buffer.from(fix.item) };
}

/**
 * Replaces items in rows that are written. A written row starts with its record, or has it after a quote; in another format, the
 * first text like the item is replaced.
 */
export function withFixes(
  chunk: ScannedChunk,
  { bytes, ends }: WrittenRecords,
  fixes: readonly FixedRow[],
): WrittenRecords {
  const pieces: Uint8Array[] = [];
  const moved = Int32Array.from(ends);
  let [copied, shift, next] = [0, 0, 0];
  for (const { row, start, end, bytes: replacement } of fixes) {
    for (; next < row; next++) moved[next]! += shift;
    const rowStart = row === 0 ? 0 : ends[row - 1]!;
    const old = chunk.bytes.subarray(start, end);
    const likely = rowStart + start - chunk.at[row * recordWords + Offset.start]!;
    const isAt = (at: number) => bytes.subarray(at, at + old.length).equals(old);
    const at = isAt(likely) ? likely : isAt(likely + 1) ? likely + 1 : bytes.indexOf(old, rowStart);
    if (at === -1 || at + old.length > ends[row]!) continue;
    pieces.push(bytes.subarray(copied, at), replacement);
    copied = at + old.length;
    shift += replacement.length - old.length;
  }
  for (; next < moved.length; next++) moved[next]! += shift;
  return {
    bytes: Buffer.concat([...pieces, bytes.subarray(copied, ends.at(-1) ?? bytes.length)]),
    ends: moved,
  };
}
