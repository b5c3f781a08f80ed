/** Covers the blocks of lines that the scanner gets. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { blocksOf } from "../../src/core/table/scan/blocks.js";
import { times } from "../support/tier.js";

test("blocks contain the bytes of the input, end at line ends and have a limited size", async () => {
  const line = fc.string({ maxLength: 60 }).map((text) => `${text.replaceAll(/[\r\n]/g, "")}\n`);
  const chunk = fc.array(line, { maxLength: 200 }).map((lines) => Buffer.from(lines.join("")));
  await fc.assert(
    fc.asyncProperty(fc.array(chunk, { maxLength: 8 }), fc.integer({ min: 256, max: 4096 }), async (chunks, size) => {
      const blocks: Buffer[] = [];
      async function* input() {
        yield* chunks;
      }
      for await (const { bytes } of blocksOf(input(), { blockBytes: size })) blocks.push(Buffer.from(bytes));
      expect(Buffer.concat(blocks).equals(Buffer.concat(chunks))).toBe(true);
      for (const block of blocks) {
        if (block.length > 0) expect(block.at(-1)).toBe(0x0a);
        // Two of them, and the line between.
        expect(block.length).toBeLessThan(2 * size);
      }
    }),
    { numRuns: times(200) },
  );
});
