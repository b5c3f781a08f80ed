/** Covers `idv serve` on a PostgreSQL that is locked, hangs, has few connections, or is behind a pooler. */
import { spawn } from "node:child_process";
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { afterFile } from "../../support/clean-up.js";
import { freePort } from "../../support/free-port.js";
import { hasPostgres, type PostgresServer, startPostgres } from "../../support/postgres.js";
import { endedBy } from "../../support/processes.js";
import { hasProgram } from "../../support/programs.js";
import { idv } from "../../support/run-idv.js";
import { post, serve, serveWith } from "../../support/service.js";
import { createKeyIn, jsonOf } from "../../support/states.js";
import { folderOf, temporaryFolder } from "../../support/temporary-folder.js";
import { isFull } from "../../support/tier.js";

const isRoot = process.getuid?.() === 0;

describe.skipIf(!hasPostgres || !isFull)("on a PostgreSQL in trouble", () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres();
  });

  const start = (state: string, ...args: string[]) => serve(temporaryFolder(), "-q", "--state", state, ...args);
  const client = async (state: string) => {
    const client = new pg.Client({ connectionString: state });
    // The test that stops the server breaks it off.
    client.on("error", () => {});
    await client.connect();
    return client;
  };
  const check = (url: string, key: string, item = "a@larch-and-oak.com") =>
    post(`${url}/emails/validate`, key, { emails: [item] });
  const statusesOf = async (answers: readonly Promise<{ status: number }>[]) =>
    (await Promise.all(answers)).map(({ status }) => status);

  /** Locks some quotas and returns how to release them, and to wait until a number of charges wait for the lock. */
  async function lock(state: string, quotas: string) {
    const [locker, admin] = [await client(state), await client(state)];
    await locker.query(`BEGIN; SELECT * FROM idv_quota ${quotas} FOR UPDATE`);
    const blocked = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    const untilBlocked = (count: number) => expect.poll(async () => (await admin.query(blocked)).rowCount).toBe(count);
    const release = async () => {
      await locker.query("COMMIT");
      await Promise.all([locker.end(), admin.end()]);
    };
    return { untilBlocked, release };
  }

  test("a locked quota delays neither other keys nor the probes, however many keys share it", async () => {
    const state = await postgres.create();
    const shared: string[] = [];
    for (let i = 0; i < 10; i++) shared.push(await createKeyIn(state, "--quota", "shared"));
    const other = await createKeyIn(state);
    const { url } = await start(state);
    const { untilBlocked, release } = await lock(state, "WHERE name = 'shared'");
    const waiting = shared.map((key) => check(url, key));
    await untilBlocked(1);
    expect((await check(url, other)).status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    await release();
    expect(await statusesOf(waiting)).toEqual(shared.map(() => 200));
  });

  test("locked quotas of many keys leave connections to look-ups and probes", async () => {
    const state = await postgres.create();
    const keys: string[] = [];
    for (let i = 0; i < 5; i++) keys.push(await createKeyIn(state));
    const { url } = await start(state, "--set", "databaseConnections=4");
    const { untilBlocked, release } = await lock(state, "");
    const waiting = keys.map((key) => check(url, key));
    await untilBlocked(2);
    expect((await check(url, `sk_${"A".repeat(43)}`)).status).toBe(401);
    await release();
    expect(await statusesOf(waiting)).toEqual(keys.map(() => 200));
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toMatch(/^idv_store_connections\{state="open"\} [234]$/m);
  });

  test("a connection that the database refuses waits for one that works", async () => {
    const state = await postgres.create();
    const keys = [await createKeyIn(state), await createKeyIn(state), await createKeyIn(state)];
    const admin = await client(state);
    const role = `few${new URL(state).pathname.slice(1)}`;
    await admin.query(`CREATE ROLE ${role} LOGIN CONNECTION LIMIT 3;
      GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role};
      GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${role}`);
    const limited = new URL(state);
    limited.username = role;
    const { url } = await start(limited.href);
    const answers = Array.from({ length: 60 }, (_, i) => check(url, keys[i % 3]!, `a${i}@larch-and-oak.com`));
    expect(new Set(await statusesOf(answers))).toEqual(new Set([200]));
    await admin.end();
  });

  test.skipIf(!isRoot)("a database that hangs ends requests with 503, and detains no signal", async () => {
    const state = await postgres.create();
    const key = await createKeyIn(state);
    const { url, child } = await start(state, "--set", "databaseTimeout=1s");
    expect((await check(url, key)).status).toBe(200);
    const admin = await client(state);
    const { rows } = await admin.query("SELECT pid FROM pg_stat_activity WHERE application_name = 'idv'");
    const parent = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${rows[0].pid}/status`, "utf8"))![1]);
    const pids = [parent, ...rows.map(({ pid }) => pid as number)];
    for (const pid of pids) process.kill(pid, "SIGSTOP");
    try {
      const begun = performance.now();
      expect(await statusesOf([check(url, key), check(url, key), fetch(`${url}/readyz`)])).toEqual([503, 503, 503]);
      expect(performance.now() - begun).toBeLessThan(4000);
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      const late = check(url, key).catch(() => {});
      expect((await endedBy(child, "SIGTERM"))[0]).toBe(0);
      expect(performance.now() - begun).toBeLessThan(10_000);
      await late;
    } finally {
      for (const pid of pids) process.kill(pid, "SIGCONT");
    }
    await admin.end();
  });

  test("Retry-After follows the clock of the database", async () => {
    const state = await postgres.create();
    const key = await createKeyIn(state, "--limit", "1", "--period", "hour");
    const answers = [];
    for (const hours of [-1, 0, 1]) {
      const shift = `const now=Date.now;Date.now=()=>now()+${hours * 3_600_000}`;
      const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(shift)}` };
      const { url } = await serveWith({ home: temporaryFolder(), env }, "-q", "--state", state);
      if (hours === -1) await check(url, key);
      const { status, headers } = await check(url, key);
      answers.push(status);
      const left = 3600 - ((Date.now() / 1000) % 3600);
      for (const seconds of [headers.get("retry-after"), /t=(\d+)/.exec(headers.get("ratelimit")!)![1]]) {
        expect(Math.abs(Number(seconds) - left)).toBeLessThan(30);
      }
    }
    expect(answers).toEqual([429, 429, 429]);
  });

  test.skipIf(!hasProgram("pgbouncer"))("PgBouncer in transaction mode gives exact quotas", async () => {
    const state = new URL(await postgres.create());
    const port = await freePort();
    const folder = folderOf({
      "pgbouncer.ini": `[databases]\n* = host=127.0.0.1 port=${state.port} user=idv\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}
auth_type = any\npool_mode = transaction\ndefault_pool_size = 5\nunix_socket_dir =\n`,
    });
    chmodSync(folder, 0o755);
    const own = isRoot ? ["-u", "nobody"] : [];
    const pooler = spawn("pgbouncer", [...own, join(folder, "pgbouncer.ini")], { stdio: "ignore" });
    afterFile(() => pooler.kill("SIGKILL"));
    state.port = String(port);
    await expect.poll(async () => (await idv(["keys", "list", "--state", state.href])).code).toBe(0);
    const key = await createKeyIn(state.href, "--limit", "101");
    const servers = [await start(state.href), await start(state.href)];
    const answers = await Promise.all(
      Array.from({ length: 120 }, (_, i) => check(servers[i % 2]!.url, key, `a${i}@larch-and-oak.com`)),
    );
    const granted = answers.filter(({ status, text }) => status === 200 && !text.includes('"quota_exceeded"'));
    expect(granted).toHaveLength(101);
    expect(await jsonOf(["keys", "list", "--state", state.href])).toMatchObject([{ used: 101 }]);
  });
});
