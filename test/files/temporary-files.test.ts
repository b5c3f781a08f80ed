/** Covers the removal of temporary files: only those of ended runs on this machine are removed. */
import { readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { machineTag, ownPid } from "../../src/files/processes.js";
import { removeAbandoned, temporaryBeside } from "../../src/files/temporary-files.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test("removes only the temporary files of ended runs", async () => {
  const folder = temporaryFolder();
  const own = basename(temporaryBeside(join(folder, "list.csv")));
  const name = (tag: string, pid: number) => `.idv-${tag}-${pid}-0123456789abcdef.tmp`;
  const kept = [own, name("00000000", 999_999_999), name(machineTag(), 1), "list.csv", ".idv-lock"];
  // The second has the ID of this process: an earlier start of the same container left it.
  const removed = [name(machineTag(), 999_999_999), name(machineTag(), ownPid)];
  for (const file of [...kept, ...removed]) writeFileSync(join(folder, file), "x");
  await removeAbandoned(folder);
  expect(readdirSync(folder).sort()).toEqual(kept.sort());
});

test("ignores a missing folder", () => removeAbandoned(join(temporaryFolder(), "none")));
