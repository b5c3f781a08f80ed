/** Covers the recipe of `idv help machines` for GNU parallel: a task that is killed is tried again, and paid once. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { finished } from "../support/run-idv.js";
import { addresses, areInstalled, homeWithQuota, killed, recipe, rowsOf, runsWith, writeList } from "./tools.js";

test.skipIf(!areInstalled({ "parallel --version | grep -q GNU": "parallel", "pgrep -V": "procps" }))(
  "a task of GNU parallel that is killed is tried again and paid once",
  async () => {
    const count = 300_000;
    const { home, env, used } = await homeWithQuota(4 * count);
    const parts = ["part-1", "part-2", "part-3", "part-4"];
    for (const part of parts) writeList(join(home, `${part}.csv`), addresses(part, count));
    const child = spawn("sh", ["-c", `${recipe("parallel.sh")}echo $?`], { cwd: home, env });
    const outcome = finished(child);
    let ended = false;
    outcome.finally(() => {
      ended = true;
    });
    const again = new Set<string>();
    while (!ended && again.size < 2) {
      await sleep(20);
      const units = await used();
      for (const part of parts) {
        if (again.has(part) || units === 0) continue;
        if (killed(runsWith(`${part}.csv`)[0])) again.add(part);
      }
    }
    expect((await outcome).stdout).toBe("0\n");
    expect(again.size).toBeGreaterThan(0);
    for (const part of parts) {
      const rows = rowsOf(join(home, "checked", `${part}.csv`));
      expect(rows).toEqual(addresses(part, count).map((address) => `${address},ok`));
    }
    expect(await used()).toBe(4 * count);
  },
);
