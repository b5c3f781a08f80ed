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
import type { ItemVerdicts } from "./item-verdicts.js";
import type { Slot } from "./threads/block-memory.js";

export type SlotFacts = Pick<Slot, "mailboxes" | "domains" | "fields">;

interface Judged {
  readonly codes: Uint8Array;
  readonly hashes: Int32Array;
  readonly items?: ItemVerdicts | undefined;
}

export class FactFinder {
  readonly #options: BlockOptions;
  readonly #kernel: BlockKernel | undefined;
  readonly #cells: Cells;
  readonly #hashOf: (key: string) => ItemHash;
  readonly #columns: readonly number[];

  constructor(options: BlockOptions, kernel: BlockKernel | undefined, cells: Cells, hashOf: (key: string) => ItemHash) {
    this.#options = options;
    this.#kernel = kernel;
    this.#cells = cells;
    this.#hashOf = hashOf;
    this.#columns = itemColumnsOf(options.shape);
  }

  /** Needs the kernel; without it, an observer reads the rows. */
  find(
    chunk: ScannedChunk,
    judged: Judged,
    slot?: SlotFacts,
  ): { readonly facts?: RowFacts | undefined; readonly mailboxes?: Int32Array } {
    const facts = this.#factsOf(chunk, slot);
    if (!wantsMailboxes(this.#options)) return { facts };
    const domains = this.#columns.map((column, nth) =>
      nth === 0 && facts ? facts.domains : this.#domainsOf(chunk.withColumn(column)),
    );
    return { facts, mailboxes: this.#hashMailboxes(chunk, judged, domains, slot?.mailboxes) };
  }

  hashOfMailbox(item: string): ItemHash {
    const key = mailboxKey(this.#options.kind, item);
    // The kernel hashes lower case only.
    return key === key.toLowerCase() ? this.#hashOf(key) : hashItem(this.#options.seed, key);
  }

  #factsOf(chunk: ScannedChunk, slot?: SlotFacts): RowFacts | undefined {
    const { facts } = this.#options;
    if (facts === undefined || this.#kernel === undefined) return undefined;
    const domains = this.#domainsOf(chunk, slot?.domains)!;
    const fields = facts.columns.map((column, nth) => {
      const hashes = slot?.fields[nth] ?? new Int32Array(2 * chunk.count);
      this.#kernel!.hashFields(chunk.withColumn(column), hashes);
      return hashes;
    });
    return { bytes: chunk.bytes, domains, fields };
  }

  #domainsOf(column: ScannedChunk, memory?: Int32Array): Int32Array | undefined {
    if (this.#kernel === undefined) return undefined;
    const domains = memory ?? new Int32Array(domainWords * column.count);
    this.#kernel.readDomains(column, domains);
    return domains;
  }

  #hashMailboxes(
    chunk: ScannedChunk,
    { codes, hashes, items }: Judged,
    domains: readonly (Int32Array | undefined)[],
    memory: Int32Array | undefined,
  ): Int32Array {
    const words = 2 * (items?.codes ?? codes).length;
    const mailboxes = (items ? undefined : memory?.subarray(0, words)) ?? new Int32Array(words);
    const width = this.#columns.length;
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
      const found = hasItem(codes[field]!) ? itemsInField(chunk, this.#columns, field, this.#cells) : [];
      for (const [nth, { item }] of found.entries()) {
        const { low, high } = this.hashOfMailbox(item);
        mailboxes[2 * (index + nth)] = low;
        mailboxes[2 * (index + nth) + 1] = high;
      }
      // A field without an item has an entry, too.
      index += Math.max(1, found.length);
    }
    return mailboxes;
  }
}
