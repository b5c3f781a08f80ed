// Judges what the kernel leaves: items that are not plain (see kernel/assembly/judge.ts), one of several, maybe
// placeholders, or at a domain with rules that the kernel does not have.
import { domainToASCII } from "node:url";
import type { Classifier } from "../../classifier/classifier.js";
import { outcomeCode } from "../../classifier/outcomes.js";
import { listedDomain } from "../../classifier/rules/domain/disposable-domain.js";
import { typoDomain } from "../../classifier/rules/domain/typo-domain.js";
import { withoutRoot } from "../../classifier/syntax/domain-name.js";
import { hashItem, type ItemHash } from "../../classifier/tables/item-hash.js";
import type { Classification } from "../../classifier/verdict.js";
import { askCode, disposableDomainCode } from "../../kernel/layout.js";
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import { DomainCounts } from "../domain-counts.js";
import { type Cells, decidesBefore } from "../items/cells.js";
import { itemKey } from "../items/item.js";
import { hasItem, isKept, noItemCode, notCheckedCode, otherShardCode } from "../status-codes.js";
import type { BlockKernel } from "./block-kernel.js";
import { type BlockOptions, isFirstShard, isHere, itemColumnsOf } from "./block-options.js";
import type { ChunkVerdicts, Judged, MainThread } from "./chunk-verdicts.js";
import type { FieldItems } from "./field-items.js";
import type { Decides, ItemVerdict, ItemVerdicts } from "./item-verdicts.js";
import { FieldVerdicts, goodRows, takeDeciding } from "./item-verdicts.js";

const typoCode = outcomeCode({ reason: typoDomain.code });

interface Judges {
  readonly classifier: Classifier | undefined;
  readonly kernel: BlockKernel | undefined;
  readonly main: MainThread;
  readonly cells: Cells;
  readonly items: FieldItems;
}

export interface JudgedChunk extends Pick<ChunkVerdicts, "items" | "emptied" | "marked" | "repairable"> {
  readonly notUtf8: Set<number>;
}

export class Judge {
  /** Items at disposable domains, except those that the kernel counts in its memory. */
  readonly domains = new DomainCounts();
  readonly #width: number;
  readonly #isFirstShard: boolean;

  constructor(
    private readonly options: BlockOptions,
    private readonly judges: Judges,
  ) {
    this.#width = itemColumnsOf(options.shape).length;
    this.#isFirstShard = isFirstShard(options);
  }

