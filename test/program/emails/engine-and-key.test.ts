/** Covers which engine a run uses, and where its key and settings come from. */
import { chmodSync, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useService } from "../../support/api-runs.js";
import { idv } from "../../support/run-idv.js";
import { respond, scriptedServer } from "../../support/scripted-server.js";
import { createKey } from "../../support/service.js";
import { folderOf } from "../../support/temporary-folder.js";

const { serviceHome, service, withKey } = useService();

describe("engine and key", () => {
  const file = { "list.csv": "email\nann@larch-and-oak.com\n" };
  const homeWith = (files: Readonly<Record<string, string>>) => folderOf(files, 0o600);
  test("variables for the offline engine are named when a service is asked, and ignored", async () => {
    const home = homeWith({ ...file, "own.txt": "larch-and-oak.com\n" });
    const key = await createKey(serviceHome);
    const env = { IDV_ALLOW: "own.txt", IDV_DENY: "own.txt", IDV_QUOTA: "q.db" };
    const { code, stderr } = await withKey(home, key, ["emails", "list.csv"], env);
    expect(code, stderr).toBe(0);
    expect(existsSync(join(home, "q.db"))).toBe(false);
    expect((await withKey(home, key, ["emails", "list.csv", "-q"], env)).stderr).toBe("");
    expect((await withKey(home, key, ["emails", "list.csv"])).stderr).not.toContain("ignored");
    expect(stderr).toContain(
      "idv: IDV_ALLOW, IDV_DENY, IDV_QUOTA: ignored, because a service is asked; for the offline engine, add --offline\n",
    );
  });

  test.each<[string, Record<string, string>, string[], string]>([
    [
      "the environment overrides a project's file",
      { ".idvrc.json": '{"baseUrl":"https://a.net"}' },
      [],
      "IDV_BASE_URL",
    ],
    [
      "an option overrides all other settings",
      { ".idvrc.json": '{"baseUrl":"https://a.net"}' },
      ["--base-url", "URL"],
      "--base-url",
    ],
  ])("%s", async (_, files, args, source) => {
    const key = await createKey(serviceHome);
    const home = homeWith({ ...file, ...files });
    const { stderr } = await withKey(home, key, [
      "emails",
      "list.csv",
      ...args.map((arg) => arg.replace("URL", service.url)),
    ]);
    expect(stderr).toContain(`idv: api engine at ${service.url} (${source}; a key is configured: IDV_API_KEY)\n`);
  });

  test("a project's file applies in folders below it, before the user's file", async () => {
    const key = await createKey(serviceHome);
    const home = homeWith({
      "project/.idvrc.json": JSON.stringify({ baseUrl: service.url, batchSize: 7 }),
      "project/deep/list.csv": `email\n${Array.from({ length: 14 }, (_, i) => `a${i}@larch-and-oak.com\n`).join("")}`,
      ".config/idv/config.json": JSON.stringify({ baseUrl: `${service.url}/other`, concurrency: 1 }),
    });
    const env = { IDV_API_KEY: key, HOME: home };
    const outcome = await idv(["emails", "list.csv"], { home: join(home, "project/deep"), env });
    expect(outcome.stderr).toContain(`api engine at ${service.url} (${join(home, "project/.idvrc.json")};`);
    expect(outcome.stderr).toContain("14 units used in 2 requests");
  });

  test("login stores a key for one service, doctor masks it and logout deletes it", async () => {
    const key = await createKey(serviceHome);
    const home = homeWith(file);
    const login = await idv(["login", "--base-url", `${service.url}/`], { home, stdin: `${key}\n` });
    const path = join(home, ".config/idv/credentials.json");
    expect(login).toEqual({ code: 0, stdout: "", stderr: `idv: the key for ${service.url} is kept in ${path}\n` });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const run = await idv(["emails", "list.csv"], { home });
    expect(run.stderr).toContain(`idv: api engine at ${service.url} (idv login; a key is configured: idv login)\n`);
    // The key is not sent to another service.
    const elsewhere = await idv(["emails", "list.csv", "--set", "engine=api", "--base-url", "https://a.net"], { home });
    expect(elsewhere).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(`the key of idv login is for ${service.url}`),
    });
    const doctor = await idv(["doctor", "--online"], { home });
    expect(doctor.code).toBe(0);
    expect(doctor.stdout).toContain("timeout\t30s\tdefault\n");
    expect(doctor.stdout).toContain("cacheTtl\t30d\tdefault\n");
    expect(doctor.stdout).toContain(`key\tsk_****${key.slice(-4)}\tidv login\n`);
    expect(doctor.stdout).toContain(`service\t${service.url}: answers 200\nall is well\n`);
    expect(doctor.stdout + run.stderr).not.toContain(key);
    chmodSync(path, 0o644);
    expect(await idv(["doctor"], { home })).toMatchObject({
      code: 2,
      stdout: expect.stringContaining(`FAULT\t${path}: others may read it; run chmod 600\n`),
    });
    await idv(["logout"], { home });
    expect(existsSync(path)).toBe(false);
    expect((await idv(["doctor", "--online", "--set", "engine=api"], { home })).code).toBe(3);
  });

  test("login asks the service once, and stores no key that it refuses", async () => {
    const home = homeWith({});
    const path = join(home, ".config/idv/credentials.json");
    const refused = await idv(["login", "--base-url", service.url], { home, stdin: "sk_wrong\n" });
    expect(refused.code, refused.stderr).toBe(3);
    expect(refused.stderr).toMatch(/answers 401.*; the key is not stored; --no-verify stores it unchecked\n$/);
    const page = await scriptedServer(respond(200, { "content-type": "text/html" }, "<html>Welcome</html>"));
    const other = await idv(["login", "--base-url", page.url], { home, stdin: "sk_1\n" });
    expect(other).toMatchObject({ code: 5, stderr: expect.stringContaining("is the base URL right?") });
    const away = await idv(["login", "--base-url", "http://127.0.0.1:1"], { home, stdin: "sk_1\n" });
    expect(away.code, away.stderr).toBe(5);
    const open = await idv(["login", "--base-url", "http://10.0.0.1"], { home, stdin: "sk_1\n" });
    expect(open.code, open.stderr).toBe(2);
    expect(open.stderr).toContain("the key would be sent unencrypted");
    expect(existsSync(path)).toBe(false);
    const unasked = ["login", "--base-url", "http://127.0.0.1:1", "--no-verify"];
    expect((await idv(unasked, { home, stdin: "sk_1\n" })).code).toBe(0);
    expect(existsSync(path)).toBe(true);
  });

  test("doctor names what a run would use, and does not promise what it has not asked", async () => {
    const home = homeWith({ "own.txt": "larch-and-oak.com\n", "bad.txt": "no domain\n" });
    const env = { IDV_API_KEY: "sk_1", IDV_BASE_URL: "http://127.0.0.1:1", IDV_ALLOW: join(home, "own.txt") };
    const { code, stdout } = await idv(["doctor"], { home, env: { ...env, HTTP_PROXY: "http://u:hidden@[::1]:1" } });
    expect(code, stdout).toBe(0);
    expect(stdout).toMatch(/^idv\t[\d.]+\tNode\.js /);
    expect(stdout).toContain("proxy\tHTTP_PROXY\tenvironment\n");
    expect(stdout).toContain("own lists\t1 allowed, 0 denied\t");
    expect(stdout).toMatch(/^data\t[\d,]+ entries, newest list \d+ days? old\t/m);
    expect(stdout).toContain("no fault found; --online also asks the service\n");
    expect(stdout).not.toContain("all is well");
    expect(stdout).not.toContain("hidden");
    const { facts, exitCode } = JSON.parse((await idv(["doctor", "--json"], { home, env })).stdout);
    expect(exitCode).toBe(0);
    expect(facts).toContainEqual({ what: "engine", value: "auto", source: "default" });
    const broken = await idv(["doctor"], { home, env: { IDV_DENY: join(home, "bad.txt") } });
    expect(broken.code, broken.stdout).toBe(2);
    expect(broken.stdout).toContain("bad.txt:1: neither a domain nor an address");
  });

  test("answers to a sandbox key are made up: the run says so and does not cache them", async () => {
    const created = await idv(["keys", "create", "--name", "tests", "--sandbox"], { home: serviceHome });
    expect(created.stderr).toContain("it is a sandbox key: its answers are made up, and nothing is charged\n");
    const home = homeWith(file);
    const env = { IDV_API_KEY: created.stdout.trim(), IDV_BASE_URL: service.url };
    const { code, stderr } = await idv(["emails", "list.csv"], { home, env });
    expect(code, stderr).toBe(0);
    expect(stderr).toContain("idv: a sandbox key: its answers are made up, so they are not cached\n");
    expect(existsSync(join(home, "state/idv/verdicts.db"))).toBe(false);
  });

  test("the key is read from a file and from a command", async () => {
    const key = await createKey(serviceHome);
    const home = homeWith({ ...file, key: `${key}\n` });
    const env = { IDV_BASE_URL: service.url };
    const fromFile = await idv(["emails", "list.csv", "--set", "apiKeyFile=key"], { home, env });
    expect(fromFile.stderr).toContain("a key is configured: key)");
    const fromCommand = await idv(["emails", "list.csv"], { home, env: { ...env, IDV_API_KEY_COMMAND: "cat key" } });
    expect(fromCommand.stderr).toContain("a key is configured: IDV_API_KEY_COMMAND)");
    expect([fromFile.code, fromCommand.code]).toEqual([0, 0]);
  });

  test("doctor --online reports a rejected key", async () => {
    const server = await scriptedServer(respond(401, {}, "{}"));
    const env = { IDV_API_KEY: "sk_1", IDV_BASE_URL: server.url };
    const { code, stdout } = await idv(["doctor", "--online"], { home: homeWith({}), env });
    expect(code).toBe(3);
    expect(stdout).toContain(`FAULT\t${server.url}: answers 401; idv login stores another key\n`);
  });
});
