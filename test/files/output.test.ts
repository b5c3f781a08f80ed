/** Covers how output files are written, replaced and discarded. */
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openOutputFile } from "../../src/files/output.js";
import { temporaryFolder } from "../support/temporary-folder.js";

describe("an output file", () => {
  test("replaces the old file only on commit, as a whole", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "out.csv");
    writeFileSync(path, "old");
    const sink = await openOutputFile(path);
    await sink.write(Buffer.from("new, "));
    await sink.write(Buffer.from("whole"));
    expect(readFileSync(path, "utf8")).toBe("old");
    await sink.commit();
    expect(readFileSync(path, "utf8")).toBe("new, whole");
    expect(readdirSync(folder)).toEqual(["out.csv"]);
  });

  test("leaves no file when it is discarded", async () => {
    const folder = temporaryFolder();
    const sink = await openOutputFile(join(folder, "out.csv"));
    await sink.write(Buffer.from("half"));
    await sink.discard();
    expect(readdirSync(folder)).toEqual([]);
  });

  // The umask takes rights from new files, and would from the last two.
  test.each(["600", "640", "666", "2775"])("keeps the mode %s of the file it replaces", async (octal) => {
    const mode = Number.parseInt(octal, 8);
    const path = join(temporaryFolder(), "out.csv");
    writeFileSync(path, "old");
    chmodSync(path, mode);
    const sink = await openOutputFile(path);
    await sink.commit();
    expect(statSync(path).mode & 0o7777).toBe(mode);
  });

  test.skipIf(process.getuid?.() !== 0)("keeps the owner and the group of the file it replaces", async () => {
    const path = join(temporaryFolder(), "out.csv");
    writeFileSync(path, "old");
    chownSync(path, 12_345, 23_456);
    const sink = await openOutputFile(path);
    await sink.commit();
    const { uid, gid } = statSync(path);
    expect({ uid, gid }).toEqual({ uid: 12_345, gid: 23_456 });
  });

  test("goes to the target of a symbolic link", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "real"));
    writeFileSync(join(folder, "real", "out.csv"), "old");
    const link = join(folder, "link.csv");
    symlinkSync(join("real", "out.csv"), link);
    const sink = await openOutputFile(link);
    await sink.write(Buffer.from("new"));
    await sink.commit();
    expect(readlinkSync(link)).toBe(join("real", "out.csv"));
    expect(readFileSync(join(folder, "real", "out.csv"), "utf8")).toBe("new");
  });

  test("appears at the missing target of a symbolic link", async () => {
    const folder = temporaryFolder();
    symlinkSync("new.csv", join(folder, "link.csv"));
    const sink = await openOutputFile(join(folder, "link.csv"));
    await sink.write(Buffer.from("new"));
    await sink.commit();
    expect(readlinkSync(join(folder, "link.csv"))).toBe("new.csv");
    expect(readFileSync(join(folder, "new.csv"), "utf8")).toBe("new");
  });

  test("starts as a temporary file with the same mode, even for the longest name", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "x".repeat(255));
    writeFileSync(path, "old");
    chmodSync(path, 0o600);
    const sink = await openOutputFile(path);
    const temporary = readdirSync(folder).find((name) => name.endsWith(".tmp")) ?? "";
    expect(statSync(join(folder, temporary)).mode & 0o777).toBe(0o600);
    await sink.discard();
  });

  test.each([
    ["a folder", (folder: string) => folder, "is a folder"],
    ["a path in a missing folder", (folder: string) => join(folder, "none", "out.csv"), "the folder does not exist"],
    ["a path below a file", (folder: string) => join(folder, "file", "out.csv"), "its folder is a file"],
  ])("cannot be %s", async (_, pathIn, message) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "file"), "");
    await expect(openOutputFile(pathIn(folder))).rejects.toThrow(message);
  });

  test("takes the bytes in place if it is a device", async () => {
    const sink = await openOutputFile("/dev/full");
    await expect(sink.write(Buffer.from("x"))).rejects.toThrow(
      "/dev/full: cannot be written: no space left on the device",
    );
    await sink.discard();
    expect(statSync("/dev/full").isCharacterDevice()).toBe(true);
  });
});
