// Facts about each row for observers and `--dedupe`. The threads hash, and the main thread counts by these hashes;
// mailboxes are compared only for the one item in ten that is not in its canonical form.
import { hashItem, type ItemHash } from "../../classifier/tables/item-hash.js";
import { domainWords, isOwnMailbox } from "../../kernel/layout.js";
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import type { Cells } from "../items/cells.js";
import { mailboxKey } from "../items/item.js";
import type { RowFacts } from "../run-options.js";
import { hasItem } from "../status-codes.js";
import type { BlockKernel } from "./block-kernel.js";
import { type BlockOptions, itemColumnsOf, wantsMailboxes } from "./block-options.js";
import { itemsInField } from "./block-renderer.js";
import type { ChunkVerdicts } from "./chunk-verdicts.js";
import type { Slot } from "./threads/block-memory.js";

export type SlotFacts = Pick<Slot, "mailboxes" | "domains" | "fields">;

type Judged = Pick<ChunkVerdicts, "codes" | "hashes" | "items">;

export function createFactFinder(
  options: BlockOptions,
  kernel: BlockKernel | undefined,
  cells: Cells,
  hashOf: (key: string) => ItemHash,
) {
  const columns = itemColumnsOf(options.shape);

  function hashOfMailbox(item: string): ItemHash {
    const key = mailboxKey(options.kind, item);
    // The kernel hashes lower case only.
    return key === key.toLowerCase() ? hashOf(key) : hashItem(options.seed, key);
  }

  function factsOf(chunk: ScannedChunk, slot?: SlotFacts): RowFacts | undefined {
    const { facts } = options;
    if (facts === undefined || kernel === undefined) return undefined;
    const domains = domainsIn(chunk, slot?.domains)!;
    const fields = facts.columns.map((column, nth) => {
      const hashes = slot?.fields[nth] ?? new Int32Array(2 * chunk.count);
      kernel.hashFields(chunk.withColumn(column), hashes);
      return hashes;
    });
    return { bytes: chunk.bytes, domains, fields };
  }

  function domainsIn(column: ScannedChunk, memory?: Int32Array): Int32Array | undefined {
    if (kernel === undefined) return undefined;
    const domains = memory ?? new Int32Array(domainWords * column.count);
    kernel.readDomains(column, domains);
    return domains;
  }

  function hashMailboxes(
    chunk: ScannedChunk,
    { codes, hashes, items }: Judged,
    domains: readonly (Int32Array | undefined)[],
    memory: Int32Array | undefined,
  ): Int32Array {
    const words = 2 * (items?.codes ?? codes).length;
    const mailboxes = (items ? undefined : memory?.subarray(0, words)) ?? new Int32Array(words);
    const width = columns.length;
    let index = 0;
    for (let field = 0; field < codes.length; field++) {
      const row = width === 1 ? field : Math.floor(field / width);
      const flags = domains[field - row * width]?.[domainWords * row + 3] ?? 0;
      if ((flags & isOwnMailbox) !== 0) {
        mailboxes[2 * index] = hashes[2 * field]!;
        mailboxes[2 * index + 1] = hashes[2 * field + 1]!;
        index++;
        continue;
      }
      const found = hasItem(codes[field]!) ? itemsInField(chunk, columns, field, cells) : [];
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
    /** Needs the kernel; without it, an observer reads the rows. */
    find(chunk: ScannedChunk, judged: Judged, slot?: SlotFacts) {
      const facts = factsOf(chunk, slot);
      if (!wantsMailboxes(options)) return { facts };
      const domains = columns.map((column, nth) =>
        nth === 0 && facts ? facts.domains : domainsIn(chunk.withColumn(column)),
      );
      return { facts, mailboxes: hashMailboxes(chunk, judged, domains, slot?.mailboxes) };
    },
    domainsIn,
    hashOfMailbox,
  };
}
