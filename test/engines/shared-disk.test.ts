/** Covers a quota file in a folder that machines share: FUSE is such a file system. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { idv } from "../support/run-idv.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { areInstalled } from "./tools.js";

test.skipIf(!areInstalled({ "bindfs --version": "bindfs", "test -w /dev/fuse": "fuse3" }))(
  "refuses a quota with a limit on a file system that machines share, and counts nothing without one",
  async () => {
    const folder = temporaryFolder();
    const [local, mount] = [join(folder, "local"), join(folder, "mount")];
    for (const path of [local, mount]) mkdirSync(path);
    onTestFinished(() => void spawnSync("fusermount", ["-u", "-z", mount]));
    expect(spawnSync("bindfs", [local, mount]).status).toBe(0);
    writeFileSync(join(folder, "list.csv"), "email\nann@larch-and-oak.com\n");
    const on = (path: string) => ({ home: folder, env: { HOME: path, XDG_STATE_HOME: path } });
    const args = ["emails", "list.csv", "--offline", "-o", "out.csv", "--force"];
    const uncounted = await idv(args, on(mount));
    expect(uncounted).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("is on a file system that machines share; nobody has set a limit"),
    });
    const refusal = expect.stringContaining("quota file is on FUSE");
    expect(await idv(["quota", "set", "--limit", "5"], on(mount))).toMatchObject({ code: 6, stderr: refusal });
    await idv(["quota", "set", "--limit", "5"], on(local));
    expect(await idv(args, on(mount))).toMatchObject({ code: 6, stderr: refusal });
  },
);
