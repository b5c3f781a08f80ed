/** Covers offline runs that do not end, killed, stopped or out of space: the next run of the same list pays for the rest only. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { QuotaFile } from "../../src/store/quota-file.js";
import { finished, idv, startIdv } from "../support/run-idv.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const count = 400_000;
const list = `email\n${Array.from({ length: count }, (_, i) => `user${i}@larch-and-oak.com\n`).join("")}`;

/** Returns a folder with the list, and how to read the units used of its quota, which has room for the list once. */
async function folderWithQuota() {
  const home = temporaryFolder();
  writeFileSync(join(home, "list.csv"), list);
  await idv(["quota", "set", "--limit", String(count)], { home });
  const used = async () => {
    const quota = await QuotaFile.open(join(home, "state/idv/quota.db"), Date.now);
    const { used } = await quota.read();
    await quota.close();
    return used;
  };
  return { home, used };
}

test.each<[string, string[], string]>([
  ["killed", ["list.csv", "-o", "out.csv"], "out.csv"],
  ["killed, in place", ["list.csv", "-I"], "list.csv"],
  ["killed, with reasons", ["list.csv", "--explain", "-o", "out.csv"], "out.csv"],
])(
  "a run that is %s is paid once, whenever that is",
  async (_, args, output) => {
    const { home, used } = await folderWithQuota();
    let kills = 0;
    for (const share of [0.1, 0.4, 0.6]) {
      const child = startIdv(["emails", "--offline", "-q", ...args], { home });
      const ended = finished(child);
      let hasEnded = false;
      ended.then(() => {
        hasEnded = true;
      });
      while (!hasEnded && (await used()) < share * count) await sleep(5);
      if (hasEnded) break;
      child.kill("SIGKILL");
      await ended;
      kills++;
      expect(readFileSync(join(home, "list.csv"), "latin1")).toBe(list);
    }
    const units = await used();
    const { code, stderr } = await idv(["emails", "--offline", ...args], { home });
    expect(code).toBe(0);
    expect(await used()).toBe(count);
    expect(stderr).toMatch(kills > 0 ? /units paid by a run that did not end \(\d{4}-/ : /units used/);
    expect(kills === 0 || units > 0).toBe(true);
    const rows = readFileSync(join(home, output), "latin1").trimEnd().split("\n").slice(1);
    expect(rows).toHaveLength(count);
    expect(rows.filter((row) => !/,ok(,,)?$/.test(row))).toEqual([]);
    // A run that has ended is paid again.
    if (output === "out.csv")
      expect((await idv(["emails", "--offline", "-q", ...args], { home })).code).toBe(4);
  },
  60_000,
);

test("a run that is stopped says that the next one counts its units, and a dry run counts them", async () => {
  const { home, used } = await folderWithQuota();
  const child = startIdv(["emails", "--offline", "-q", "-o", "out.csv"], { home });
  // It ends before it has read all.
  child.stdin!.on("error", () => {});
  child.stdin!.write(list.slice(0, list.length / 2));
  while ((await used()) < 100_000) await sleep(5);
  child.kill("SIGINT");
  const { stderr } = await finished(child);
  expect(stderr).toMatch(/; [\d,]+ units used; the next run of this list counts them\n$/);
  expect(existsSync(join(home, "out.csv"))).toBe(false);
  const before = await used();
  const dry = await idv(["emails", "list.csv", "--offline", "--dry-run", "--summary", "json"], { home });
  expect(dry.code).toBe(0);
  // The marks are 4,096 items apart, and the input of the first run was cut elsewhere.
  const { units } = JSON.parse(dry.stderr) as { units: number };
  expect(units).toBeGreaterThanOrEqual(count - before);
  expect(units).toBeLessThan(count - before + 4096);
});

test("several files are paid once each, though one of them is bad", async () => {
  const home = temporaryFolder();
  const rows = (name: string, size: number) =>
    `email,x\n${Array.from({ length: size }, (_, i) => `${name}${i}@larch-and-oak.com,1\n`).join("")}`;
  for (const name of ["a", "b", "c"]) writeFileSync(join(home, `${name}.csv`), rows(name, 20_000));
  writeFileSync(join(home, "b.csv"), `${rows("b", 20_000)}"open`);
  await idv(["quota", "set", "--limit", "60000"], { home });
  const files = ["emails", "a.csv", "b.csv", "c.csv", "--offline", "-q", "-o", "out/"];
  expect((await idv(files, { home })).code).toBe(6);
  writeFileSync(join(home, "b.csv"), rows("b", 20_000));
  const again = await idv(["emails", "b.csv", "--offline", "-o", "b.out.csv"], { home });
  expect(again).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("units paid by a run that did not end"),
  });
  expect(readFileSync(join(home, "b.out.csv"), "latin1")).not.toContain("quota_exceeded");
});

test("a run without space for its output is paid once", async () => {
  const { home, used } = await folderWithQuota();
  const full = await idv(["emails", "list.csv", "--offline", "-q", "-o", "/dev/full"], { home });
  expect(full.code).toBe(6);
  expect(full.stderr).toContain("the next run of this list counts them");
  expect((await idv(["emails", "list.csv", "--offline", "-q", "-o", "out.csv"], { home })).code).toBe(0);
  expect(await used()).toBe(count);
});
