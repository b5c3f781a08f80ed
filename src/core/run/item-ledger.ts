// The distinct items of a session: hashes, each with one byte, the code of its status. Charges, services, the cache and
// DNS change codes here, and rows look them up when they are written.
import { createHmac, randomFillSync } from "node:crypto";
import type { ItemHash } from "../classifier/tables/item-hash.js";
import type { AddedItems } from "../kernel/distinct-table.js";
import { seedWords } from "../kernel/layout.js";
import { ServiceError } from "../validator/errors.js";
import type { QuotaState, Verdict } from "../validator/validator.js";
import type { ChunkVerdicts } from "./blocks/chunk-verdicts.js";
import { DistinctItems } from "./distinct-items.js";
import type { RunCounts } from "./session.js";
import { isKept, isRow, mostStatuses, noItemCode, notCheckedCode, StatusCodes } from "./status-codes.js";

const estimatingShare = 1 / 8;

export type Numbered = { readonly isNew: Uint8Array; readonly newItems: number };

export class ItemLedger {
  readonly codes = new StatusCodes();
  /** Seed of the item hashes. It is secret, so that no list can be made to collide. */
  readonly seed: Int32Array;
  quota: QuotaState | undefined;
  cached = 0;
  prechecked = 0;
  charged = 0;
  readonly #items = new DistinctItems();
  readonly #engine: string;
  #distinct = 0;

  /** The seed is derived from `secret`, so that other runs have the same hashes; without it, it is random. */
  constructor(engine: string, secret?: Uint8Array) {
    this.#engine = engine;
    this.seed = secret ? seedOf(secret) : randomFillSync(new Int32Array(seedWords));
  }

  get counts(): RunCounts {
    const { cached, prechecked, charged } = this;
    return { distinct: this.#distinct, cached, prechecked, charged };
  }

  expect(share: number | undefined, before: number): void {
    if (share !== undefined && share >= estimatingShare)
      this.#items.table.expect(Math.ceil(before + (this.#items.size - before) / share));
  }

  add(chunk: ChunkVerdicts): Numbered {
    const { hashes, codes } = itemsOf(chunk);
    const { isNew, count }: AddedItems = this.#items.table.addAll(hashes, withoutKept(chunk, codes));
    this.#distinct += count;
    return { isNew, newItems: count };
  }

  takeCodes(chunk: ChunkVerdicts): boolean {
    const { codes } = itemsOf(chunk);
    const found = this.codesOf(chunk);
    let isAny = false;
    for (let index = 0; index < codes.length; index++) {
      if (isKept(codes[index]!) || found[index] === codes[index]) continue;
      codes[index] = found[index]!;
      isAny = true;
    }
    return isAny;
  }

  /** Returns the current codes of a chunk's items; `noItemCode` for rows that keep their statuses. */
  codesOf(chunk: ChunkVerdicts): Uint8Array {
    const { hashes, codes } = itemsOf(chunk);
    const found = withoutKept(chunk, codes).slice();
    this.#items.table.takeStates(hashes, found);
    return found;
  }

  settledRows(chunk: ChunkVerdicts): number {
    const { columns } = chunk;
    const found = this.codesOf(chunk);
    const isOpen = new Uint8Array(chunk.codes.length / columns);
    for (const [index, code] of found.entries()) {
      if (code === notCheckedCode) isOpen[Math.floor((chunk.items?.fields[index] ?? index) / columns)] = 1;
    }
    return isOpen.filter((open, row) => open === 0 && isRow(chunk.codes[row * columns]!)).length;
  }

  codeOf({ low, high }: ItemHash): number {
    return this.#items.get({ low, high });
  }

  /** @throws ServiceError when there are too many different verdicts */
  settle(item: ItemHash, verdict: Verdict): void {
    this.#items.set(item, this.codeFor(verdict));
  }

  /** Items must be in the ledger. @throws ServiceError when there are too many different verdicts */
  settleAll(items: readonly ItemHash[], verdicts: readonly Verdict[]): void {
    const hashes = new Int32Array(2 * items.length);
    const codes = new Uint8Array(items.length);
    for (let i = 0; i < items.length; i++) {
      hashes[2 * i] = items[i]!.low;
      hashes[2 * i + 1] = items[i]!.high;
      codes[i] = this.codeFor(verdicts[i]!);
    }
    this.#items.table.giveStates(hashes, codes);
  }

  give(item: ItemHash, code: number): void {
    this.#items.set(item, code);
  }

  forget(item: ItemHash): void {
    this.#items.set(item, 0);
    this.#distinct--;
  }

  codeFor(verdict: Verdict): number {
    const code = this.codes.codeOf(verdict);
    if (code !== undefined) return code;
    throw new ServiceError(`the ${this.#engine} engine gave more than ${mostStatuses} different statuses and reasons`);
  }
}

/** HMAC-SHA-512 has 64 bytes, and a seed uses 56 of them. */
function seedOf(secret: Uint8Array): Int32Array {
  const bytes = createHmac("sha512", secret).update("items").digest();
  return Int32Array.from({ length: seedWords }, (_, word) => bytes.readInt32LE(4 * word));
}

const itemsOf = (chunk: ChunkVerdicts): Pick<ChunkVerdicts, "hashes" | "codes"> => chunk.items ?? chunk;

function withoutKept({ kept, columns }: ChunkVerdicts, codes: Uint8Array): Uint8Array {
  // With several columns, a row may keep one status and have an item in another; `kept` does not count it.
  return kept > 0 || columns > 1 ? codes.map((code) => (isKept(code) ? noItemCode : code)) : codes;
}
