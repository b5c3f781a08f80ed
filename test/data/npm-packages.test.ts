/** Covers what is accepted as a downloaded package. */
import { createHash } from "node:crypto";
import { createTarGzip } from "nanotar";
import { describe, expect, test } from "vitest";
import { extractFile } from "../../src/engines/data/npm-packages.js";

const sha512 = (bytes: Uint8Array) => `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
const tarball = await createTarGzip([
  { name: "package/package.json", data: "{}" },
  { name: "package/index.json", data: '["throwaway.com"]' },
]);

const extract = (bytes: Uint8Array, integrity: string, file = "index.json") =>
  extractFile({ name: "some-list", version: "9.0.0", integrity }, bytes, file);

describe("extracting a file of a package", () => {
  test.each([
    ["one checksum", sha512(tarball)],
    ["several", `sha1-abc= ${sha512(tarball)}`],
  ])("succeeds given %s", async (_, integrity) => {
    expect(Buffer.from(await extract(tarball, integrity)).toString()).toBe('["throwaway.com"]');
  });

  test.each([
    ["the checksum of something else", tarball, sha512(Buffer.of())],
    ["no checksum", tarball, ""],
    ["no sha512 checksum", tarball, `sha1-${createHash("sha1").update(tarball).digest("base64")}`],
    ["a truncated download", tarball.subarray(0, 60), sha512(tarball)],
  ])("fails given %s", async (_, bytes, integrity) => {
    await expect(extract(bytes, integrity)).rejects.toThrow(
      "some-list 9.0.0: the download does not have the sha512 sum that the registry names; the data in use is unchanged",
    );
  });

  test("fails if the package does not contain the file", async () => {
    await expect(extract(tarball, sha512(tarball), "list.txt")).rejects.toThrow(
      "some-list 9.0.0: contains no list.txt; the data in use is unchanged",
    );
  });
});
