/** Covers offline runs that do not end, killed, stopped or out of space: they have delivered nothing, and owe nothing. */
import { execFileSync, spawn } from "node:child_process";
import { createWriteStream, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { stateOfTag } from "../../../src/files/processes.js";
import { openQuotaFile } from "../../../src/state/quota/quota-file.js";
import { deathIn } from "../../../src/state/quota/run-reservation.js";
import { openPostgresServiceStore } from "../../../src/state/service/database/postgres.js";
import { openSqliteServiceStore } from "../../../src/state/service/database/sqlite.js";
import { hasPostgres, type PostgresServer, startPostgres } from "../../support/postgres.js";
import { collected, killedWhen, startInShell } from "../../support/processes.js";
import { randomFrom } from "../../support/random.js";
import { finished, idv, startIdv } from "../../support/run-idv.js";
import { folderOf } from "../../support/temporary-folder.js";
import { isFull, some, times } from "../../support/tier.js";

const count = times(400_000, 60_000);
const listOf = (size: number, name = "user") =>
  `email\n${Array.from({ length: size }, (_, i) => `${name}${i}@larch-and-oak.com\n`).join("")}`;
const list = listOf(count);
/** Rows of lists whose runs are not broken off. */
const few = times(20_000, 1000);

/** Where the quota is: in a file of its own, or in the state of the service. */
type Offset = "quota file" | "state file" | "PostgreSQL";

let postgres: PostgresServer | undefined;
beforeAll(async () => {
  if (hasPostgres && isFull) postgres = await startPostgres();
});

/** Returns a folder with a list, its quota, and how to read the units used of it, with those that runs hold. */
async function folderWithQuota(where: Offset = "quota file", limit = count, text = list) {
  const home = folderOf({ "list.csv": text });
  const place = where === "PostgreSQL" ? await postgres!.create() : join(home, "service.db");
  const env = where === "quota file" ? {} : { IDV_QUOTA: `${place}#nightly` };
  const file = where === "quota file" ? await openQuotaFile(join(home, "state/idv/quota.db"), Date.now) : undefined;
  const store =
    where === "PostgreSQL"
      ? await openPostgresServiceStore(place)
      : where === "state file"
        ? await openSqliteServiceStore(place, Date.now)
        : undefined;
  onTestFinished(() => (file ?? store)!.close());
  const quotas = file?.quotas ?? store!.quotas({ quotaName: "nightly" });
  await quotas.configure({ limit });
  const held = async () => (await quotas.read(() => false)).used;
  /** After the dead are cleared away, as `idv quota show` does. */
  const used = async () => (await quotas.read(deathIn(stateOfTag, quotas.isServer))).used;
  return { home, env, quotas, held, used };
}

const placed = (where: Offset) => test.skipIf(where === "PostgreSQL" && !hasPostgres);

const places: readonly Offset[] = ["quota file", "state file", "PostgreSQL"];
const rowsIn = (text: string) => text.split("\n").filter((row) => row.endsWith(",ok")).length;
/** Runs with the name `nightly`, of which the tests below are. */
const nightly = (home: string) => ({ home, env: { IDV_RUN: "nightly" } });
const read = (home: string, name: string) => readFileSync(join(home, name), "latin1");

describe.each(isFull ? places : places.slice(0, 1))("with a %s", (where) => {
  const runs: [string, string[], string][] = [
    ["a file", ["list.csv", "-o", "out.csv"], "out.csv"],
    ["the list itself", ["list.csv", "-I"], "list.csv"],
    ["a folder of statuses", ["list.csv", "--split", "out"], "out/ok.csv"],
  ];
  placed(where).each(some(runs, 1))(
    "runs that are killed owe nothing, and the one that ends writes %s and pays once",
    async (_, args, output) => {
      const { home, env, held, used } = await folderWithQuota(where);
      const signals = ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"] as const;
      for (const [nth, share] of (isFull ? [0.1, 0.4, 0.6, 0.9] : [0.4]).entries()) {
        const child = startIdv(["emails", "--set", "engine=offline", "-q", ...args], { home, env });
        await killedWhen(child, async () => (await held()) >= share * count, signals[nth]);
        if (read(home, "list.csv") !== list || existsSync(join(home, output))) break;
        expect(await used()).toBe(0);
      }
      const { code, stderr } = await idv(["emails", "--set", "engine=offline", ...args], { home, env });
      if (args.includes("-I") && code === 0) expect(read(home, "list.csv")).toContain(",ok");
      expect(code, stderr).toBe(0);
      expect(await used()).toBe(count);
      expect(rowsIn(read(home, output))).toBe(count);
      // A run that has ended is paid again.
      const words = ["emails", "--set", "engine=offline", "-q", "list.csv", "-o", "again.csv"];
      expect((await idv(words, { home, env })).code).toBe(4);
    },
  );

  placed(where)("tries of a run with a name are paid once, one after the other and at once", async () => {
    const { home, env, held, used } = await folderWithQuota(where);
    const named = { home, env: { ...env, IDV_RUN: "job 42\nof today" } };
    const args = ["emails", "list.csv", "--set", "engine=offline", "-q", "-o"];
    const run = (name: string) => idv([...args, name], named);
    await killedWhen(startIdv([...args, "k.csv"], named), async () => (await held()) > 0);
    for (const name of ["a.csv", "b.csv"]) {
      expect(await run(name)).toMatchObject({ code: 0 });
      expect(rowsIn(read(home, name))).toBe(count);
    }
    await Promise.all([run("c.csv"), run("d.csv")]);
    for (const name of ["c.csv", "d.csv"]) expect(rowsIn(read(home, name))).toBe(count);
    expect(await used()).toBe(count);
  });
});

test("a list that grows between two tries of its name pays for what is new", async () => {
  const { home, used } = await folderWithQuota("quota file", few + 10, listOf(few));
  const run = async () => (await idv(["emails", "list.csv", "--offline", "-q", "-o", "out.csv"], nightly(home))).code;
  expect(await run()).toBe(0);
  writeFileSync(join(home, "list.csv"), `${listOf(few)}new@larch-and-oak.com\n`);
  // All of this list but the last were paid before, and the quota has not enough for all again.
  for (let i = 0; i < 2; i++) {
    expect(await run()).toBe(0);
    expect(rowsIn(read(home, "out.csv"))).toBe(few + 1);
    expect(await used()).toBe(few + 1);
  }
});

test("a name pays for the items that it delivers, in part and in other orders", async () => {
  const { home, quotas, used } = await folderWithQuota("quota file", 50);
  const rows = Array.from({ length: 100 }, (_, i) => `user${100 + i}@larch-and-oak.com\n`);
  const run = (order: readonly string[]) => {
    writeFileSync(join(home, "list.csv"), `email\n${order.join("")}`);
    return idv(["emails", "list.csv", "--offline", "-q", "-o", "out.csv"], nightly(home));
  };
  expect((await run(rows)).code).toBe(4);
  // The other half first: these were not paid for.
  expect((await run([...rows.slice(50), ...rows.slice(0, 50)])).code).toBe(4);
  expect(rowsIn(read(home, "out.csv"))).toBe(0);
  expect(await used()).toBe(50);
  // The first half again, and then the rest.
  await quotas.configure({ limit: 100 });
  for (const order of [rows, rows.toReversed()]) {
    expect((await run(order)).code).toBe(0);
    expect(await used()).toBe(100);
  }
});

test("other items of a name get what is left of the quota, again and again", async () => {
  const { home, used } = await folderWithQuota("quota file", 150, listOf(100));
  writeFileSync(join(home, "next.csv"), listOf(100, "next"));
  const run = async (...words: string[]) => (await idv(["emails", ...words, "--offline", "-q"], nightly(home))).code;
  expect(await run("list.csv", "-o", "out.csv")).toBe(0);
  for (const [words, output] of [
    [["next.csv", "-o", "out.csv", "--dedupe"], "out.csv"],
    [["next.csv", "-o", "out.csv"], "out.csv"],
    [["list.csv", "next.csv", "-o", "o/"], "o/next.csv"],
    [["next.csv", "list.csv", "-o", "p/"], "p/next.csv"],
  ] as const) {
    expect(await run(...words)).toBe(4);
    expect(rowsIn(read(home, output))).toBe(50);
    expect(await used()).toBe(150);
  }
  for (const folder of ["o", "p"]) expect(rowsIn(read(home, `${folder}/list.csv`))).toBe(100);
});

test("rows on standard output are paid by the run that writes them, not by another one of its name", async () => {
  const { home, held, used } = await folderWithQuota("quota file", 5000, listOf(5000));
  writeFileSync(join(home, "next.csv"), listOf(5000, "next"));
  // The output is more than a pipe holds.
  const line = 'export IDV_RUN=nightly; "$@" | { until [ -e done ]; do sleep 0.05; done; cat; }';
  const first = finished(startInShell(line, ["emails", "list.csv", "--offline", "-q"], home));
  await expect.poll(held).toBe(5000);
  const second = await idv(["emails", "next.csv", "--offline", "-q", "-o", "out.csv"], nightly(home));
  writeFileSync(join(home, "done"), "");
  const { stdout } = await first;
  expect([second.code, rowsIn(stdout), stdout.match(/status/g)]).toEqual([4, 5000, ["status"]]);
  expect(await used()).toBe(5000);
});

test("a list on standard output that grows, or whose quota did, pays for what is new", async () => {
  const { home, quotas, used } = await folderWithQuota("quota file", 60, listOf(100));
  const run = () => idv(["emails", "list.csv", "--offline", "-q"], nightly(home));
  expect((await run()).code).toBe(4);
  await quotas.configure({ limit: 300 });
  for (const [size, units] of [
    [100, 100],
    [150, 150],
  ] as const) {
    writeFileSync(join(home, "list.csv"), listOf(size));
    const { code, stdout } = await run();
    expect([code, rowsIn(stdout), await used()]).toEqual([0, size, units]);
  }
  const { stderr } = await idv(["emails", "list.csv", "--offline", "-o", "out.csv"], nightly(home));
  expect(stderr).toContain("150 units paid by another run of this name, 0 units used, 150 left");
});

test("tables in one output, and files in any order, are paid once under a name", async () => {
  const { home, quotas, used } = await folderWithQuota("quota file", 150);
  writeFileSync(join(home, "a.csv"), listOf(100, "a"));
  writeFileSync(join(home, "b.csv"), listOf(50, "b"));
  for (const [line, units] of [
    ["a.csv b.csv --split s1", 150],
    ["a.csv b.csv --split s2", 150],
    ["a.csv b.csv -o o1/", 300],
    ["b.csv a.csv -o o2/", 300],
  ] as const) {
    await quotas.configure({ limit: units });
    expect((await idv(["emails", ...line.split(" "), "--offline", "-q"], nightly(home))).code, line).toBe(0);
    expect(await used()).toBe(units);
  }
});

test("a table that fails does not make other items of its folder free", async () => {
  const { home, used } = await folderWithQuota("quota file", 1000);
  writeFileSync(join(home, "bad.csv"), `${listOf(50, "b")}"bad`);
  for (const [i, name] of ["a", "c"].entries()) {
    writeFileSync(join(home, "a.csv"), listOf(100, name));
    await idv(["emails", "a.csv", "bad.csv", "--offline", "-q", "--split", name], nightly(home));
    expect(await used()).toBe(100 * (i + 1));
  }
});

test("what a table that fails gives back is there for the next one, even where the quota ended in it", async () => {
  const { home, used } = await folderWithQuota("quota file", 100_000);
  writeFileSync(join(home, "bad.csv"), `${listOf(150_000, "b")}"bad`);
  writeFileSync(join(home, "next.csv"), listOf(10));
  const { code } = await idv(["emails", "bad.csv", "next.csv", "--offline", "-q", "-o", "out/"], { home });
  expect([code, rowsIn(read(home, "out/next.csv")), await used()]).toEqual([6, 10, 10]);
});

test("a file that cannot be replaced costs nothing, and its items are charged with the next one", async () => {
  const { home, held, used } = await folderWithQuota("quota file", 1_000_000);
  // The first charge is that of 65,536 rows.
  const long = listOf(600_000);
  writeFileSync(join(home, "list.csv"), long);
  writeFileSync(join(home, "next.csv"), listOf(10));
  const child = startIdv(["emails", "list.csv", "next.csv", "--offline", "-q", "-I"], { home });
  while (child.exitCode === null && (await held()) === 0) await sleep(1);
  writeFileSync(join(home, "list.csv"), `${long}new@larch-and-oak.com\n`);
  const { stderr } = await finished(child);
  expect(stderr).toContain("changed while it was read");
  expect(rowsIn(read(home, "next.csv"))).toBe(10);
  expect(await used()).toBe(10);
});

test("a file that is missing gives nothing back of the one before", async () => {
  const { home, used } = await folderWithQuota("quota file", 100);
  for (const name of ["a", "b"]) writeFileSync(join(home, `${name}.csv`), listOf(20, name));
  const files = ["a.csv", "missing.csv", "b.csv"];
  expect((await idv(["emails", ...files, "--offline", "-q", "-o", "out/"], { home })).code).toBe(6);
  expect(await used()).toBe(40);
});

test("a named pipe is paid for as far as it was written", async () => {
  const { home, used } = await folderWithQuota();
  const pipe = join(home, "pipe");
  await finished(spawn("mkfifo", [pipe]));
  const child = startIdv(["emails", "list.csv", "--offline", "-q", "-o", "pipe"], { home });
  const reader = spawn("head", ["-c", String(Math.floor(list.length / 3)), pipe]);
  const received = collected(reader.stdout);
  await finished(child);
  const units = await used();
  expect(units).toBeGreaterThan(rowsIn(received()) - 20_000);
  expect(units).toBeGreaterThan(0);
  expect(units).toBeLessThan(count);
});

test("a stopped run gives its units back, and says so", async () => {
  const { home, held, used } = await folderWithQuota();
  const child = startIdv(["emails", "--offline", "-q", "-o", "out.csv"], { home });
  // It ends before it has read all.
  child.stdin!.on("error", () => {});
  child.stdin!.write(list.slice(0, list.length / 2));
  const { stderr } = await killedWhen(child, async () => (await held()) >= count / 4, "SIGINT");
  const advice = "to start again, run: idv emails --offline -q -o out.csv, with the same input";
  expect(stderr).toBe(`idv: stopped by SIGINT; out.csv was not written; no units are used; ${advice}\n`);
  expect(existsSync(join(home, "out.csv"))).toBe(false);
  expect(await used()).toBe(0);
});

test("a pipe is paid for as far as it was written", async () => {
  const { home, held, used } = await folderWithQuota();
  const child = startIdv(["emails", "list.csv", "--offline", "-q"], { home });
  let received = "";
  child.stdout!.setEncoding("latin1");
  for await (const text of child.stdout!) {
    received += text as string;
    if (received.length > list.length / 3) break;
  }
  // The reader has gone.
  await new Promise((resolve) => child.once("close", resolve));
  const units = await used();
  expect(units).toBeGreaterThanOrEqual(rowsIn(received) - 10_000);
  expect(units).toBeLessThan(count);
  expect(await held()).toBe(units);
});

test("several files are paid once each, though one of them is bad", async () => {
  const { home, used } = await folderWithQuota("quota file", 3 * few);
  for (const name of ["a", "b", "c"]) writeFileSync(join(home, `${name}.csv`), listOf(few, name));
  writeFileSync(join(home, "b.csv"), `${listOf(few, "b")}"open`);
  const files = ["emails", "a.csv", "b.csv", "c.csv", "--offline", "-q", "-o", "out/"];
  expect((await idv(files, { home })).code).toBe(6);
  expect(await used()).toBe(2 * few);
  writeFileSync(join(home, "b.csv"), listOf(few, "b"));
  expect(await idv(["emails", "b.csv", "--offline", "-o", "b.out.csv"], { home })).toMatchObject({ code: 0 });
  expect(read(home, "b.out.csv")).not.toContain("quota_exceeded");
  expect(await used()).toBe(3 * few);
});

test("files that are there are paid, though the command is killed in the next one", async () => {
  const { home, held, used } = await folderWithQuota("quota file", 3 * count);
  writeFileSync(join(home, "first.csv"), listOf(30_000, "a"));
  // A pipe that does not end: the second file is never done.
  execFileSync("mkfifo", [join(home, "second.csv")]);
  const child = startIdv(["emails", "first.csv", "second.csv", "--offline", "-q", "-o", "out/"], { home });
  const second = createWriteStream(join(home, "second.csv")).on("error", () => {});
  second.write(listOf(count / 4));
  await killedWhen(child, async () => (await held()) > 30_000);
  second.destroy();
  expect(await used()).toBe(30_000);
  expect(readdirSync(join(home, "out"))).toContain("first.csv");
  expect(existsSync(join(home, "out/second.csv"))).toBe(false);
});

test("a run without space for its output owes nothing", async () => {
  const { home, used } = await folderWithQuota();
  const full = await idv(["emails", "list.csv", "--offline", "-q", "-o", "/dev/full"], { home });
  expect(full.code).toBe(6);
  expect(await used()).toBe(0);
});

test("used units are distinct items delivered, whatever is killed and edited", { timeout: 900_000 }, async () => {
  const { home, held, used } = await folderWithQuota("quota file", 10 * count);
  const random = randomFrom(7);
  let delivered = 0;
  for (let attempt = 0; attempt < times(60, 3); attempt++) {
    const size = 1000 + Math.floor(random() * (count / 4));
    writeFileSync(join(home, "list.csv"), listOf(size, `u${attempt % 3}`));
    const output = `out-${attempt}.csv`;
    const env = random() < 0.5 ? { IDV_RUN: `run ${attempt}` } : {};
    const child = startIdv(["emails", "list.csv", "--offline", "-q", "-o", output], { home, env });
    const wanted = (await held()) + random() * 1.5 * size;
    const signal = (["SIGKILL", "SIGTERM", "SIGINT"] as const)[attempt % 3];
    await killedWhen(child, async () => (await held()) >= wanted, signal);
    if (existsSync(join(home, output))) delivered += rowsIn(read(home, output));
    const now = await used();
    // Killed between the name of the file and its units, it is free.
    expect(now).toBeLessThanOrEqual(delivered);
    delivered = now;
  }
});