  /** `codes` has `askCode` for fields that are left; `isPlaced`: only rows of this shard are left. */
  judgeRest(columns: readonly ScannedChunk[], codes: Uint8Array, hashes: Int32Array, isPlaced: boolean): JudgedChunk {
    const width = this.#width;
    if (this.options.isService) leaveToService(codes);
    const verdicts = new FieldVerdicts(codes, hashes);
    const before = { emptied: this.judges.cells.emptied, marked: this.judges.cells.marked };
    const notUtf8 = new Set<number>();
    for (let field = codes.indexOf(askCode); field !== -1; field = codes.indexOf(askCode, field + 1)) {
      const row = width === 1 ? field : Math.floor(field / width);
      const column = columns[field - row * width]!;
      // Every shard reads these values, but only the first one counts them.
      if ((this.#isFirstShard || isPlaced) && !column.isUtf8(row)) notUtf8.add(row);
      if (this.#judgeList(column, row, field, verdicts)) continue;
      const { marked } = this.judges.cells;
      const items = this.judges.cells.itemsIn(column.value(row));
      if (isPlaced || items.length > 1 || isHere(this.options, items[0])) this.#classifyField(items, field, verdicts);
      else {
        codes[field] = otherShardCode;
        // The shard of the item counts its marks.
        this.judges.cells.marked = marked;
      }
    }
    const items = verdicts.all(this.#decides);
    return {
      items,
      notUtf8,
      emptied: this.#isFirstShard ? this.judges.cells.emptied - before.emptied : 0,
      marked: this.judges.cells.marked - before.marked,
      repairable: this.#countRepairable(columns[0]!, { codes, items }),
    };
  }

  takeDeciding(codes: Uint8Array, items: ItemVerdicts): void {
    takeDeciding(codes, items, this.#decides);
  }

  goodRows({ columns, codes, items }: ChunkVerdicts): Uint8Array | undefined {
    return items || columns > 1 ? goodRows(this.judges.main.codes.statuses, columns, codes, items) : undefined;
  }

  #judgeList(chunk: ScannedChunk, row: number, field: number, verdicts: FieldVerdicts): boolean {
    const { cells, shard, isService } = this.options;
    if (!this.judges.cells.takesPlainAddresses || cells.deciding === "first" || shard) return false;
    const { kernel } = this.judges;
    const count = kernel?.judgeList(chunk, row, this.#isCounted(field)) ?? 0;
    if (count === 0) return false;
    const { codes, hashes } = kernel!.own;
    let items: readonly string[] | undefined;
    for (let nth = 0; nth < count; nth++) {
      if (codes[nth] === askCode && !isService) {
        items ??= this.judges.cells.itemsIn(chunk.value(row));
        verdicts.put(field, nth, this.#classifyText(items[nth]!, field));
      } else {
        const code = isService ? notCheckedCode : codes[nth]!;
        verdicts.put(field, nth, { code, low: hashes[2 * nth]!, high: hashes[2 * nth + 1]! });
      }
    }
    return true;
  }

  #classifyField(items: readonly string[], field: number, verdicts: FieldVerdicts): void {
    if (items.length === 0) verdicts.codes[field] = noItemCode;
    for (const [nth, item] of items.entries()) verdicts.put(field, nth, this.#classifyText(item, field));
  }

  /** As in the report, only items of the first column count among the domains. */
  #isCounted(field: number): boolean {
    return field % this.#width === 0;
  }

  readonly #decides: Decides = (code, earlier) => {
    const { statuses } = this.judges.main.codes;
    return decidesBefore(statuses[code]!, statuses[earlier]!, this.options.cells.deciding);
  };

  #classifyText(item: string, field: number): ItemVerdict {
    const hash = this.hashOf(itemKey(item));
    if (this.judges.classifier === undefined) {
      return { code: this.judges.main.precheck?.(item) ?? notCheckedCode, ...hash };
    }
    const verdict = this.judges.classifier.judge(this.options.kind, item);
    if (this.#isCounted(field)) this.#countDomain(item, verdict, 1);
    return { code: outcomeCode(verdict), ...hash };
  }

  /** The hash is the same in all threads of a run, with and without the kernel. */
  hashOf(key: string): ItemHash {
    return this.judges.kernel?.hash(key) ?? hashItem(this.options.seed, key);
  }

  takeBack(chunk: () => ScannedChunk, { codes, items }: Judged, isTakenBack = (_place: number): boolean => true): void {
    const counted = items?.codes ?? codes;
    const isWanted = (index: number, isFirstColumn: boolean) =>
      isFirstColumn && counted[index] === disposableDomainCode && isTakenBack(index);
    this.judges.items.each(chunk, { codes, items }, isWanted, (item) =>
      this.#countDomain(item, this.judges.classifier!.judge(this.options.kind, item), -1),
    );
  }

  #countRepairable(chunk: ScannedChunk, { codes, items }: Judged): number {
    if (this.judges.classifier === undefined) return 0;
    const width = this.#width;
    const all = items?.codes ?? codes;
    let count = 0;
    let last = -1;
    let first = 0;
    for (let index = all.indexOf(typoCode); index !== -1; index = all.indexOf(typoCode, index + 1)) {
      const field = items ? items.fields[index]! : index;
      if (field % width !== 0 || field === last) continue;
      // The field's first item: looked for from here if it is another field than that of the last typo.
      if (items === undefined || items.fields[first] !== field) first = index;
      while (items !== undefined && items.fields[first - 1] === field) first--;
      const item = this.judges.items.itemAt(chunk, field, index - first)!;
      if (this.judges.classifier.classify(this.options.kind, item).suggestion === undefined) continue;
      count++;
      last = field;
    }
    return count;
  }

  #countDomain(item: string, { reason }: Classification, items: number): void {
    const listed = listedDomain(reason);
    if (listed === undefined) return;
    if (this.judges.kernel) this.judges.kernel.countDomain(domainOf(item), items);
    else this.domains.add(listed, items);
  }
}

/** Only the syntax is decided here: items that the kernel has judged wait for the service. */
function leaveToService(codes: Uint8Array): void {
  for (let field = 0; field < codes.length; field++) {
    const code = codes[field]!;
    if (hasItem(code) && code !== askCode && !isKept(code)) codes[field] = notCheckedCode;
  }
}

const domainOf = (item: string): string => domainToASCII(withoutRoot(item.slice(item.lastIndexOf("@") + 1)));
