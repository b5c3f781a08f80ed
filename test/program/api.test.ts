/** Covers runs with the api engine, against idv serve and scripted servers. */
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { finished, idv, startIdv } from "../support/run-idv.js";
import {
  type Act,
  listen,
  resetBeforeHeaders,
  respond,
  resultsOf,
  scriptedServer,
} from "../support/scripted-server.js";
import { createKey, lastKey, type Service, serve } from "../support/service.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const serviceHome = temporaryFolder();
let service: Service;
beforeAll(async () => {
  service = await serve(serviceHome, "-q");
});

/** Writes a list of distinct addresses to a home and returns the home. */
function listOf(count: number, home = temporaryFolder()): string {
  const lines = Array.from({ length: count }, (_, i) => `ann${i}@larch-and-oak.com`);
  writeFileSync(join(home, "list.csv"), `email\n${lines.join("\n")}\n`);
  return home;
}

/** Runs idv with a key for the service. */
async function withKey(home: string, key: string, args: readonly string[], env: Record<string, string> = {}) {
  const settings = { home, env: { IDV_API_KEY: key, IDV_BASE_URL: service.url, ...env } };
  const outcome = await idv(args, settings);
  // The key is never printed.
  expect(outcome.stdout + outcome.stderr).not.toContain(key.slice(3));
  return outcome;
}

