/** Covers `idv serve` on PostgreSQL: several servers draw from one key exactly, and the database may go and come back. */
import pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { hasPostgres, type PostgresServer, startPostgres } from "../../support/postgres.js";
import { idv } from "../../support/run-idv.js";
import { post, serve, serveWith } from "../../support/service.js";
import { createKeyIn, jsonOf, usageIn } from "../../support/states.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { testFull } from "../../support/tier.js";

describe.skipIf(!hasPostgres)("on PostgreSQL", () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres();
  });

  const start = (state: string) => serve(temporaryFolder(), "-q", "--state", state);
  const send = async (url: string, key: string, names: readonly string[], idempotencyKey?: string) => {
    const emails = names.map((name) => `${name}@larch-and-oak.com`);
    const headers = idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey };
    const { status: code, body } = await post(`${url}/emails/validate`, key, { emails }, headers);
    const results = Object.values<{ status: string }>(body.emails ?? {});
    return { code, granted: results.filter(({ status }) => status !== "quota_exceeded").length };
  };
  const unitsIn = async (state: string) => {
    const [{ used }] = await jsonOf(["keys", "list", "--state", state]);
    return { used, usage: await usageIn(state) };
  };
  const clientOf = async (state: string) => {
    const client = new pg.Client({ connectionString: state });
    await client.connect();
    return client;
  };

  test("four servers grant exactly the limit of one key, and usage agrees", async () => {
    const state = await postgres.create();
    const key = await createKeyIn(state, "--limit", "1001");
    const servers = await Promise.all([start(state), start(state), start(state), start(state)]);
    const requests = Array.from({ length: 120 }, (_, i) => {
      const names = Array.from({ length: 13 }, (_, item) => `a${i}-${item}`);
      return send(servers[i % 4]!.url, key, names, i % 3 === 0 ? `k${i}` : undefined);
    });
    const answers = await Promise.all(requests);
    expect(answers.reduce((sum, { granted }) => sum + granted, 0)).toBe(1001);
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([200, 429]));
    expect(await unitsIn(state)).toEqual({ used: 1001, usage: 1001 });
  });

  testFull("servers killed under load lose no unit, and a repeated Idempotency-Key is not charged again", async () => {
    const state = await postgres.create();
    const key = await createKeyIn(state);
    let answered = 0;
    for (let round = 0; round < 5; round++) {
      const { url, kill } = await start(state);
      const names = (i: number) => Array.from({ length: 10 }, (_, item) => `r${round}-${i}-${item}`);
      let left = 8 * round;
      let onAnswered = () => {};
      const isUnderWay = new Promise<void>((resolve) => {
        onAnswered = () => {
          if (left-- === 0) resolve();
        };
      });
      const work = Array.from({ length: 40 }, (_, i) =>
        send(url, key, names(i), `r${round}-${i}`).then(
          () => onAnswered(),
          () => undefined,
        ),
      );
      onAnswered();
      await isUnderWay;
      await kill();
      await Promise.all(work);
      // What was not answered is sent again, to another server; what was committed is not charged twice.
      const next = await start(state);
      const again = await Promise.all(
        Array.from({ length: 40 }, (_, i) => send(next.url, key, names(i), `r${round}-${i}`)),
      );
      answered += again.reduce((sum, { granted }) => sum + granted, 0);
      await next.kill();
    }
    expect(answered).toBe(2000);
    expect(await unitsIn(state)).toEqual({ used: 2000, usage: 2000 });
  });

  testFull("a database that is gone for a while gives 503, then all is well and no unit is lost", async (context) => {
    if (postgres.kill === undefined) return context.skip();
    const state = await postgres.create();
    const key = await createKeyIn(state);
    const { url } = await start(state);
    expect(await send(url, key, ["a"], "a")).toEqual({ code: 200, granted: 1 });
    await postgres.kill();
    await expect.poll(async () => (await send(url, key, ["b"], "b")).code).toBe(503);
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    // It stays away while it is asked again.
    for (const name of ["c", "d", "e"]) expect((await send(url, key, [name])).code).toBe(503);
    await postgres.restart!();
    await expect.poll(async () => (await send(url, key, ["b"], "b")).code).toBe(200);
    expect(await send(url, key, ["a"], "a")).toEqual({ code: 200, granted: 1 });
    expect(await unitsIn(state)).toEqual({ used: 2, usage: 2 });
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });

  testFull("what was answered is charged although the database is killed", async (context) => {
    if (postgres.kill === undefined) return context.skip();
    const state = await postgres.create();
    const key = await createKeyIn(state);
    const { url } = await start(state);
    let answered = 0;
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 20; i++) answered += (await send(url, key, [`${round}-${i}`])).granted;
      await postgres.kill();
      await postgres.restart!();
      // The first charges after it may meet connections that are closed.
      const isBack = async () => (await fetch(`${url}/readyz`)).status;
      await expect.poll(isBack).toBe(200);
    }
    expect(answered).toBe(60);
    expect(await unitsIn(state)).toEqual({ used: 60, usage: 60 });
  });

  testFull("servers whose clocks are an hour apart renew a quota once", async () => {
    const state = await postgres.create();
    const key = await createKeyIn(state, "--limit", "5", "--period", "day");
    const shifted = (hours: number) => {
      const script = `const now=Date.now;Date.now=()=>now()+${hours * 3_600_000}`;
      const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(script)}` };
      return serveWith({ env }, "-q", "--state", state);
    };
    const servers = await Promise.all([-1, 0, 1, 24].map(shifted));
    const answers = [];
    for (let i = 0; i < 8; i++) answers.push(await send(servers[i % 4]!.url, key, [`a${i}`]));
    expect(answers.map(({ code }) => code)).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
    expect(await unitsIn(state)).toEqual({ used: 5, usage: 5 });
  });

  testFull("a connection that breaks while a charge waits is a 503, and the charge is not made", async () => {
    const state = await postgres.create();
    const key = await createKeyIn(state);
    const { url, child } = await start(state);
    // In the transaction, the activity would be that of its first look.
    const [client, admin] = [await clientOf(state), await clientOf(state)];
    await client.query("BEGIN");
    await client.query("SELECT * FROM idv_quota FOR UPDATE");
    const waiting = send(url, key, ["a"], "a");
    const blocked = "SELECT pid FROM pg_stat_activity WHERE application_name = 'idv' AND wait_event_type = 'Lock'";
    await expect.poll(async () => (await admin.query(blocked)).rowCount).toBe(1);
    await admin.query(`SELECT pg_terminate_backend(pid) FROM (${blocked}) AS blocked`);
    expect(await waiting).toEqual({ code: 503, granted: 0 });
    await client.query("ROLLBACK");
    await Promise.all([client.end(), admin.end()]);
    expect(child.exitCode).toBeNull();
    expect(await unitsIn(state)).toEqual({ used: 0, usage: 0 });
    expect(await send(url, key, ["a"], "a")).toEqual({ code: 200, granted: 1 });
  });

  testFull("keys are changed while they are charged, without a refusal", async () => {
    const state = await postgres.create();
    const key = await createKeyIn(state);
    const [{ id }] = await jsonOf(["keys", "list", "--state", state]);
    const servers = [await start(state), await start(state)];
    const codes = new Set<number>();
    let isDone = false;
    const load = servers.map(async ({ url }) => {
      for (let i = 0; !isDone; i++) codes.add((await send(url, key, [`a${i}`])).code);
    });
    for (let i = 0; i < 8; i++) {
      const changed = await idv(["keys", "set", id, "--name", `n${i}`, "--state", state]);
      expect(changed.code, changed.stderr).toBe(0);
    }
    expect((await idv(["keys", "revoke", id, "--state", state])).code).toBe(0);
    await expect.poll(() => codes.has(401)).toBe(true);
    isDone = true;
    await Promise.all(load);
    expect(codes).toEqual(new Set([200, 401]));
    const { used, usage } = await unitsIn(state);
    expect(used).toBe(usage);
  });

  testFull.each([
    ["postgres://idv@127.0.0.1:1/x?password=hidden", 2, "a password does not belong on a command line"],
    // The host that counts is the one that the library takes; there, TLS is asked for.
    ["postgres:///x?host=127.0.0.1&sslmode=prefer", 6, "postgres://127.0.0.1/x: sslmode=prefer does not check"],
    ["postgres://idv:hidden@127.0.0.1:1/x", 2, "a password does not belong on a command line"],
    ["postgres://127.0.0.1:1/x", 6, "postgres://127.0.0.1/x: cannot connect to the database: connection refused; "],
    ["postgres://db.invalid/x?sslmode=require", 6, "sslmode=require does not check the server"],
  ])("%s is refused in one line", async (state, code, message) => {
    const outcome = await idv(["keys", "list", "--state", state]);
    expect(outcome).toMatchObject({ code, stderr: expect.stringContaining(message) });
    expect(outcome.stderr).not.toContain("hidden");
    expect(outcome.stderr.trim().split("\n")).toHaveLength(1);
  });

  testFull("tables of another version are refused", async () => {
    const state = await postgres.create();
    await createKeyIn(state);
    const client = await clientOf(state);
    await client.query("UPDATE idv_schema SET version = 99");
    await client.end();
    const { code, stderr } = await idv(["keys", "list", "--state", state]);
    expect([code, stderr]).toEqual([6, expect.stringContaining("written by another version of idv")]);
  });
});
