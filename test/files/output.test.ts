/** Covers how output files are written, replaced and discarded. */
import { chmodSync, chownSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { openOutputFile } from "../../src/files/output.js";
import { folderOf, temporaryFolder } from "../support/temporary-folder.js";

/** Returns the path of out.csv, which is there. */
const oldFile = () => join(folderOf({ "out.csv": "old" }), "out.csv");

describe("an output file", () => {
  test("replaces the old file only on commit, as a whole", async () => {
    const path = oldFile();
    const sink = await openOutputFile(path);
    await sink.write(Buffer.from("new, "));
    await sink.write(Buffer.from("whole"));
    expect(readFileSync(path, "utf8")).toBe("old");
    await sink.commit();
    expect(readFileSync(path, "utf8")).toBe("new, whole");
    expect(readdirSync(dirname(path))).toEqual(["out.csv"]);
  });

  // No disk can be made to fail here; the system reports such a fault to one call only.
  test.each([0, 1])(
    "of which the disk lost some while it was written is not committed (%i more writes)",
    async (more) => {
      const path = oldFile();
      const file = await open(path);
      const sync = vi.spyOn(Object.getPrototypeOf(file), "datasync");
      await file.close();
      sync.mockRejectedValueOnce(Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" }));
      const sink = await openOutputFile(path);
      await sink.write(Buffer.alloc(40_000_000));
      expect(sync).toHaveBeenCalledOnce();
      const rest = more === 0 ? sink.commit() : setImmediate().then(() => sink.write(Buffer.alloc(1_000_000)));
      await expect(rest).rejects.toThrow(`${path}: cannot be written: `);
      await sink.discard();
      sync.mockRestore();
      expect(readFileSync(path, "utf8")).toBe("old");
      expect(readdirSync(dirname(path))).toEqual(["out.csv"]);
    },
  );

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
    const path = oldFile();
    chmodSync(path, mode);
    await (await openOutputFile(path)).commit();
    expect(statSync(path).mode & 0o7777).toBe(mode);
  });

  test.skipIf(process.getuid?.() !== 0)("keeps the owner and the group of the file it replaces", async () => {
    const path = oldFile();
    chownSync(path, 12_345, 23_456);
    await (await openOutputFile(path)).commit();
    expect(statSync(path)).toMatchObject({ uid: 12_345, gid: 23_456 });
  });

  test.each(["real/out.csv", "new.csv"])(
    "goes to the target of a symbolic link, which may be missing: %s",
    async (target) => {
      const folder = folderOf({ "real/out.csv": "old" });
      const link = join(folder, "link.csv");
      symlinkSync(target, link);
      const sink = await openOutputFile(link);
      await sink.write(Buffer.from("new"));
      await sink.commit();
      expect(readlinkSync(link)).toBe(target);
      expect(readFileSync(join(folder, target), "utf8")).toBe("new");
    },
  );

  test("starts as a temporary file with the same mode, even for the longest name", async () => {
    const folder = folderOf({ ["x".repeat(255)]: "old" }, 0o600);
    const sink = await openOutputFile(join(folder, "x".repeat(255)));
    const temporary = readdirSync(folder).find((name) => name.endsWith(".tmp")) ?? "";
    expect(statSync(join(folder, temporary)).mode & 0o777).toBe(0o600);
    await sink.discard();
  });

  test.each([
    ["a folder", (folder: string) => folder, "is a folder"],
    ["a path in a missing folder", (folder: string) => join(folder, "none", "out.csv"), "the folder does not exist"],
    ["a path below a file", (folder: string) => join(folder, "file", "out.csv"), "its folder is a file"],
  ])("cannot be %s", async (_, pathIn, message) => {
    await expect(openOutputFile(pathIn(folderOf({ file: "" })))).rejects.toThrow(message);
  });

  test("takes the bytes in place if it is a device", async () => {
    const sink = await openOutputFile("/dev/full");
    const message = "/dev/full: cannot be written: no space left on the device";
    await expect(sink.write(Buffer.from("x"))).rejects.toThrow(message);
    await sink.discard();
    expect(statSync("/dev/full").isCharacterDevice()).toBe(true);
  });
});
