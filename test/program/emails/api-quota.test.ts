/** Covers the quota of a service: where it ends, what it charges, and waiting for its renewal. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { listOf, output, statuses, useService } from "../../support/api-runs.js";
import { collected, killedWhen } from "../../support/processes.js";
import { idv, startIdv } from "../../support/run-idv.js";
import { type Act, respond, scriptedServer } from "../../support/scripted-server.js";
import { createKey, lastKey } from "../../support/service.js";
import { jsonOf } from "../../support/states.js";
import { folderOf, temporaryFolder } from "../../support/temporary-folder.js";

const { serviceHome, service, withKey } = useService();

describe.sequential("the service's quota", () => {
  test("ends after 600 of 1,000 items; once it is raised, a rerun is charged 400 more", async () => {
    const key = await createKey(serviceHome, { limit: 600 });
    const home = listOf(1000);
    const command = ["emails", "list.csv", "-o", "out.csv"];
    const first = await withKey(home, key, command);
    const reason = "idv: quota exhausted: 400 rows not checked";
    expect(first).toMatchObject({ code: 4, stderr: expect.stringContaining(reason) });
    expect(statuses(output(home))).toEqual({ ok: 600, quota_exceeded: 400 });
    // Every row before this one has a verdict, no row after it.
    expect(output(home).split("\n")[600]).toBe("ann599@larch-and-oak.com,ok");
    const { id, used } = await lastKey(serviceHome);
    expect(used).toBe(600);
    await idv(["keys", "set", id, "--limit", "5000"], { home: serviceHome });
    const second = await withKey(home, key, command);
    const charged = "600 of 1,000 from the cache, 400 units used in 4 requests";
    expect(second).toMatchObject({ code: 0, stderr: expect.stringContaining(charged) });
    expect(statuses(output(home))).toEqual({ ok: 1000 });
    expect((await lastKey(serviceHome)).used).toBe(1000);
    const third = await withKey(home, key, command);
    expect(third.stderr).toContain("1,000 of 1,000 from the cache, 0 units used in 0 requests");
    expect((await lastKey(serviceHome)).used).toBe(1000);
  });

  test("ends inside the third batch and nowhere else with 250 units and concurrency 8", async () => {
    const key = await createKey(serviceHome, { limit: 250 });
    const args = ["emails", "list.csv", "-q", "--set", "concurrency=8"];
    const { code, stdout } = await withKey(listOf(1000), key, args);
    const rows = stdout.trimEnd().split("\n").slice(1);
    const expected = [...Array(250).fill("ok"), ...Array(750).fill("quota_exceeded")];
    expect([code, rows.map((row) => row.split(",")[1])]).toEqual([4, expected]);
    expect((await lastKey(serviceHome)).used).toBe(250);
  });

  test.each([0, 2, 4])("ends with a 429 after %i of 5 batches", async (place) => {
    const gone = respond(429, {}, '{"message":"No validations are left."}');
    const server = await scriptedServer(...Array<Act>(place).fill(respond()), gone);
    const env = { IDV_API_KEY: "sk_1", IDV_BASE_URL: server.url };
    const args = ["emails", "list.csv", "-q", "--set", "concurrency=1"];
    const { code, stdout } = await idv(args, { home: listOf(500), env });
    const expected = { ...(place > 0 && { ok: 100 * place }), quota_exceeded: 500 - 100 * place };
    expect([code, statuses(stdout)]).toEqual([4, expected]);
    expect(server.seen).toHaveLength(place + 1);
  });

  test("pays again with --cache off and --cache refresh", async () => {
    const key = await createKey(serviceHome, { limit: 1000 });
    const home = listOf(30);
    for (const [i, option] of [[], ["--cache=off"], ["--cache=refresh"], ["--set", "cacheTtl=0"]].entries()) {
      await withKey(home, key, ["emails", "list.csv", "-q", ...option]);
      expect((await lastKey(serviceHome)).used).toBe(30 * (i + 1));
    }
  });

  test("stays as it is with --dry-run, which sends and writes nothing", async () => {
    const key = await createKey(serviceHome, { limit: 1000 });
    const home = listOf(250);
    const dry = await withKey(home, key, ["emails", "list.csv", "-o", "out.csv", "--dry-run"]);
    const items = '250 rows, 250 distinct e-mail addresses in column 1 "email"; 0 in the cache, 0 fake by syntax';
    const stderr = expect.stringContaining(`list.csv: ${items}; 250 units would be charged, in 3 requests`);
    expect(dry).toEqual({ code: 0, stdout: "", stderr });
    expect(existsSync(join(home, "out.csv"))).toBe(false);
    expect((await lastKey(serviceHome)).used).toBe(0);
    const json = await withKey(home, key, ["emails", "-q", "--dry-run", "--log", "json", "--offline"]);
    expect(JSON.parse(json.stderr)).toMatchObject({ dryRun: true, units: { used: 0 } });
  });

  test("does not pay for impossible addresses, empty values and duplicates", async () => {
    const key = await createKey(serviceHome, { limit: 1000 });
    const stdin = "email\nann\nAnn@larch-and-oak.com\n\nann@larch-and-oak.com\na b@c.net\nx@mailinator.com\n";
    const settings = { home: temporaryFolder(), stdin, env: { IDV_API_KEY: key, IDV_BASE_URL: service.url } };
    const { stdout, stderr } = await idv(["emails", "--explain"], settings);
    expect(stdout).toBe(
      "email,status,reason,suggestion\nann,fake,syntax: no @ at 3,\nAnn@larch-and-oak.com,ok,,\n\nann@larch-and-oak.com,ok,,\n" +
        "a b@c.net,fake,syntax: a space in the local part at 2,\nx@mailinator.com,disposable,offline: disposable-domain: mailinator.com,\n",
    );
    expect(stderr).toContain("2 fake by syntax, 2 units used in 1 request");
    expect((await lastKey(serviceHome)).used).toBe(2);
    await idv(["emails", "--set=precheck=false", "--cache=off"], settings);
    expect((await lastKey(serviceHome)).used).toBe(6);
  });

  test.each([
    [[], "100 new verdicts cached; to resume, run: idv emails list.csv -o out.csv --wait 2h"],
    [["--cache=off"], "100 units used; to start again, run: idv emails list.csv -o out.csv --wait 2h --cache=off"],
  ])("holds up a run with --wait, which says for how long and ends on a signal %j", async (args, cost) => {
    const spent = respond(429, { ratelimit: '"validations";r=0;t=1', "retry-after": "61" }, "{}");
    const { url } = await scriptedServer(respond(), spent, respond());
    // Waiting a whole minute would be slow: check only that the run waits and that a signal ends it.
    const settings = { home: listOf(150), env: { IDV_API_KEY: "sk_1", IDV_BASE_URL: url } };
    const child = startIdv(["emails", "list.csv", "-o", "out.csv", "--wait", "2h", ...args], settings);
    const said = collected(child.stderr);
    const waits = () => said().includes("the quota is exhausted; asking again in 62 s");
    const { code, stderr } = await killedWhen(child, waits, "SIGINT");
    expect(code, stderr).toBe(130);
    expect(stderr).toContain(`idv: stopped by SIGINT; out.csv was not written; ${cost}\n`);
    expect(existsSync(join(settings.home, "out.csv"))).toBe(false);
  });
});

test("several files tell the requests and units of each", async () => {
  const key = await createKey(serviceHome);
  const table = (count: number, name: string) =>
    `email\n${Array.from({ length: count }, (_, i) => `${name}${i}@larch-and-oak.com\n`).join("")}`;
  const home = folderOf({ "a.csv": table(120, "a"), "b.csv": table(120, "a"), "c.csv": table(10, "c") });
  const { stderr } = await withKey(home, key, ["emails", "a.csv", "b.csv", "c.csv", "-I"]);
  expect(stderr.match(/\d+ units used in \d+ requests?/g)).toEqual([
    ...["120 units used in 2 requests", "0 units used in 0 requests", "10 units used in 1 request"],
    "130 units used in 3 requests",
  ]);
});

test("a failed --cache refresh does not advise to mix its verdicts with older ones", async () => {
  const home = listOf(150);
  const server = await scriptedServer(respond(), respond(), respond(), respond(401, {}, "{}"));
  const settings = { home, env: { IDV_API_KEY: "sk_1", IDV_BASE_URL: server.url } };
  expect((await idv(["emails", "list.csv", "-q", "-o", "out.csv"], settings)).code).toBe(0);
  const failed = await idv(["emails", "list.csv", "-q", "-o", "out.csv", "--cache=refresh"], settings);
  const advice = "to resume with all cached verdicts, run the command without --cache refresh";
  const stderr = expect.stringContaining(`; 100 new verdicts cached; ${advice}\n`);
  expect(failed).toMatchObject({ code: 3, stderr });
});

test("units of files that failed are told when a later one ends the run", async () => {
  const rows = Array.from({ length: 200 }, (_, i) => `u${i}@larch-and-oak.com\n`);
  const files = { "a.csv": `email\n${rows.join("")}"never closed\n`, "b.csv": "email\nbob@larch-and-oak.com\n" };
  const server = await scriptedServer(respond(), respond(), respond(401, {}, "{}"));
  const args = ["emails", "a.csv", "b.csv", "-q", "-o", "out/", "--cache=off"];
  const env = { IDV_API_KEY: "sk_1", IDV_BASE_URL: server.url };
  const outcome = await idv(args, { home: folderOf(files), env });
  expect(outcome).toMatchObject({ code: 3, stderr: expect.stringMatching(/; 200 units used\n$/) });
});

test("the cache stores no address and can be shown, pruned and cleared", async () => {
  const key = await createKey(serviceHome);
  const home = listOf(20);
  await withKey(home, key, ["emails", "list.csv", "-q"]);
  const path = join(home, "state/idv/verdicts.db");
  for (const name of [path, `${path}-wal`]) {
    if (!existsSync(name)) continue;
    expect(readFileSync(name, "latin1")).not.toContain("larch");
    expect(statSync(name).mode & 0o777).toBe(0o600);
  }
  expect(statSync(join(home, ".config/idv/cache-secret")).mode & 0o777).toBe(0o600);
  const scopes = [{ kind: "email", baseUrl: service.url, items: 20 }];
  expect(await jsonOf(["cache", "stats"], { home })).toMatchObject([{ file: path, scopes }]);
  expect((await idv(["cache", "prune"], { home })).stderr).toBe("idv: removed 0 verdicts\n");
  expect((await idv(["cache", "prune", "--older-than", "0"], { home })).stderr).toBe("idv: removed 20 verdicts\n");
  await withKey(home, key, ["emails", "list.csv", "-q"]);
  expect((await idv(["cache", "clear"], { home })).stderr).toBe("idv: removed 20 verdicts\n");
  expect(existsSync(join(home, ".config/idv/cache-secret"))).toBe(false);
  expect((await idv(["cache", "stats"], { home: temporaryFolder() })).stdout).toContain("verdicts.db");
});
