/** Which temporary files are removed: those of runs of this machine that have ended, and no others. */
import { readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { machineTag, ownPid } from "../../src/files/processes.js";
import { removeAbandoned, temporaryBeside } from "../../src/files/temporary-files.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test("removes what ended runs left behind", async () => {
  const folder = temporaryFolder();
  const own = basename(temporaryBeside(join(folder, "list.csv")));
  const name = (tag: string, pid: number) => `.idv-${tag}-${pid}-0123456789abcdef.tmp`;
  const kept = [own, name("00000000", 999_999_999), name(machineTag(), 1), "list.csv", ".idv-lock"];
  // The second had the number of this process, in a container that was started again.
  const removed = [name(machineTag(), 999_999_999), name(machineTag(), ownPid)];
  for (const file of [...kept, ...removed]) writeFileSync(join(folder, file), "x");
  await removeAbandoned(folder);
  expect(readdirSync(folder).sort()).toEqual(kept.sort());
});

test("a folder that is not there is nothing to remove from", async () => {
  await removeAbandoned(join(temporaryFolder(), "none"));
});
