/** Covers offline runs that do not end, killed, stopped or out of space: the next run of the same list pays for the rest only. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { QuotaFile } from "../../../src/store/quota/quota-file.js";
import { openPostgresServiceStore } from "../../../src/store/state/postgres.js";
import { openSqliteServiceStore } from "../../../src/store/state/sqlite.js";
import { hasPostgres, type PostgresServer, startPostgres } from "../../support/postgres.js";
import { finished, idvProcess as idv, startIdv } from "../../support/run-idv.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { isFull, some, times } from "../../support/tier.js";

const count = times(400_000, 100_000);
const list = `email\n${Array.from({ length: count }, (_, i) => `user${i}@larch-and-oak.com\n`).join("")}`;

/** Where the quota is: in a file of its own, or in the state of the service. */
type Offset = "quota file" | "state file" | "PostgreSQL";

let postgres: PostgresServer | undefined;
beforeAll(async () => {
  if (hasPostgres && isFull) postgres = await startPostgres();
});

/** Returns a folder with the list, and how to read the units used of its quota, which has room for the list once. */
async function folderWithQuota(where: Offset = "quota file") {
  const home = temporaryFolder();
  writeFileSync(join(home, "list.csv"), list);
  const place = where === "PostgreSQL" ? await postgres!.create() : join(home, "service.db");
  const env = where === "quota file" ? {} : { IDV_QUOTA: `${place}#nightly` };
  await idv(["quota", "set", "--limit", String(count)], { home, env });
  const store =
    where === "PostgreSQL"
      ? await openPostgresServiceStore(place)
      : where === "state file"
        ? await openSqliteServiceStore(place, Date.now)
        : await QuotaFile.open(join(home, "state/idv/quota.db"), Date.now);
  onTestFinished(() => store.close());
  const used = async () =>
    ("read" in store ? await store.read() : await store.quotaOf({ quotaName: "nightly" })).used;
  return { home, env, used };
}

const placed = (where: Offset) => test.skipIf(where === "PostgreSQL" && !hasPostgres);

const places: readonly Offset[] = ["quota file", "state file", "PostgreSQL"];

describe.each(isFull ? places : places.slice(0, 1))("with a %s", (where) => {
  const runs: [string, string[], string][] = [
    ["killed", ["list.csv", "-o", "out.csv"], "out.csv"],
    ["killed, in place", ["list.csv", "-I"], "list.csv"],
    ["killed, with reasons", ["list.csv", "--explain", "-o", "out.csv"], "out.csv"],
  ];
  placed(where).each(some(runs, 1))(
    "a run that is %s is paid once, whenever that is",
    async (_, args, output) => {
      const { home, env, used } = await folderWithQuota(where);
      let kills = 0;
      for (const share of isFull ? [0.1, 0.4, 0.6] : [0.4]) {
        const child = startIdv(["emails", "--set", "engine=offline", "-q", ...args], { home, env });
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
      const { code, stderr } = await idv(["emails", "--set", "engine=offline", ...args], { home, env });
      expect(code, stderr).toBe(0);
      expect(stderr).toContain(`${count.toLocaleString("en")} distinct`);
      expect(await used()).toBe(count);
      expect(stderr).toMatch(kills > 0 ? /units paid by a run that did not end \(\d{4}-/ : /units used/);
      expect(kills === 0 || units > 0).toBe(true);
      const rows = readFileSync(join(home, output), "latin1").trimEnd().split("\n").slice(1);
      expect(rows).toHaveLength(count);
      expect(rows.filter((row) => !/,ok(,,)?$/.test(row))).toEqual([]);
      // A run that has ended is paid again.
      if (output === "out.csv") {
        const again = await idv(["emails", "--set", "engine=offline", "-q", ...args], { home, env });
        expect(again.code).toBe(4);
      }
    },
  );

  placed(where)("tries of a run with a name are paid once, one after the other and at once", async () => {
    const { home, env, used } = await folderWithQuota(where);
    const named = { home, env: { ...env, IDV_RUN: "job 42\nof today" } };
    const run = () => idv(["emails", "list.csv", "--set", "engine=offline", "-q"], named);
    const killed = startIdv(["emails", "list.csv", "--set", "engine=offline", "-q"], named);
    const ended = finished(killed);
    while ((await used()) === 0) await sleep(5);
    killed.kill("SIGKILL");
    await ended;
    const outcomes = await Promise.all([run(), run(), run()]);
    for (const { code, stdout } of [...outcomes, await run()]) {
      expect(code).toBe(0);
      expect(stdout.split("\n").filter((row) => row.endsWith(",ok"))).toHaveLength(count);
    }
    expect(await used()).toBe(count);
  });
});

test("a stopped run says that its units count for the next run, and a dry run takes them into account", async () => {
  const { home, used } = await folderWithQuota();
  const child = startIdv(["emails", "--offline", "-q", "-o", "out.csv"], { home });
  // It ends before it has read all.
  child.stdin!.on("error", () => {});
  child.stdin!.write(list.slice(0, list.length / 2));
  while ((await used()) < count / 4) await sleep(5);
  child.kill("SIGINT");
  const { stderr } = await finished(child);
  expect(stderr).toMatch(/; [\d,]+ units used; the next run of this list counts them\n$/);
  expect(existsSync(join(home, "out.csv"))).toBe(false);
  const before = await used();
  const dry = await idv(["emails", "list.csv", "--offline", "--dry-run", "--log", "json"], { home });
  expect(dry.code).toBe(0);
  // The marks are 4,096 items apart, and the input of the first run was cut elsewhere.
  // A run of more than a second says how far it is.
  const { units } = JSON.parse(dry.stderr.trimEnd().split("\n").at(-1)!) as { units: number };
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

test("several files are paid once, though the command is killed in the second one", async () => {
  const { home, used } = await folderWithQuota();
  const own = Array.from({ length: 30_000 }, (_, i) => `a${i}@larch-and-oak.com\n`).join("");
  writeFileSync(join(home, "first.csv"), `email\n${own}`);
  writeFileSync(join(home, "list.csv"), list.slice(0, list.length / 2));
  const args = ["emails", "first.csv", "list.csv", "--offline", "-q", "-o", "out/"];
  const child = startIdv(args, { home });
  const ended = finished(child);
  while ((await used()) < 30_000 + count / 8) await sleep(5);
  child.kill("SIGKILL");
  await ended;
  expect((await idv(args, { home })).code).toBe(0);
  const rows = ["first.csv", "list.csv"].map(
    (name) =>
      readFileSync(join(home, "out", name), "latin1")
        .trimEnd()
        .split("\n").length - 1,
  );
  expect(await used()).toBe(rows[0]! + rows[1]!);
});

test("a run without space for its output is paid once", async () => {
  const { home, used } = await folderWithQuota();
  const full = await idv(["emails", "list.csv", "--offline", "-q", "-o", "/dev/full"], { home });
  expect(full.code).toBe(6);
  expect(full.stderr).toContain("the next run of this list counts them");
  expect((await idv(["emails", "list.csv", "--offline", "-q", "-o", "out.csv"], { home })).code).toBe(0);
  expect(await used()).toBe(count);
});
