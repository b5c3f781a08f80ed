/** Digests of items: hashes, which are fast and resist no analysis, encrypted (Wegman and Carter, 1981). */
import { createCipheriv, createDecipheriv, hash } from "node:crypto";

export interface ItemHash {
  readonly low: number;
  readonly high: number;
}

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
