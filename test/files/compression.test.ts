/** Covers the detection and decompression of gzip and zstd input. */
import { gunzipSync, gzipSync, inflateRawSync } from "node:zlib";
import { compress } from "@cloudpss/zstd";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decompress } from "../../src/formats/compression/compression.js";
import { compressionByMagic } from "../../src/formats/compression/compression-format.js";
import { GzipWriter } from "../../src/formats/compression/gzip.js";
import { zstdPieces } from "../../src/formats/compression/zstd-frames.js";
import { times } from "../support/tier.js";

/** Yields bytes in pieces that share one buffer: each piece overwrites the last, as in a file reader. */
async function* reused(bytes: Uint8Array, size: number) {
  const memory = new Uint8Array(size);
  for (let i = 0; i < bytes.length; i += size) {
    const piece = bytes.subarray(i, i + size);
    memory.set(piece);
    yield memory.subarray(0, piece.length);
    memory.fill(0xaa);
  }
}

async function gather(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(Buffer.from(piece));
  return Buffer.concat(all);
}

const pack = { gzip: (bytes: Buffer) => gzipSync(bytes), zstd: (bytes: Buffer) => Buffer.from(compress(bytes)) };
/** A skippable frame with 3 bytes of content (RFC 8878 §3.1.2). */
const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);

describe.each(["gzip", "zstd"] as const)("%s", (compression) => {
  const part = fc.oneof(
    fc.string({ maxLength: 200 }).map((text) => Buffer.from(text)),
    fc.nat(400_000).map((length) => Buffer.alloc(length, "ann@larch-and-oak.com\n")),
  );

  test("decompresses concatenated parts in pieces of any size", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 500 }),
        async (parts, size) => {
          const packed = Buffer.concat(parts.map(pack[compression]));
          expect(compressionByMagic(packed)).toBe(compression);
          const unpacked = await gather(decompress("list", compression, reused(packed, size)));
          expect(unpacked.equals(Buffer.concat(parts))).toBe(true);
        },
      ),
      { numRuns: times(40) },
    );
  });

  test("reports data that is cut off at any byte", async () => {
    const packed = pack[compression](Buffer.from("email\nann@larch-and-oak.com\n".repeat(30)));
    for (let length = 4; length < packed.length; length++) {
      const reading = gather(decompress("list", compression, reused(packed.subarray(0, length), 50)));
      await expect(reading).rejects.toThrow(`list: the ${compression} data is damaged: it is cut off`);
    }
  });

  test("passes on an error of the input unchanged", async () => {
    async function* failing() {
      yield pack[compression](Buffer.from("email\n")).subarray(0, 10);
      throw new Error("the disk is gone");
    }
    await expect(gather(decompress("list", compression, failing()))).rejects.toThrow("the disk is gone");
  });
});

test("skips skippable zstd frames", async () => {
  const packed = Buffer.concat([skippable, pack.zstd(Buffer.from("a@b.net\n")), skippable]);
  expect((await gather(decompress("list", "zstd", reused(packed, 2)))).toString()).toBe("a@b.net\n");
  expect(compressionByMagic(packed)).toBe("zstd");
});

test("zstdPieces splits data into small pieces and changes no byte", async () => {
  const packed = pack.zstd(Buffer.alloc(20_000_000));
  const pieces: Buffer[] = [];
  for await (const piece of zstdPieces(reused(packed, 1_000_000))) pieces.push(piece);
  expect(Buffer.concat(pieces).equals(packed)).toBe(true);
  // A block has 128 KiB, a piece 16 blocks.
  expect(pieces.length).toBeGreaterThanOrEqual(9);
});

test.each([
  ["other data after a frame", Buffer.concat([pack.zstd(Buffer.from("a")), Buffer.from("more")])],
  ["a block of an unknown type", Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x01, 0x07, 0x00, 0x00])],
])("rejects zstd data with %s", async (_, packed) => {
  const reading = gather(decompress("list", "zstd", reused(packed, 100)));
  await expect(reading).rejects.toThrow("list: the zstd data is damaged: ");
});

describe("gzip in pieces", () => {
  test("makes one member that decompresses to the bytes written, in steps of any size", async () => {
    const noise = Buffer.from(Array.from({ length: 1_500_000 }, (_, i) => (Math.imul(i, 0x9e3779b1) >>> 13) & 255));
    const text = Buffer.from("1,ann@larch-and-oak.com,Bonn\n".repeat(50_000));
    for (const [bytes, step] of [
      [Buffer.of(), 1],
      [Buffer.from("a"), 1],
      [text.subarray(0, 524_288), 524_288],
      [text, 100_003],
      [Buffer.concat([text, noise, text]), 1 << 20],
    ] as const) {
      const pieces: Buffer[] = [];
      const writer = new GzipWriter(async (piece) => void pieces.push(Buffer.from(piece)));
      const memory = Buffer.alloc(step);
      for (let from = 0; from < bytes.length; from += step) {
        const length = bytes.copy(memory, 0, from, from + step);
        await writer.write(memory.subarray(0, length));
        memory.fill(0xaa);
      }
      await writer.end();
      const packed = Buffer.concat(pieces);
      expect(gunzipSync(packed).equals(bytes)).toBe(true);
      // One member: its end is the end.
      expect(inflateRawSync(packed.subarray(10, -8)).equals(bytes)).toBe(true);
      expect(packed.length).toBeLessThan(1.01 * gzipSync(bytes).length + 100);
    }
  });

  test("fails with the error of its output", async () => {
    const writer = new GzipWriter(async () => {
      throw new Error("the disk is full");
    });
    const bytes = Buffer.alloc(524_288);
    const writing = async () => {
      for (let i = 0; i < 10; i++) await writer.write(bytes);
    };
    await expect(writing()).rejects.toThrow("the disk is full");
    await expect(writer.end()).rejects.toThrow("the disk is full");
  });
});
