/**
 * Digests of items, by which the cache stores them: their hashes, encrypted. The hash of an item is short, and made to be
 * fast, not to resist analysis. Encrypted, it reveals nothing of its item to those who do not know the secret (Wegman and
 * Carter, 1981: hash with a keyed function, then encrypt). All digests of a batch take one call.
 */
import { createCipheriv, createDecipheriv, hash } from "node:crypto";

export interface ItemHash {
  readonly low: number;
  readonly high: number;
}

/** Length of a digest in bytes: a block of AES, of which the hash is the first half. */
export const digestBytes = 16;
const digestWords = digestBytes / 4;

export class Digests {
  readonly #encrypt;
  readonly #decrypt;

  constructor(secret: string) {
    const key = hash("sha256", `digests\n${secret}`, "buffer");
    // Blocks do not depend on each other: equal items must have equal digests.
    this.#encrypt = createCipheriv("aes-256-ecb", key, null).setAutoPadding(false);
    this.#decrypt = createDecipheriv("aes-256-ecb", key, null).setAutoPadding(false);
  }

  of(items: readonly ItemHash[]): Buffer {
    const words = new Int32Array(digestWords * items.length);
    let at = 0;
    for (const { low, high } of items) {
      words[at] = low;
      words[at + 1] = high;
      at += digestWords;
    }
    return this.#encrypt.update(new Uint8Array(words.buffer));
  }

  /** Returns the items with these digests; undefined unless all were made with this secret. */
  itemsOf(digests: Uint8Array): ItemHash[] | undefined {
    // A part of a block would stay in the cipher and come before the next digests.
    if (digests.length % digestBytes !== 0) return undefined;
    const bytes = this.#decrypt.update(digests);
    const items: ItemHash[] = [];
    for (let at = 0; at < bytes.length; at += digestBytes) {
      if (bytes.readInt32LE(at + 8) !== 0 || bytes.readInt32LE(at + 12) !== 0) return undefined;
      items.push({ low: bytes.readInt32LE(at), high: bytes.readInt32LE(at + 4) });
    }
    return items;
  }
}
