/** Takes the answers of DNS into the verdicts of a chunk. Must not know how DNS is asked. */
import { mayReceiveMail } from "../../classifier/rules/domain/unknown-tld.js";
import type { BlockClassifier } from "../blocks/block-classifier.js";
import type { ItemLedger } from "../item-ledger.js";
import { type Fixer, mayBeMistyped } from "../items/fixes.js";
import type { RunOptions } from "../run-options.js";
import type { NumberedChunk } from "./settler.js";

/** With DNS, replaces an item only if DNS does not object to the new one. */
export function fixerWith({ kind, fixer, mailCheck }: RunOptions): Fixer | undefined {
  if (fixer === undefined || mailCheck === undefined) return fixer;
  return (item) => {
    const fix = fixer(item);
    return fix && mailCheck.verdictOn(kind, fix.item, fix.status).status === fix.status ? fix : undefined;
  };
}

/** Asks DNS about the items of a chunk that passed, and about what mistyped ones are replaced by. */
export async function checkMail(
  chunk: NumberedChunk,
  { kind, mailCheck, fixer }: RunOptions,
  ledger: ItemLedger,
  classifier: BlockClassifier,
): Promise<void> {
  if (mailCheck === undefined) return;
  const codes = ledger.codesOf(chunk);
  const { hashes } = chunk.items ?? chunk;
  const { statuses, reasons } = ledger.codes;
  const isOpen = (code: number) => mayReceiveMail({ status: statuses[code] ?? "", reason: reasons[code] });
  const hashOf = (index: number) => ({ low: hashes[2 * index]!, high: hashes[2 * index + 1]! });
  const passed: { readonly item: string; readonly index: number }[] = [];
  const isAsked = (index: number) => isOpen(codes[index]!);
  classifier.items.each(chunk.chunk, chunk, isAsked, (item, index) => passed.push({ item, index }));
  const meant: string[] = [];
  const isMistyped = (index: number) => mayBeMistyped(codes[index]!, ledger.codes);
  if (fixer) {
    classifier.items.each(chunk.chunk, chunk, isMistyped, (item) => {
      const fix = fixer(item);
      if (fix !== undefined) meant.push(fix.item);
    });
  }
  const items = passed.map(({ item }) => item);
  await mailCheck.ask(kind, [...items, ...meant]);
  for (const { item, index } of passed) {
    // The same item in another chunk may have been settled meanwhile.
    const code = ledger.codeOf(hashOf(index));
    const status = statuses[code]!;
    const verdict = isOpen(code) ? mailCheck.verdictOn(kind, item, status) : undefined;
    if (verdict !== undefined && verdict.status !== status) ledger.settle(hashOf(index), verdict);
  }
}
