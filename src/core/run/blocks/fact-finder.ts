// Facts about each row for observers and `--dedupe`. The threads hash, and the main thread counts by these hashes. The
// kernel hashes nearly all canonical forms, too; the classifier spells the others.
import { hashItem, type ItemHash } from "../../classifier/tables/item-hash.js";
import { domainWords, hasMailbox } from "../../kernel/layout.js";
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import type { Cells } from "../items/cells.js";
import { mailboxKey } from "../items/item.js";
import type { RowFacts } from "../run-options.js";
import { hasItem, isKept } from "../status-codes.js";
import type { BlockKernel } from "./block-kernel.js";
import { type BlockOptions, itemColumnsOf, wantsMailboxes } from "./block-options.js";
import { itemsInField } from "./block-renderer.js";
import type { Judged } from "./chunk-verdicts.js";
import type { Slot } from "./threads/block-memory.js";

export type SlotFacts = Pick<Slot, "mailboxes" | "domains" | "fields">;

export function createFactFinder(
  options: BlockOptions,
  kernel: BlockKernel | undefined,
  cells: Cells,
  { hashOf, isRendered }: { readonly hashOf: (key: string) => ItemHash; readonly isRendered: () => boolean },
) {
  const columns = itemColumnsOf(options.shape);

  function hashOfMailbox(item: string): ItemHash {
    const key = mailboxKey(options.kind, item);
    // The kernel hashes lower case only.
    return key === key.toLowerCase() ? hashOf(key) : hashItem(options.seed, key);
  }

  function factsOf(chunk: ScannedChunk, domains: Int32Array | undefined, slot?: SlotFacts): RowFacts | undefined {
    const { facts } = options;
    if (facts === undefined || kernel === undefined || domains === undefined) return undefined;
    const fields = facts.columns.map((column, nth) => {
      const hashes = slot?.fields[nth] ?? new Int32Array(2 * chunk.count);
      kernel.hashFields(chunk.withColumn(column), hashes);
      return hashes;
    });
    return { bytes: chunk.bytes, domains, fields };
  }

  /** For the words about the domains in each column that they are wanted of. */
  function memoryOf(rows: number, slot?: SlotFacts): readonly Int32Array[] {
    if (kernel === undefined) return [];
    const wanted = wantsMailboxes(options) ? columns.length : Number(options.facts !== undefined || isRendered());
    const words = domainWords * rows;
    return Array.from({ length: wanted }, (_, nth) => (nth === 0 ? slot?.domains : undefined) ?? new Int32Array(words));
  }

  function domainsIn(column: ScannedChunk, domains: Int32Array = new Int32Array(domainWords * column.count)) {
    kernel?.judge(column, { domains }, false);
    return kernel && domains;
  }

  function hashMailboxes(
    chunk: ScannedChunk,
    { codes, items }: Judged,
    domains: readonly Int32Array[],
    memory: Int32Array | undefined,
  ): Int32Array {
    const words = 2 * (items?.codes ?? codes).length;
    const mailboxes = (items ? undefined : memory?.subarray(0, words)) ?? new Int32Array(words);
    const width = columns.length;
    let index = 0;
    for (let field = 0; field < codes.length; field++) {
      const row = width === 1 ? field : Math.floor(field / width);
      const ofColumn = domains[field - row * width];
      const word = domainWords * row;
      if (ofColumn !== undefined && (ofColumn[word + 3]! & hasMailbox) !== 0) {
        mailboxes[2 * index] = ofColumn[word + 4]!;
        mailboxes[2 * index + 1] = ofColumn[word + 5]!;
        index++;
        continue;
      }
      // A field that keeps its status has one entry, whatever is in it.
      const isRead = hasItem(codes[field]!) && !isKept(codes[field]!);
      const found = isRead ? itemsInField(chunk, columns, field, cells) : [];
      for (const [nth, { item }] of found.entries()) {
        const { low, high } = hashOfMailbox(item);
        mailboxes[2 * (index + nth)] = low;
        mailboxes[2 * (index + nth) + 1] = high;
      }
      // A field without an item has an entry, too.
      index += Math.max(1, found.length);
    }
    return mailboxes;
  }

  return {
    /**
     * Needs the kernel; without it, an observer reads the rows. `found` has the words about domains if they came with the
     * verdicts.
     */
    find(chunk: ScannedChunk, judged: Judged, found?: readonly Int32Array[], slot?: SlotFacts) {
      const asked = (memory: Int32Array, nth: number) => domainsIn(chunk.withColumn(columns[nth]!), memory)!;
      const domains = found ?? memoryOf(chunk.count, slot).map(asked);
      const facts = factsOf(chunk, domains[0], slot);
      if (!wantsMailboxes(options)) return { domains, facts };
      return { domains, facts, mailboxes: hashMailboxes(chunk, judged, domains, slot?.mailboxes) };
    },
    memoryOf,
    domainsIn,
    hashOfMailbox,
  };
}
