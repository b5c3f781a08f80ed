/** What the browser build puts in the place of Node's module `crypto`. */
import { sha256 } from "@noble/hashes/sha2.js";
import { Buffer } from "./buffer.js";

export const randomFillSync = <Bytes extends Int32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>>(bytes: Bytes): Bytes =>
  crypto.getRandomValues(bytes);

/** `_algorithm` is always SHA-256, which Web Crypto has as a promise only. */
export function createHash(_algorithm: "sha256") {
  const hash = sha256.create();
  return {
    update(data: string | Uint8Array) {
      hash.update(Buffer.from(data));
      return this;
    },
    digest(encoding?: "base64"): string | Buffer {
      const bytes = Buffer.from(hash.digest());
      return encoding === undefined ? bytes : bytes.toString(encoding);
    },
  };
}

/** Quotas have hashes, and no page has a quota. */
export function createHmac(): never {
  throw new Error("there is no quota in a browser");
}
