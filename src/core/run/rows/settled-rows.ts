/** Makes the rows of a chunk whose items have their verdicts: their statuses, and how to render them. */
import type { Flag } from "../../classifier/flags/flag-names.js";
import type { ItemHash } from "../../classifier/tables/item-hash.js";
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import { keepRecords, wantedRecords } from "../../table/writers/record-writer.js";
import type { Status } from "../../validator/validator.js";
import type { BlockClassifier } from "../blocks/block-classifier.js";
import type { plainItemOf } from "../blocks/plain-address.js";
import type { PlainFlags } from "../blocks/plain-flags.js";
import type { ItemLedger } from "../item-ledger.js";
import { type FixedChunk, fixItems } from "../items/fixed-items.js";
import type { Fixer } from "../items/fixes.js";
import type { NumberedChunk } from "../settle/settler.js";
import { isKept, notCheckedCode } from "../status-codes.js";
import type { RowKeys, RowsWithStatus } from "./row-writer.js";

interface SettledRowOptions {
  /** Whether verdicts of the run may be others than those of the chunk. */
  readonly differs: boolean;
  readonly countsDomains: boolean;
  readonly flagsOf: (item: string, status: Status) => readonly Flag[];
  /** Undefined if flags depend on more than items. */
  readonly plainFlags: PlainFlags | undefined;
  readonly plainItem: ReturnType<typeof plainItemOf>;
  readonly fixer: Fixer | undefined;
  readonly isMade: boolean;
}

export function settledRows(
  numbered: NumberedChunk,
  ledger: ItemLedger,
  classifier: BlockClassifier,
  { differs, countsDomains, flagsOf, plainFlags, plainItem, fixer, isMade }: SettledRowOptions,
): RowsWithStatus {
  const { columns, codes, items, emptied, marked, repairable, notUtf8, kept, written, release } = numbered;
  const { facts, elsewhere, elsewhereAt, elsewhereRow } = numbered;
  let scanned: ScannedChunk | undefined;
  const records = () => {
    scanned ??= numbered.chunk();
    return scanned;
  };
  const judged = items ? { codes, items: { ...items, codes: items.codes.slice() } } : { codes: codes.slice() };
  const isOther = differs && ledger.takeCodes(numbered);
  if (isOther) {
    if (items) classifier.judge.takeDeciding(codes, items);
    const all = items?.codes ?? codes;
    if (countsDomains) classifier.judge.takeBack(records, judged, (index) => all[index] === notCheckedCode);
  }
  const fixed = fixer && fixItems(numbered, ledger, records, classifier, fixer);
  // Those of the items that decide: facts are about the first column, before repairs.
  const ownFacts = columns === 1 && !fixed ? facts : undefined;
  const itemOf = (row: number) => classifier.items.deciding(fixed?.chunk ?? records(), row, { codes, items });
  const rendered =
    (!isOther && !fixed && written) ||
    classifier.renderer.render(fixed?.chunk ?? records(), { codes, items }, fixed?.was);
  return {
    codes: codesOf(codes, 0, columns),
    ...{ emptied, marked, repairable, notUtf8, kept, facts, elsewhere, elsewhereAt },
    fixed: new Set(fixed && Array.from(fixed.was.keys(), (field) => Math.floor(field / columns))).size,
    isFirst: () => firstRows(numbered),
    otherCodes: Array.from({ length: columns - 1 }, (_, nth) => codesOf(codes, nth + 1, columns)),
    keys: fixed ? fixedKeys(classifier, numbered, fixed) : classifier.rows.keysOf(numbered),
    good: () => classifier.judge.goodRows(numbered),
    ...(numbered.mailboxes && { mailboxes: mailboxesOf(numbered, numbered.mailboxes, ledger) }),
    elsewhereName: () => classifier.elsewhereIn(records(), elsewhereRow - 1),
    hashOf: (domain) => classifier.judge.hashOf(domain),
    item: (row) => (ownFacts && plainItem?.(ownFacts, row)) ?? itemOf(row),
    locate: (row) => {
      const line = isMade ? undefined : records().lineOf(row);
      return { line, value: records().value(row), item: itemOf(row) };
    },
    flagsOf: (row) => {
      const plain = ownFacts && plainFlags?.of(ownFacts.bytes, ownFacts.domains, row);
      if (plain !== undefined) return plain;
      const code = codes[row * columns]!;
      const item = itemOf(row) ?? (isKept(code) ? "" : records().value(row).trim());
      return flagsOf(item, ledger.codes.statuses[code]!);
    },
    field: (row, column) => records().field(row, column),
    all: () => rendered.bytes,
    keep: (isWanted, leftOut) => keepRecords(rendered, isWanted, leftOut),
    copy: (isWanted) => wantedRecords(rendered, isWanted),
    ...(release && { release }),
  };
}

function fixedKeys(classifier: BlockClassifier, numbered: NumberedChunk, { items }: FixedChunk): RowKeys | undefined {
  const keys = classifier.rows.keysOf(numbered);
  if (keys === undefined) return undefined;
  const hashes = keys.hashes.slice();
  // Both are in the order of their rows.
  let first = 0;
  for (const { field, nth, item } of items) {
    if (field % numbered.columns !== 0) continue;
    const row = field / numbered.columns;
    if (keys.rows) while (keys.rows[first]! < row) first++;
    const index = (keys.rows ? first : row) + nth;
    const { low, high } = classifier.rows.keyOf(item);
    hashes[2 * index] = low;
    hashes[2 * index + 1] = high;
  }
  return { ...keys, hashes };
}

/** Only items of the first column are marked as new. */
function mailboxesOf({ columns, items, isNew, hashes }: NumberedChunk, mailboxes: Int32Array, ledger: ItemLedger) {
  const isNewInFirst = () => isNew.map((one, index) => ((items?.fields[index] ?? index) % columns === 0 ? one : 0));
  return {
    hashes: mailboxes,
    items: items?.hashes ?? hashes,
    isNew: columns === 1 ? isNew : isNewInFirst(),
    isItem: (hash: ItemHash) => ledger.codeOf(hash) !== 0,
  };
}

const codesOf = (codes: Uint8Array, nth: number, columns: number): Uint8Array => {
  if (columns === 1) return codes;
  const own = new Uint8Array(codes.length / columns);
  for (let row = 0, field = nth; row < own.length; row++, field += columns) own[row] = codes[field]!;
  return own;
};

function firstRows({ columns, codes, items, isNew }: NumberedChunk): Uint8Array {
  if (items === undefined) return codesOf(isNew, 0, columns);
  const isFirst = new Uint8Array(codes.length / columns);
  for (let index = 0; index < isNew.length; index++) {
    const field = items.fields[index]!;
    if (isNew[index] === 1 && field % columns === 0) isFirst[field / columns] = 1;
  }
  return isFirst;
}
