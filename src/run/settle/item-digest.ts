/**
 * Digest of a set of items by their hashes, in any order: four sums, which can be added to those of other sets. Nobody can
 * choose the hashes, because their seed is secret.
 */
import { mix } from "../../classifier/mix.js";

export class ItemDigest {
  readonly sums = new Int32Array(4);

  /** @param hashes two 32-bit words each; counts those that are new */
  add(hashes: Int32Array, isNew: Uint8Array): void {
    const { sums } = this;
    for (let index = 0; index < isNew.length; index++) {
      if (isNew[index] === 0) continue;
      const [low, high] = [hashes[2 * index]!, hashes[2 * index + 1]!];
      sums[0]! += low;
      sums[1]! += high;
      sums[2]! += mix(low ^ Math.imul(high, 0x9e3779b1));
      sums[3]! += mix(high + Math.imul(low, 0x85ebca6b));
    }
  }
}
