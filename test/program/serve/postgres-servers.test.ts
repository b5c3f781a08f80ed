/** Covers `idv serve` on servers of PostgreSQL with TLS, a role that may create nothing, time limits, and a standby. */
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { afterFile } from "../../support/clean-up.js";
import { hasPostgres } from "../../support/postgres.js";
import { isPackaged, startPostgresServer } from "../../support/postgres-server.mjs";
import { idv } from "../../support/run-idv.js";
import { post, serve } from "../../support/service.js";
import { createKeyIn, jsonOf } from "../../support/states.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { isFull } from "../../support/tier.js";

const pem = fileURLToPath(new URL("../../support/localhost.pem", import.meta.url));
const isRoot = process.getuid?.() === 0;

async function startServer(prepare?: (data: string) => void) {
  const server = await startPostgresServer(temporaryFolder(), prepare);
  afterFile(server.kill);
  return server;
}

async function query(url: string, ...statements: string[]) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  let rows: unknown[] = [];
  for (const statement of statements) ({ rows } = await client.query(statement));
  await client.end();
  return rows;
}

const check = async (url: string, key: string, item: string) =>
  (await post(`${url}/emails/validate`, key, { emails: [item] })).status;
const usedIn = async (state: string) => (await jsonOf(["keys", "list", "--state", state]))[0].used;

describe.skipIf(!hasPostgres || !isPackaged || !isFull)("on a PostgreSQL", () => {
  test("with TLS, the certificate is checked", async () => {
    const server = await startServer();
    const [certificate, key] = ["server.crt", "server.key"].map((name) => join(server.data, name)) as [string, string];
    for (const path of [certificate, key]) copyFileSync(pem, path);
    chmodSync(key, 0o600);
    if (isRoot) execFileSync("chown", ["65534:65534", key, certificate]);
    await server.stop();
    await server.restart("-c", "ssl=on", "-c", `ssl_cert_file=${certificate}`, "-c", `ssl_key_file=${key}`);
    const secure = `${server.url.replace("127.0.0.1", "localhost")}?sslmode=verify-full`;
    const refused = await idv(["keys", "create", "--name", "a", "--state", secure]);
    expect(refused).toMatchObject({ code: 6, stdout: "" });
    expect(refused.stderr).toMatch(/^idv: postgres:\/\/localhost\/postgres: .*certificate.*\n$/);
    const trusted = `${secure}&sslrootcert=${pem}`;
    const secret = await createKeyIn(trusted);
    const { url } = await serve(temporaryFolder(), "-q", "--state", trusted);
    expect(await check(url, secret, "ann@larch-and-oak.com")).toBe(200);
    const connections = "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'idv'";
    expect(new Set((await query(server.url, connections)).map((row) => JSON.stringify(row)))).toEqual(
      new Set(['{"ssl":true}']),
    );
    expect((await idv(["keys", "list", "--state", `${secure.replace("verify-full", "require")}`])).stderr).toContain(
      "sslmode=require does not check the server; use verify-full, or disable",
    );
  });

  test("a role that may create nothing uses a state that is there, and says what it lacks for a new one", async () => {
    const server = await startServer();
    const secret = await createKeyIn(server.url);
    await query(
      server.url,
      "CREATE ROLE plain LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC",
      "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO plain",
      "GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO plain",
      "CREATE DATABASE empty",
    );
    await query(server.url.replace("/postgres", "/empty"), "REVOKE CREATE ON SCHEMA public FROM PUBLIC");
    const plain = server.url.replace("idv@", "plain@");
    const { url } = await serve(temporaryFolder(), "-q", "--state", plain);
    expect(await check(url, secret, "ann@larch-and-oak.com")).toBe(200);
    expect(await usedIn(plain)).toBe(1);
    const created = await idv(["keys", "create", "--name", "a", "--state", plain.replace("/postgres", "/empty")]);
    expect(created).toMatchObject({ code: 6, stdout: "" });
    expect(created.stderr).toMatch(
      /^idv: postgres:\/\/127\.0\.0\.1\/empty: .*permission denied for schema public.*\n$/,
    );
  });

  test("a statement_timeout of the database ends requests with 503 and charges nothing", async () => {
    const server = await startServer();
    const secret = await createKeyIn(server.url);
    await query(server.url, "ALTER DATABASE postgres SET statement_timeout = '300ms'");
    const { url } = await serve(temporaryFolder(), "-q", "--state", server.url);
    expect(await check(url, secret, "ann@larch-and-oak.com")).toBe(200);
    const locker = new pg.Client({ connectionString: server.url });
    await locker.connect();
    await locker.query("BEGIN; SELECT * FROM idv_quota FOR UPDATE");
    expect(await check(url, secret, "bob@larch-and-oak.com")).toBe(503);
    await locker.query("COMMIT");
    await locker.end();
    expect(await check(url, secret, "cleo@larch-and-oak.com")).toBe(200);
    expect(await usedIn(server.url)).toBe(2);
  });

  test("a standby that is promoted goes on with every unit that was told", async () => {
    const primary = await startServer();
    const secret = await createKeyIn(primary.url);
    await primary.stop();
    const { port } = new URL(primary.url);
    const standby = await startServer((data) => {
      cpSync(primary.data, data, { recursive: true });
      rmSync(join(data, "postmaster.pid"), { force: true });
      writeFileSync(join(data, "standby.signal"), "");
      const source = `primary_conninfo = 'host=127.0.0.1 port=${port} user=idv application_name=standby'\n`;
      writeFileSync(join(data, "postgresql.auto.conf"), source);
    });
    await primary.restart("-c", "synchronous_standby_names=standby");
    const synced = "SELECT sync_state FROM pg_stat_replication";
    await expect.poll(() => query(primary.url, synced)).toEqual([{ sync_state: "sync" }]);
    const switchable = await forward(Number(port));
    const state = primary.url.replace(port, String(switchable.port));
    const { url } = await serve(temporaryFolder(), "-q", "--state", state, "--set", "databaseTimeout=1s");
    let told = 0;
    let sent = 0;
    const send = async () => {
      const status = await check(url, secret, `n${sent++}@larch-and-oak.com`).catch(() => 0);
      if (status === 200) told++;
      return status;
    };
    for (let i = 0; i < 50; i++) expect(await send()).toBe(200);
    const under = Array.from({ length: 8 }, send);
    await primary.kill();
    await Promise.all(under);
    await query(standby.url, "SELECT pg_promote()");
    switchable.to(Number(new URL(standby.url).port));
    await expect.poll(send).toBe(200);
    const used = await usedIn(standby.url);
    expect(used).toBeGreaterThanOrEqual(told);
    expect(used).toBeLessThanOrEqual(sent);
    expect((await idv(["state", "check", "--state", standby.url])).code).toBe(0);
  });
});

/** Passes connections on to a port, which may change: those to the one before are cut. */
async function forward(first: number) {
  let target = first;
  const open = new Set<() => void>();
  const server: Server = createServer((socket) => {
    const other = connect(target, "127.0.0.1");
    const end = () => {
      socket.destroy();
      other.destroy();
      open.delete(end);
    };
    open.add(end);
    for (const each of [socket, other]) each.on("error", end).on("close", end);
    socket.pipe(other).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterFile(() => {
    for (const end of open) end();
    server.close();
  });
  const to = (port: number) => {
    target = port;
    for (const end of open) end();
  };
  return { port: (server.address() as { port: number }).port, to };
}
