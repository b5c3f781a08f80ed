/** Covers the creation of folders. */
import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../../src/files/folders.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const modeOf = (path: string) => statSync(path).mode & 0o777;

test("creates all missing folders with the given mode", () => {
  const home = temporaryFolder();
  makeFolder(join(home, "a/b/c"), 0o700);
  expect(["a", "a/b", "a/b/c"].map((path) => modeOf(join(home, path)))).toEqual([0o700, 0o700, 0o700]);
});

test("leaves an existing folder unchanged", () => {
  const home = temporaryFolder();
  mkdirSync(join(home, "a"), 0o750);
  makeFolder(join(home, "a"), 0o700);
  expect(modeOf(join(home, "a"))).toBe(0o750);
});

test("follows a link to a folder", () => {
  const home = temporaryFolder();
  mkdirSync(join(home, "a"));
  symlinkSync("a", join(home, "link"));
  makeFolder(join(home, "link/b"));
  expect(existsSync(join(home, "a/b"))).toBe(true);
});

test.each([
  ["where a file is", "file", /^EEXIST$/],
  // Node.js 24 says the latter.
  ["below a file", "file/a", /^(ENOTDIR|EEXIST)$/],
  ["at a link to nothing", "broken", /^ENOENT$/],
  ["below /proc", "/proc/x/y", /^ENOENT$/],
])("fails %s", (_, path, code) => {
  const home = temporaryFolder();
  writeFileSync(join(home, "file"), "");
  symlinkSync("nothing", join(home, "broken"));
  expect(() => makeFolder(path.startsWith("/") ? path : join(home, path))).toThrow(
    expect.objectContaining({ code: expect.stringMatching(code) }),
  );
});