const statuses = (table: string) => {
  const counts: Record<string, number> = {};
  for (const row of table.trimEnd().split("\n").slice(1)) {
    const status = row.slice(row.lastIndexOf(",") + 1);
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
};
const output = (home: string) => readFileSync(join(home, "out.csv"), "utf8");

describe.sequential("the service's quota", () => {
  test("of 600 is used up by 1,000 items; once it is raised, a rerun is charged 400 more", async () => {
    const key = await createKey(serviceHome, "--limit", "600");
    const home = listOf(1000);
    const command = ["emails", "list.csv", "-o", "out.csv"];
    const first = await withKey(home, key, command);
    expect(first.code).toBe(4);
    expect(statuses(output(home))).toEqual({ ok: 600, quota_exceeded: 400 });
    // Every row before this one has a verdict, no row after it.
    expect(output(home).split("\n")[600]).toBe("ann599@larch-and-oak.com,ok");
    expect(first.stderr).toContain("idv: quota exhausted: 400 rows wait for it");
    const { id, used } = await lastKey(serviceHome);
    expect(used).toBe(600);
    await idv(["keys", "set", id, "--limit", "5000"], { home: serviceHome });
    const second = await withKey(home, key, command);
    expect(second.code).toBe(0);
    expect(statuses(output(home))).toEqual({ ok: 1000 });
    expect(second.stderr).toContain("600 of 1,000 from the cache, 400 units used in 4 requests");
    expect((await lastKey(serviceHome)).used).toBe(1000);
    const third = await withKey(home, key, command);
    expect(third.stderr).toContain("1,000 of 1,000 from the cache, 0 units used in 0 requests");
    expect((await lastKey(serviceHome)).used).toBe(1000);
  });

  test("of 250 ends inside the third batch and nowhere else with concurrency 8", async () => {
    const key = await createKey(serviceHome, "--limit", "250");
    const home = listOf(1000);
    const { code, stdout } = await withKey(home, key, ["emails", "list.csv", "-q", "--concurrency", "8"]);
    expect(code).toBe(4);
    const rows = stdout.trimEnd().split("\n").slice(1);
    expect(rows.map((row) => row.split(",")[1])).toEqual([
      ...Array(250).fill("ok"),
      ...Array(750).fill("quota_exceeded"),
    ]);
    expect((await lastKey(serviceHome)).used).toBe(250);
  });

  test.each([0, 2, 4])("ends with a 429 after %i of 5 batches", async (place) => {
    const gone = respond(429, {}, '{"message":"No validations are left."}');
    const server = await scriptedServer(...Array<Act>(place).fill(respond()), gone);
    const env = { IDV_API_KEY: "sk_1", IDV_BASE_URL: server.url };
    const args = ["emails", "list.csv", "-q", "--concurrency", "1"];
    const { code, stdout } = await idv(args, { home: listOf(500), env });
    expect(code).toBe(4);
    const expected = { ...(place > 0 && { ok: 100 * place }), quota_exceeded: 500 - 100 * place };
    expect(statuses(stdout)).toEqual(expected);
    expect(server.seen).toHaveLength(place + 1);
  });

  test("is charged again with --no-cache and --refresh", async () => {
    const key = await createKey(serviceHome, "--limit", "1000");
    const home = listOf(30);
    await withKey(home, key, ["emails", "list.csv", "-q"]);
    await withKey(home, key, ["emails", "list.csv", "-q", "--no-cache"]);
    expect((await lastKey(serviceHome)).used).toBe(60);
    await withKey(home, key, ["emails", "list.csv", "-q", "--refresh"]);
    await withKey(home, key, ["emails", "list.csv", "-q", "--cache-ttl", "0"]);
    expect((await lastKey(serviceHome)).used).toBe(120);
  });

  test("is not charged by --dry-run, which sends and writes nothing", async () => {
    const key = await createKey(serviceHome, "--limit", "1000");
    const home = listOf(250);
    const { code, stdout, stderr } = await withKey(home, key, [
      "emails",
      "list.csv",
      "-o",
      "out.csv",
      "--dry-run",
    ]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toContain(
      "list.csv: 250 rows, 250 distinct items; 0 in the cache, 0 fake by syntax; 250 units would be charged, in 3 requests",
    );
    expect(existsSync(join(home, "out.csv"))).toBe(false);
    expect((await lastKey(serviceHome)).used).toBe(0);
    const json = await withKey(home, key, ["emails", "-q", "--dry-run", "--summary", "json", "--offline"]);
    expect(JSON.parse(json.stderr)).toMatchObject({ dryRun: true, units: 0 });
  });

  test("is not charged for impossible addresses, empty values and duplicates", async () => {
    const key = await createKey(serviceHome, "--limit", "1000");
    const stdin = "email\nann\nAnn@larch-and-oak.com\n\nann@larch-and-oak.com\na b@c.net\nx@mailinator.com\n";
    const home = temporaryFolder();
    const settings = { home, stdin, env: { IDV_API_KEY: key, IDV_BASE_URL: service.url } };
    const { stdout, stderr } = await idv(["emails", "--explain"], settings);
    expect(stdout).toBe(
      "email,status,reason,suggestion\nann,fake,syntax: no @ at 3,\nAnn@larch-and-oak.com,ok,,\n,,,\nann@larch-and-oak.com,ok,,\n" +
        "a b@c.net,fake,syntax: a space in the local part at 2,\nx@mailinator.com,disposable,,\n",
    );
    expect(stderr).toContain("2 fake by syntax, 2 units used in 1 request");
    expect((await lastKey(serviceHome)).used).toBe(2);
    await idv(["emails", "--no-precheck", "--no-cache"], settings);
    expect((await lastKey(serviceHome)).used).toBe(6);
  });

  test("is waited for with --wait, which says for how long and ends on a signal", async () => {
    const server = await scriptedServer(
      respond(),
      respond(429, { ratelimit: '"validations";r=0;t=1', "retry-after": "61" }, "{}"),
      respond(),
    );
    // Waiting a whole minute would be slow: check only that the run waits and that a signal ends it.
    const home = listOf(150);
    const child = startIdv(["emails", "list.csv", "-o", "out.csv", "--wait", "2h"], {
      home,
      env: { IDV_API_KEY: "sk_1", IDV_BASE_URL: server.url },
    });
    const outcome = finished(child);
    let said = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
    await expect
      .poll(() => said, { timeout: 10_000 })
      .toContain("the quota is exhausted; asking again in 62 s");
    child.kill("SIGINT");
    const { code, stderr } = await outcome;
    expect(code).toBe(130);
    expect(stderr).toContain(
      "idv: stopped by SIGINT; out.csv was not written; 100 new verdicts are in the cache; to resume, run: idv emails list.csv -o out.csv --wait 2h\n",
    );
    expect(existsSync(join(home, "out.csv"))).toBe(false);
  });
});

describe("failures during a run", () => {
  test("the service goes away: exit 5, the old output stays and charged verdicts are cached", async () => {
    const gone: Act = resetBeforeHeaders;
    const server = await scriptedServer(respond(), respond(), respond(), gone);
    const home = listOf(500);
    writeFileSync(join(home, "out.csv"), "as it was\n");
    const env = { IDV_API_KEY: "sk_1", IDV_BASE_URL: server.url };
    const args = ["emails", "list.csv", "-o", "out.csv", "--concurrency", "1", "--max-retries", "1"];
    const { code, stdout, stderr } = await idv(args, { home, env });
    expect({ code, stdout, output: output(home) }).toEqual({ code: 5, stdout: "", output: "as it was\n" });
    expect(stderr).toContain(
      `idv: ${server.url}: the connection was closed, 2 times; 300 new verdicts are in the cache; to resume, run: idv ${args.join(" ")}\n`,
    );
    const healthy = await scriptedServer(respond());
    // Cached verdicts count only for the service that was charged.
    const elsewhere = await idv(args, { home, env: { ...env, IDV_BASE_URL: healthy.url } });
    expect(elsewhere.code).toBe(0);
    expect(healthy.seen).toHaveLength(5);
  });

  test("standard output gets only whole rows", async () => {
    const server = await scriptedServer(respond(), respond(404, {}, "{}"));
    const env = { IDV_API_KEY: "sk_1", IDV_BASE_URL: server.url };
    const { code, stdout } = await idv(["emails", "list.csv", "-q"], { home: listOf(200_00), env });
    expect(code).toBe(5);
    expect(stdout === "" || stdout.endsWith("\n")).toBe(true);
  });

  test("kill -9, twenty times: every item is charged once", async () => {
    const key = await createKey(serviceHome, "--limit", "100000");
    const home = listOf(20_000);
    const args = ["emails", "list.csv", "-q", "-o", "out.csv"];
    const env = { IDV_API_KEY: key, IDV_BASE_URL: service.url };
    for (let i = 0; i < 20; i++) {
      const child = startIdv(args, { home, env });
      const exited = once(child, "exit");
      await new Promise((resolve) => setTimeout(resolve, 150 + 350 * Math.random()));
      child.kill("SIGKILL");
      await exited;
    }
    const { code, stderr } = await idv(args, { home, env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect((await lastKey(serviceHome)).used).toBe(20_000);
    const undisturbed = listOf(20_000);
    await idv(args, { home: undisturbed, env: { ...env, IDV_API_KEY: await createKey(serviceHome) } });
    expect(output(home)).toBe(output(undisturbed));
  }, 120_000);

  test("kill -9 with a slow service of 20 items a request: every item is charged once", async () => {
    const small = await serve(serviceHome, "-q", "--max-items", "20");
    const key = await createKey(serviceHome, "--limit", "100000");
    // Answers are delayed, so that the run is killed after a charge and before the answer.
    const line = createServer((request, response) => {
      const settings = { method: "POST", headers: request.headers };
      const onward = httpRequest(`${small.url}${request.url}`, settings, (answer) => {
        setTimeout(
          () => {
            response.writeHead(answer.statusCode ?? 500, answer.headers);
            answer.pipe(response);
          },
          10 + 60 * Math.random(),
        );
      });
      request.pipe(onward);
    });
    const slowUrl = await listen(line);
    const home = listOf(4000);
    const env = {
      IDV_API_KEY: key,
      IDV_BASE_URL: slowUrl,
    };
    const args = ["emails", "list.csv", "-q", "-o", "out.csv", "--concurrency", "8"];
    for (let i = 0; i < 10; i++) {
      const child = startIdv(args, { home, env });
      const exited = once(child, "exit");
      await new Promise((resolve) => setTimeout(resolve, 450 + 350 * Math.random()));
      child.kill("SIGKILL");
      await exited;
    }
    expect(await idv(args, { home, env })).toEqual({ code: 0, stdout: "", stderr: "" });
    expect((await lastKey(serviceHome)).used).toBe(4000);
  }, 60_000);

  test.each([
    ["a smaller --batch-size", ["--batch-size", "20"]],
    ["a --rate", ["--rate", "90/s"]],
  ])("kill -9 before the answer, then a rerun with %s: every item is charged once", async (_, more) => {
    const key = await createKey(serviceHome, "--limit", "1000");
    // The first batch is charged, and its answer is withheld.
    let isSilent = true;
    let charged = 0;
    const line = createServer((request, response) => {
      const settings = { method: "POST", headers: request.headers };
      const onward = httpRequest(`${service.url}${request.url}`, settings, (answer) => {
        charged++;
        if (isSilent) return;
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      request.pipe(onward);
    });
    const env = { IDV_API_KEY: key, IDV_BASE_URL: await listen(line) };
    const home = listOf(250);
    const child = startIdv(["emails", "list.csv", "-q", "-o", "out.csv"], { home, env });
    await expect.poll(() => charged, { timeout: 10_000 }).toBe(1);
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
    isSilent = false;
    const again = await idv(["emails", "list.csv", "-q", "-o", "out.csv", ...more], { home, env });
    expect(again).toEqual({ code: 0, stdout: "", stderr: "" });
    expect((await lastKey(serviceHome)).used).toBe(250);
  });

  /** Starts a proxy of the service that breaks in four ways, each for every ninth request, and forwards the others. */
  async function breakingLine(passesIdempotencyKeys: boolean) {
    let count = 0;
    const broken = { afterCharge: 0 };
    const server = createServer((request, response): unknown => {
      const fault = count++ % 9;
      if (fault === 1) return request.socket.destroy();
      if (fault === 2) return response.writeHead(503, { "retry-after": "0" }).end();
      const headers = { ...request.headers };
      if (!passesIdempotencyKeys) delete headers["idempotency-key"];
      const onward = httpRequest(`${service.url}${request.url}`, { method: "POST", headers }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("end", (): unknown => {
          const body = Buffer.concat(chunks);
          if (fault === 3 || fault === 4) broken.afterCharge++;
          if (fault === 3) return request.socket.destroy();
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          if (fault !== 4) return response.end(body);
          return response.write(body.subarray(0, 100), () => request.socket.destroy());
        });
      });
      return request.pipe(onward);
    });
    return { url: await listen(server), broken };
  }

  test.each([
    ["every item is charged once", true],
    ["without Idempotency-Keys, only cut-off batches cost more", false],
  ])(
    "broken connections at every stage: %s",
    async (_, passesIdempotencyKeys) => {
      const key = await createKey(serviceHome, "--limit", "100000");
      const home = listOf(2000);
      const { url, broken } = await breakingLine(passesIdempotencyKeys);
      const env = { IDV_API_KEY: key, IDV_BASE_URL: url };
      const args = ["emails", "list.csv", "-q", "-o", "out.csv", "--concurrency", "8", "--max-retries", "20"];
      expect(await idv(args, { home, env })).toEqual({ code: 0, stdout: "", stderr: "" });
      expect(statuses(output(home))).toEqual({ ok: 2000 });
      expect(broken.afterCharge).toBeGreaterThan(3);
      const { used } = await lastKey(serviceHome);
      expect(used).toBe(2000 + (passesIdempotencyKeys ? 0 : 100 * broken.afterCharge));
    },
    60_000,
  );

  test.each<[string, Act, number, string]>([
    [
      "a rejected key is reported",
      respond(401, {}, '{"message":"Unauthorized."}'),
      3,
      "does not accept the key (401: Unauthorized.)",
    ],
    [
      "a key without permission is reported",
      respond(403, {}, "{}"),
      3,
      "does not authorise the key for this (403)",
    ],
    ["an invalid answer is reported", respond(200, {}, "<html>"), 5, "invalid answer: it is not JSON"],
    [
      "control characters in an error are escaped",
      respond(400, {}, '{"message":"\\u001b[2J"}'),
      5,
      "answers 400: \\u{1b}[2J",
    ],
  ])("%s", async (_, act, expected, message) => {
    const server = await scriptedServer(act);
    const env = { IDV_API_KEY: "sk_1", IDV_BASE_URL: server.url };
    const { code, stdout, stderr } = await idv(["emails", "list.csv", "-q"], { home: listOf(3), env });
    expect({ code, stdout }).toEqual({ code: expected, stdout: "email,status\n" });
    expect(stderr).toContain(`idv: ${server.url}: ${message}`);
  });

  test("an unknown status is written and counted", async () => {
    const spam: Act = respond(200, {}, (items) =>
      JSON.stringify({
        emails: Object.fromEntries(items.map((item) => [item.toUpperCase(), { status: "spam" }])),
      }),
    );
    const env = { IDV_API_KEY: "sk_1", IDV_BASE_URL: (await scriptedServer(spam)).url };
    const { code, stdout, stderr } = await idv(["emails", "list.csv"], { home: listOf(2), env });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: "email,status\nann0@larch-and-oak.com,spam\nann1@larch-and-oak.com,spam\n",
    });
    expect(stderr).toMatch(/spam +2\n/);
  });
});

describe("engine and key", () => {
  const file = { "list.csv": "email\nann@larch-and-oak.com\n" };
  const homeWith = (files: Record<string, string>) => {
    const home = temporaryFolder();
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(home, name, ".."), { recursive: true });
      writeFileSync(join(home, name), text, { mode: 0o600 });
    }
    return home;
  };
  test.each<[string, string[], Record<string, string>, number, string]>([
    ["no key", [], {}, 0, "offline engine (no key is configured)"],
    ["an empty key", [], { IDV_API_KEY: "", IDV_ENGINE: "" }, 0, "offline engine (no key is configured)"],
    ["--offline with a key", ["--offline"], { IDV_API_KEY: "sk_1" }, 0, "offline engine (--offline)"],
    ["IDV_ENGINE", [], { IDV_API_KEY: "sk_1", IDV_ENGINE: "offline" }, 0, "offline engine (IDV_ENGINE)"],
    [
      "--engine api without a key",
      ["--engine", "api"],
      {},
      3,
      "idv: no key is configured: idv login keeps one, or set IDV_API_KEY, or use --offline\n",
    ],
    [
      "a key without a base URL",
      [],
      { IDV_API_KEY: "sk_1" },
      2,
      "idv: no base URL: a key is configured (IDV_API_KEY), so name its service with --base-url or IDV_BASE_URL, or use --offline\n",
    ],
    [
      "plain http to another host",
      ["--base-url", "http://192.0.2.1"],
      { IDV_API_KEY: "sk_1" },
      2,
      "idv: http://192.0.2.1 (--base-url): the key would be sent unencrypted; use https, or --allow-insecure-http\n",
    ],
    [
      "an invalid base URL",
      [],
      { IDV_API_KEY: "sk_1", IDV_BASE_URL: "ftp://x" },
      2,
      "idv: IDV_BASE_URL: it is invalid. It takes a URL such as https://example.com/v1.\n",
    ],
    [
      "a key of two words",
      [],
      { IDV_API_KEY: "sk_1 sk_2", IDV_BASE_URL: "https://x.net" },
      3,
      "idv: IDV_API_KEY: holds no key; a key is one word of ASCII characters\n",
    ],
    [
      "a command that fails",
      [],
      { IDV_API_KEY_COMMAND: "exit 7", IDV_BASE_URL: "https://x.net" },
      3,
      "idv: IDV_API_KEY_COMMAND: the command failed: exit code 7\n",
    ],
    [
      "a command that prints nothing",
      [],
      { IDV_API_KEY_COMMAND: "true", IDV_BASE_URL: "https://x.net" },
      3,
      "idv: IDV_API_KEY_COMMAND: holds no key; a key is one word of ASCII characters\n",
    ],
    [
      "a missing key file",
      ["--api-key-file", "none"],
      {},
      2,
      "idv: none: the key cannot be read: no such file\n",
    ],
    [
      "an option of the other engine",
      ["--quota-file", "q"],
      { IDV_API_KEY: "sk_1", IDV_BASE_URL: "https://x.net" },
      2,
      "idv: --quota-file is for the offline engine; add --offline\n",
    ],
  ])("are explained for %s", async (_, args, env, code, message) => {
    const outcome = await idv(["emails", "list.csv", ...args], { home: homeWith(file), env });
    expect(outcome.stderr).toContain(message);
    expect(outcome.code).toBe(code);
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
    expect(stderr).toContain(
      `idv: api engine at ${service.url} (${source}; a key is configured: IDV_API_KEY)\n`,
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
    expect(outcome.stderr).toContain(`api engine at ${service.url} (${join(home, "project/.idvrc.json")};`);
    expect(outcome.stderr).toContain("14 units used in 2 requests");
  });

  test.each([
    ["{", ".idvrc.json: not JSON"],
    ["[]", "not a JSON object"],
    ['{"apiKey":"sk_1"}', "a key does not belong here; idv login keeps it in a file of its own"],
    ['{"colour":1}', '"colour" is an unknown setting; known settings: engine, baseUrl, batchSize'],
  ])("a project's file is rejected: %s", async (text, message) => {
    const home = homeWith({ ...file, ".idvrc.json": text });
    const { code, stderr } = await idv(["emails", "list.csv"], { home });
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test("login stores a key for one service, doctor masks it and logout deletes it", async () => {
    const key = await createKey(serviceHome);
    const home = homeWith(file);
    const login = await idv(["login", "--base-url", `${service.url}/`], { home, stdin: `${key}\n` });
    const path = join(home, ".config/idv/credentials.json");
    expect(login).toEqual({
      code: 0,
      stdout: "",
      stderr: `idv: the key for ${service.url} is kept in ${path}\n`,
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const run = await idv(["emails", "list.csv"], { home });
    expect(run.stderr).toContain(
      `idv: api engine at ${service.url} (idv login; a key is configured: idv login)\n`,
    );
    // The key is not sent to another service.
    const elsewhere = await idv(["emails", "list.csv", "--engine", "api", "--base-url", "https://a.net"], {
      home,
    });
    expect(elsewhere).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(`the key of idv login is for ${service.url}`),
    });
    const doctor = await idv(["doctor", "--online"], { home });
    expect(doctor.code).toBe(0);
    expect(doctor.stdout).toContain("timeout\t30s\tdefault\n");
    expect(doctor.stdout).toContain("cacheTtl\t30d\tdefault\n");
    expect(doctor.stdout).toContain(`key\tsk_****${key.slice(-4)}\tidv login\n`);
    expect(doctor.stdout).toContain(`service\t${service.url}: answers 200\t\nall is well\n`);
    expect(doctor.stdout + run.stderr).not.toContain(key);
    chmodSync(path, 0o644);
    expect(await idv(["doctor"], { home })).toMatchObject({
      code: 2,
      stdout: expect.stringContaining(`FAULT\t${path}: others may read it; run chmod 600\n`),
    });
    await idv(["logout"], { home });
    expect(existsSync(path)).toBe(false);
    expect((await idv(["doctor", "--online", "--engine", "api"], { home })).code).toBe(3);
  });

  test("the key is read from a file and from a command", async () => {
    const key = await createKey(serviceHome);
    const home = homeWith({ ...file, key: `${key}\n` });
    const env = { IDV_BASE_URL: service.url };
    const fromFile = await idv(["emails", "list.csv", "--api-key-file", "key"], { home, env });
    expect(fromFile.stderr).toContain("a key is configured: key)");
    const fromCommand = await idv(["emails", "list.csv"], {
      home,
      env: { ...env, IDV_API_KEY_COMMAND: "cat key" },
    });
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
  const { stdout } = await idv(["cache", "stats", "--json"], { home });
  expect(JSON.parse(stdout)).toMatchObject({
    file: path,
    scopes: [{ kind: "email", baseUrl: service.url, items: 20 }],
  });
  expect((await idv(["cache", "prune"], { home })).stderr).toBe("idv: removed 0 verdicts\n");
  expect((await idv(["cache", "prune", "--older-than", "0"], { home })).stderr).toBe(
    "idv: removed 20 verdicts\n",
  );
  await withKey(home, key, ["emails", "list.csv", "-q"]);
  expect((await idv(["cache", "clear"], { home })).stderr).toBe("idv: removed 20 verdicts\n");
  expect(existsSync(join(home, ".config/idv/cache-secret"))).toBe(false);
  expect((await idv(["cache", "stats"], { home: temporaryFolder() })).stdout).toContain("verdicts.db");
});

test("requests go through a proxy and are logged with --debug", async () => {
  const key = await createKey(serviceHome);
  const carried: string[] = [];
  const proxy = createServer((request, response) => {
    carried.push(request.url ?? "");
    const onward = httpRequest(request.url ?? "", { method: "POST", headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  proxy.on("connect", (request, socket) => {
    carried.push(request.url ?? "");
    const [host, port] = (request.url ?? "").split(":");
    const onward = connect(Number(port), host!, () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    socket.on("error", () => onward.destroy());
    onward.on("error", () => socket.destroy());
  });
  const env = { HTTP_PROXY: await listen(proxy) };
  const through = await withKey(listOf(5), key, ["emails", "list.csv", "--debug"], env);
  expect(through.code).toBe(0);
  expect(through.stderr).toMatch(/idv: debug: POST \/emails\/validate, 5 items, try 1: 200 in \d+ ms\n/);
  expect(through.stderr).not.toContain("larch");
  expect(carried).toHaveLength(1);
  const past = await withKey(listOf(5), key, ["emails", "list.csv"], { ...env, NO_PROXY: "127.0.0.1" });
  expect(past.code).toBe(0);
  // An unencrypted key for this machine does not go through a proxy on another one.
  const kept = await withKey(listOf(5), key, ["emails", "list.csv"], { HTTP_PROXY: "http://192.0.2.1:3128" });
  expect(kept.code).toBe(0);
  expect(carried).toHaveLength(1);
});

test("https accepts a certificate named by NODE_EXTRA_CA_CERTS and rejects an untrusted one", async () => {
  const pem = fileURLToPath(new URL("../support/localhost.pem", import.meta.url));
  const server = createTlsServer({ key: readFileSync(pem), cert: readFileSync(pem) }, (request, response) => {
    request.resume().on("end", () => response.end(resultsOf(["ann0@larch-and-oak.com"])));
  });
  const url = (await listen(server)).replace("http://127.0.0.1", "https://localhost");
  const env = { IDV_API_KEY: "sk_1", IDV_BASE_URL: url };
  const trusted = await idv(["emails", "list.csv"], {
    home: listOf(1),
    env: { ...env, NODE_EXTRA_CA_CERTS: pem },
  });
  expect(trusted).toMatchObject({ code: 0, stdout: "email,status\nann0@larch-and-oak.com,ok\n" });
  const { code, stderr } = await idv(["emails", "list.csv", "--max-retries", "9"], { home: listOf(1), env });
  expect(code).toBe(5);
  expect(stderr).toContain(
    "its certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT); set NODE_EXTRA_CA_CERTS to",
  );
});

test("rows that trickle in are written without waiting for a full batch", async () => {
  const key = await createKey(serviceHome);
  const child = startIdv(["emails", "-q"], {
    env: { IDV_API_KEY: key, IDV_BASE_URL: service.url },
  });
  let answered = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    answered += chunk.toString();
  });
  child.stdin?.write(`email\n${"ann@larch-and-oak.com\n".repeat(4000)}`);
  await expect.poll(() => answered.length, { timeout: 10_000 }).toBeGreaterThan(50_000);
  child.stdin?.end("x@mailinator.com\n");
  await once(child, "close");
  expect(answered.endsWith("x@mailinator.com,disposable\n")).toBe(true);
});
