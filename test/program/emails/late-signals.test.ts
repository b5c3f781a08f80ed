/** Covers signals that come when the output is there: the run has ended well, and says so. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { readQuota, setQuota } from "../../support/quota.js";
import { finished, startIdv } from "../../support/run-idv.js";
import { folderOf } from "../../support/temporary-folder.js";
import { some, times } from "../../support/tier.js";

const items = 30_000;
const list = `email\n${Array.from({ length: items }, (_, n) => `person.${n}@larch-and-oak.com\n`).join("")}`;

const runs = [
  ["SIGINT", ["-o", "out.csv"], "out.csv"],
  ["SIGTERM", ["-o", "out.csv", "--report", "r.html"], "out.csv"],
  ["SIGTERM", ["-I.bak"], "list.csv.bak"],
  ["SIGINT", ["-o", "out.csv.gz"], "out.csv.gz"],
  ["SIGHUP", ["--split", "parts"], "parts/ok.csv"],
] as const;

test.each(some(runs, 3))(
  "%s after %j has written its output changes neither exit code nor cost",
  async (signal, args, output) => {
    for (let round = 0; round < times(4, 1); round++) {
      const home = folderOf({ "list.csv": list });
      await setQuota(home, { limit: 10 * items });
      const child = startIdv(["emails", "list.csv", ...args], { home });
      const ended = finished(child);
      while (!existsSync(join(home, output)) && child.exitCode === null) await sleep(1);
      await sleep(3 * round);
      child.kill(signal);
      expect(await ended).toMatchObject({ code: 0, stderr: expect.stringContaining("30,000 units used") });
      expect((await readQuota(home)).used).toBe(items);
    }
  },
);
