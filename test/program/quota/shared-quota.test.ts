/** Covers runs on a shared quota: exact over several of them, over kill -9, and over a database that goes away. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openPostgresServiceStore } from "../../../src/state/service/database/postgres.js";
import { hasPostgres, type PostgresServer, startPostgres } from "../../support/postgres.js";
import { collected, killedWhen } from "../../support/processes.js";
import { finished, idv, startIdv } from "../../support/run-idv.js";
import { usageIn } from "../../support/states.js";
import { folderOf, temporaryFolder } from "../../support/temporary-folder.js";
import { isFull } from "../../support/tier.js";

const list = (rows: number, name: string) =>
  `email\n${Array.from({ length: rows }, (_, i) => `${name}${i}@larch-and-oak.com\n`).join("")}`;

async function quotaOf(place: string): Promise<{ limit: number | null; used: number }> {
  const { stdout, stderr } = await idv(["quota", "show", "--json", "--quota", `${place}#nightly`]);
  expect(stderr).toBe("");
  return JSON.parse(stdout);
}

const setLimit = async (place: string, limit: string) => {
  const args = ["quota", "set", "--quota", `${place}#nightly`, "--limit", limit];
  const { code, stderr } = await idv(args);
  expect(code, stderr).toBe(0);
};

const granted = (output: string) => output.split("\n").filter((line) => line.endsWith(",ok")).length;

describe("a shared quota in a file", () => {
  test("pays for a run that names it with an option or a variable", async () => {
    const home = temporaryFolder();
    const place = join(home, "service.db");
    await setLimit(place, "5");
    const stdin = list(3, "a");
    const args = ["emails", "--set", "engine=offline", "--quota", `${place}#nightly`];
    const first = await idv(args, { home, stdin });
    expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining("3 units used, 2 left") });
    const env = { IDV_QUOTA: `${place}#nightly` };
    const second = await idv(["emails", "--offline"], { home, stdin, env });
    expect(second.code).toBe(4);
    expect(second.stderr).toContain("raise its limit with idv quota set --limit N\n");
    expect(granted(second.stdout)).toBe(2);
    const third = await idv([...args, "-q"], { home, stdin });
    const command = `idv quota set --quota '${place}#nightly' --limit N`;
    expect(third.stderr).toContain(`; the quota does not renew; raise its limit with ${command}\n`);
    const raised = [...command.replaceAll("'", "").split(" ").slice(1, -1), "5"];
    expect((await idv(raised, { home })).code).toBe(0);
    expect(await quotaOf(place)).toMatchObject({ quota: "nightly", limit: 5, used: 5 });
    expect(await usageIn(place)).toBe(5);
  });

  test.each<[string[], Record<string, string>, string]>([
    [["--quota", "postgres://h/x"], {}, "--quota needs the name of the quota, too: postgres://host/database#NAME"],
    [[], { IDV_QUOTA: "postgres://h/x" }, "IDV_QUOTA needs the name of the quota, too"],
    [["--quota", "service.db#"], {}, "--quota needs the name of the quota, too"],
    [["--quota", "#nightly"], {}, "service.db: there is no such file"],
    [[], { IDV_QUOTA_KEY: "nobody" }, "service.db: there is no such file"],
    [["--quota", "#weekly"], { IDV_STATE: "service.db" }, 'there is no quota "weekly"'],
    [[], { IDV_QUOTA_KEY: "nobody", IDV_STATE: "service.db" }, 'key "nobody" does not exist'],
    [["--quota", "none.db#nightly"], {}, "none.db: there is no such file"],
    [["--quota", "service.db#weekly"], {}, 'there is no quota "weekly"'],
    [["--quota", "postgres://a:b@127.0.0.1/x#n"], {}, "a password does not belong"],
    [["--offline", "--quota", "postgres://h/x#n"], {}, "--offline uses no network"],
  ])("%j %j is refused", async (args, env, message) => {
    const home = temporaryFolder();
    await setLimit(join(home, "service.db"), "5");
    const outcome = await idv(["emails", ...args], { home, stdin: list(1, "a"), env });
    const code = message.includes("no such file") ? 6 : 2;
    expect(outcome).toEqual({ code, stdout: "", stderr: expect.stringContaining(message) });
  });

  test("ends the run with what it has charged if its key is revoked meanwhile", async () => {
    const home = temporaryFolder();
    await idv(["keys", "create", "--state", "service.db", "--name", "n"], { home });
    const keys = async () => (await idv(["keys", "list", "--state", "service.db", "--json"], { home })).stdout;
    const { id } = JSON.parse(await keys()) as { id: string };
    const env = { IDV_STATE: "service.db", IDV_QUOTA_KEY: id };
    const child = startIdv(["emails"], { home, env });
    const [stdin, outcome] = [child.stdin!, finished(child)];
    stdin.write(list(10_000, "a"));
    await expect.poll(keys).toContain('"used":10000');
    expect((await idv(["keys", "revoke", id, "--state", "service.db"], { home })).code).toBe(0);
    stdin.end(list(9000, "b").replace("email\n", ""));
    const { code, stderr } = await outcome;
    expect(code, stderr).toBe(2);
    expect(stderr).toContain(`key "${id}" does not exist, or has ended`);
    expect(stderr).not.toContain("a bug in idv");
  });

  test("cannot be reset", async () => {
    const place = join(temporaryFolder(), "service.db");
    await setLimit(place, "5");
    const outcome = await idv(["quota", "reset", "--quota", `${place}#nightly`]);
    expect(outcome).toMatchObject({ code: 2, stderr: expect.stringContaining("cannot be reset") });
  });
});

describe.skipIf(!hasPostgres || !isFull)("a shared quota in PostgreSQL", () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  const argsFor = (place: string) => ["emails", "--set", "engine=offline", "--quota", `${place}#nightly`];

  test("four runs at once end at the limit exactly, and each says so", async () => {
    const place = await postgres.create();
    await setLimit(place, "70001");
    const runs = await Promise.all(
      ["a", "b", "c", "d"].map((name) =>
        idv([...argsFor(place), "-q"], { home: temporaryFolder(), stdin: list(30_000, name) }),
      ),
    );
    expect(runs.reduce((sum, { stdout }) => sum + granted(stdout), 0)).toBe(70_001);
    expect(runs.map(({ stdout }) => stdout.split("\n").length)).toEqual([30_002, 30_002, 30_002, 30_002]);
    expect(runs.some(({ code }) => code === 4)).toBe(true);
    expect(await quotaOf(place)).toMatchObject({ used: 70_001 });
    expect(await usageIn(place)).toBe(70_001);
  });

  test("runs that are killed pay for the rows that they have written into a pipe", async () => {
    const place = await postgres.create();
    await setLimit(place, "none");
    const folder = folderOf({ "list.csv": list(200_000, "a") });
    const store = await openPostgresServiceStore(place);
    onTestFinished(() => store.close());
    const used = async () => (await store.quotas({ quotaName: "nightly" }).read(() => false)).used;
    let received = 0;
    const tries = 12;
    for (let i = 0; i < tries; i++) {
      // When some more items are charged, or all of them.
      const wanted = (await used()) + 25_000 * Math.random();
      const child = startIdv([...argsFor(place), "list.csv", "-q"], { home: folder });
      received += granted((await killedWhen(child, async () => (await used()) > wanted)).stdout);
    }
    const last = await idv([...argsFor(place), "list.csv", "-q"], { home: folder });
    received += granted(last.stdout);
    const { used: paid } = await quotaOf(place);
    // The last flush of each may be free.
    expect(paid).toBeLessThanOrEqual(received);
    expect(paid).toBeGreaterThanOrEqual(received - tries * 30_000);
    expect(await usageIn(place)).toBe(paid);
  });

  test.skipIf(process.env["IDV_TEST_POSTGRES"] !== undefined)(
    "a run outlives a database that is killed and comes back, and is charged once",
    async () => {
      const place = await postgres.create();
      await setLimit(place, "none");
      const child = startIdv(argsFor(place));
      const [stdin, ended] = [child.stdin!, finished(child)];
      const [stdout, stderr] = [collected(child.stdout), collected(child.stderr)];
      // More than the program reads before it looks for the table.
      stdin.write(list(4000, "a"));
      while (granted(stdout()) < 4000) await sleep(20);
      await postgres.kill!();
      stdin.write(list(1000, "b").slice("email\n".length));
      while (!stderr().includes("trying again")) await sleep(20);
      await postgres.restart!();
      stdin.end(list(1000, "c").slice("email\n".length));
      expect((await ended).code, stderr()).toBe(0);
      expect(granted(stdout())).toBe(6000);
      expect(stderr()).toContain("cannot connect to the database: connection refused");
      expect(await quotaOf(place)).toMatchObject({ used: 6000 });
    },
  );
});
