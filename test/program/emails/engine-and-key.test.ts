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
    const asked = await withKey(home, key, ["emails", "list.csv"], env);
    const reason = "ignored, because a service is asked; for the offline engine, add --offline";
    const stderr = expect.stringContaining(`idv: IDV_ALLOW, IDV_DENY, IDV_QUOTA: ${reason}\n`);
    expect(asked).toMatchObject({ code: 0, stderr });
    expect(existsSync(join(home, "q.db"))).toBe(false);
    expect((await withKey(home, key, ["emails", "list.csv", "-q"], env)).stderr).toBe("");
    expect((await withKey(home, key, ["emails", "list.csv"])).stderr).not.toContain("ignored");
  });

  test.each([
    ["the environment overrides a project's file", "IDV_BASE_URL"],
    ["an option overrides all other settings", "--base-url"],
  ])("%s", async (_, source) => {
    const key = await createKey(serviceHome);
    const home = homeWith({ ...file, ".idvrc.json": '{"baseUrl":"https://a.net"}' });
    const option = source === "--base-url" ? [source, service.url] : [];
    const { stderr } = await withKey(home, key, ["emails", "list.csv", ...option]);
    expect(stderr).toContain(
      `idv: api engine at ${service.url} (URL of ${source}; a key is configured: IDV_API_KEY)\n`,
    );
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
    expect(outcome.stderr).toContain(`api engine at ${service.url} (URL of ${join(home, "project/.idvrc.json")};`);
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
    expect(run.stderr).toContain(`idv: api engine at ${service.url} (a key is configured: idv login)\n`);
    // The key is not sent to another service.
    const elsewhere = await idv(["emails", "list.csv", "--set", "engine=api", "--base-url", "https://a.net"], { home });
    const reason = expect.stringContaining(`the key of idv login is for ${service.url}`);
    expect(elsewhere).toMatchObject({ code: 3, stderr: reason });
    const doctor = await idv(["doctor", "--online"], { home });
    expect(doctor.code).toBe(0);
    for (const line of [
      ...["timeout\t30s\tdefault\n", "cacheTtl\t30d\tdefault\n", `key\tsk_****${key.slice(-4)}\tidv login\n`],
      `service\t${service.url}: answers 200\nno fault found\n`,
    ]) {
      expect(doctor.stdout).toContain(line);
    }
    expect(doctor.stdout + run.stderr).not.toContain(key);
    chmodSync(path, 0o644);
    const fault = expect.stringContaining(`FAULT\t${path}: others may read it; run chmod 600\n`);
    expect(await idv(["doctor"], { home })).toMatchObject({ code: 2, stdout: fault });
    for (const stderr of [`idv: removed ${path}\n`, "idv: there was no key to remove\n"]) {
      expect(await idv(["logout"], { home })).toMatchObject({ code: 0, stderr });
    }
    expect(existsSync(path)).toBe(false);
    expect((await idv(["doctor", "--online", "--set", "engine=api"], { home })).code).toBe(3);
  });

  test("login asks the service once, and stores no key that it refuses", async () => {
    const home = homeWith({});
    const path = join(home, ".config/idv/credentials.json");
    const login = (url: string, ...more: string[]) =>
      idv(["login", "--base-url", url, ...more], { home, stdin: "sk_wrong\n" });
    const page = await scriptedServer(respond(200, { "content-type": "text/html" }, "<html>Welcome</html>"));
    for (const [url, code, message] of [
      [service.url, 3, /answers 401.*; the key is not stored\n$/],
      [page.url, 5, /is the base URL right\?/],
      ["http://127.0.0.1:1", 5, /^idv: /],
      ["http://10.0.0.1", 2, /the key would be sent unencrypted/],
    ] as const) {
      expect(await login(url)).toMatchObject({ code, stderr: expect.stringMatching(message) });
      expect(existsSync(path)).toBe(false);
    }
    expect((await login("http://127.0.0.1:1", "--no-verify")).code).toBe(0);
    expect(existsSync(path)).toBe(true);
  });

  test("doctor names what a run would use, and does not promise what it has not asked", async () => {
    const home = homeWith({ "own.txt": "larch-and-oak.com\n", "bad.txt": "no domain\n" });
    const env = { IDV_API_KEY: "sk_1", IDV_BASE_URL: "http://127.0.0.1:1", IDV_ALLOW: join(home, "own.txt") };
    const { code, stdout } = await idv(["doctor"], { home, env: { ...env, HTTP_PROXY: "http://u:hidden@[::1]:1" } });
    expect(code, stdout).toBe(0);
    for (const line of [
      ...[/^idv\t[\d.]+\tNode\.js /, /proxy\tHTTP_PROXY\tenvironment\n/, /own lists\t1 allowed, 0 denied\t/],
      ...[/^data\t[\d,]+ entries, newest list \d+ days? old\t/m, /no fault found; --online also asks the service\n/],
    ]) {
      expect(stdout).toMatch(line);
    }
    expect(stdout).not.toMatch(/no fault found\n|hidden/);
    const { facts, exitCode } = JSON.parse((await idv(["doctor", "--json"], { home, env })).stdout);
    expect(exitCode).toBe(0);
    expect(facts).toContainEqual({ what: "engine", value: "auto", source: "default" });
    const broken = await idv(["doctor"], { home, env: { IDV_DENY: join(home, "bad.txt") } });
    const fault = expect.stringContaining("bad.txt:1: neither a domain nor an address");
    expect(broken).toMatchObject({ code: 2, stdout: fault });
  });

  test("answers to a sandbox key are made up: the run says so and does not cache them", async () => {
    const created = await idv(["keys", "create", "--name", "tests", "--sandbox"], { home: serviceHome });
    expect(created.stderr).toContain("it is a sandbox key: its answers are made up, and nothing is charged\n");
    const home = homeWith(file);
    const env = { IDV_API_KEY: created.stdout.trim(), IDV_BASE_URL: service.url };
    const stderr = expect.stringContaining("idv: a sandbox key: its answers are made up, so they are not cached\n");
    for (const quiet of [[], ["-q"]])
      expect(await idv(["emails", "list.csv", ...quiet], { home, env })).toMatchObject({ code: 0, stderr });
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
    const { url } = await scriptedServer(respond(401, {}, "{}"));
    const outcome = await idv(["doctor", "--online"], { env: { IDV_API_KEY: "sk_1", IDV_BASE_URL: url } });
    const fault = expect.stringContaining(`FAULT\t${url}: answers 401; replace the key in IDV_API_KEY\n`);
    expect(outcome).toMatchObject({ code: 3, stdout: fault });
  });
});
