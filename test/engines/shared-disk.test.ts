/**
 * Covers a quota file in a folder that two machines share. Two mounts of FUSE share neither memory nor locks, as two machines: units
 * are those of the runs that ended with 0, and no other run is silent.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { finished, idv, startIdv } from "../support/run-idv.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { addresses, areInstalled, writeList } from "./tools.js";

test.skipIf(!areInstalled({ "bindfs --version": "bindfs", "test -w /dev/fuse": "fuse3" }))(
  "a quota on a file system shared by machines stays exact when runs on both are killed",
  async () => {
    const folder = temporaryFolder();
    const mounts = ["one", "two"].map((name) => join(folder, name));
    for (const path of [...mounts, join(folder, "shared")]) mkdirSync(path);
    onTestFinished(() => {
      for (const mount of mounts) spawnSync("fusermount", ["-u", "-z", mount]);
    });
    for (const mount of mounts) {
      expect(spawnSync("bindfs", [join(folder, "shared"), mount]).status).toBe(0);
    }
    const count = 100_000;
    const settings = (mount: string) => ({ home: folder, env: { HOME: mount, XDG_STATE_HOME: mount } });
    await idv(["quota", "set", "--limit", String(100 * count)], settings(mounts[0]!));
    const runs = await Promise.all(
      Array.from({ length: 12 }, async (_, i) => {
        const list = join(folder, `list-${i}.csv`);
        writeList(list, addresses(`list-${i}-`, count));
        await sleep(100 * i);
        const child = startIdv(
          ["emails", list, "--offline", "-q", "-o", `${list}.out`],
          settings(mounts[i % 2]!),
        );
        // Two of each side are killed, and started again.
        if (i % 6 > 3) {
          setTimeout(() => child.kill("SIGKILL"), 200 + 20 * i);
          const outcome = await finished(child);
          if (outcome.code !== null) return outcome;
          return idv(["emails", list, "--offline", "-q", "-o", `${list}.out`], settings(mounts[i % 2]!));
        }
        return finished(child);
      }),
    );
    const ended = runs.filter(({ code }) => code === 0);
    for (const { code, stderr } of runs) {
      if (code === 0) continue;
      expect(code).toBe(6);
      expect(stderr).toMatch(
        /quota\.db: the quota file is in use on .*, and machines cannot share it on FUSE; /,
      );
    }
    expect(ended.length).toBeGreaterThan(0);
    expect(ended.length).toBeLessThan(runs.length);
    const { stdout } = await idv(["quota", "show", "--json"], settings(mounts[0]!));
    expect(JSON.parse(stdout).used).toBe(ended.length * count);
  },
);
