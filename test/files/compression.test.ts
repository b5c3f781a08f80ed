import { gzipSync } from "node:zlib";
import { compress } from "@cloudpss/zstd";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compressionByMagic, decompress } from "../../src/files/compression.js";
import { zstdPieces } from "../../src/files/zstd-frames.js";

/** Bytes in pieces, each of them gone when the next is asked for, as a file's reader has it. */
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

const pack = {
  gzip: (bytes: Buffer) => gzipSync(bytes),
  zstd: (bytes: Buffer) => Buffer.from(compress(bytes)),
};
/** RFC 8878 §3.1.2: a frame to skip, of 3 bytes. */
const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);

describe.each(["gzip", "zstd"] as const)("%s", (compression) => {
  const part = fc.oneof(
    fc.string({ maxLength: 200 }).map((text) => Buffer.from(text)),
    fc.nat(400_000).map((length) => Buffer.alloc(length, "ann@larch-and-oak.com\n")),
  );

  test("one part behind the other, in pieces of any size", async () => {
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
      { numRuns: 40 },
    );
  });

  test("cut off anywhere, it is an error", async () => {
    const packed = pack[compression](Buffer.from("email\nann@larch-and-oak.com\n".repeat(30)));
    for (let length = 4; length < packed.length; length++) {
      const reading = gather(decompress("list", compression, reused(packed.subarray(0, length), 50)));
      await expect(reading).rejects.toThrow(`list: the ${compression} data is damaged: it is cut off`);
    }
  });

  test("an error of the input stays what it is", async () => {
    async function* failing() {
      yield pack[compression](Buffer.from("email\n")).subarray(0, 10);
      throw new Error("the disk is gone");
    }
    await expect(gather(decompress("list", compression, failing()))).rejects.toThrow("the disk is gone");
  });
});

test("zstd frames that are skipped", async () => {
  const packed = Buffer.concat([skippable, pack.zstd(Buffer.from("a@b.net\n")), skippable]);
  expect((await gather(decompress("list", "zstd", reused(packed, 2)))).toString()).toBe("a@b.net\n");
  expect(compressionByMagic(packed)).toBe("zstd");
});

test("pieces of zstd are the same bytes, cut small", async () => {
  const packed = pack.zstd(Buffer.alloc(20_000_000));
  const pieces: Buffer[] = [];
  for await (const piece of zstdPieces(reused(packed, 1_000_000))) pieces.push(piece);
  expect(Buffer.concat(pieces).equals(packed)).toBe(true);
  // 128 KiB a block, 16 blocks a piece.
  expect(pieces.length).toBeGreaterThanOrEqual(9);
});

test.each([
  ["something else behind a frame", Buffer.concat([pack.zstd(Buffer.from("a")), Buffer.from("more")])],
  ["a block of an unknown type", Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x01, 0x07, 0x00, 0x00])],
])("%s is an error", async (_, packed) => {
  const reading = gather(decompress("list", "zstd", reused(packed, 100)));
  await expect(reading).rejects.toThrow("list: the zstd data is damaged: ");
});
