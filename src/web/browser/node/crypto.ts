/** What the browser build puts in the place of Node's module `crypto`. */
import { sha256 } from "@noble/hashes/sha2.js";
import { Buffer } from "./buffer.js";

export const randomFillSync = <Bytes extends Int32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>>(
  bytes: Bytes,
): Bytes => crypto.getRandomValues(bytes);

/** SHA-256, whatever `_algorithm` is: idv has no other. Web Crypto has it as a promise only. */
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

/** For the hashes of a quota, which no page has. */
export function createHmac(): never {
  throw new Error("there is no quota in a browser");
}
