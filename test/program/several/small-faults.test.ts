/** Covers faults from outside the program: no home, no build, no file descriptors, no disk space, no units. */
import { spawn } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { listOf, useService } from "../../support/api-runs.js";
import { addressOf, asSomebody, endedBy, startInShell, talk } from "../../support/processes.js";
import { finished, idv, linkSqlite, program, spawnProgram, startIdv } from "../../support/run-idv.js";
import { createKey, lastKey, post, request } from "../../support/service.js";
import { folderOf, temporaryFolder } from "../../support/temporary-folder.js";
import { some, testFull } from "../../support/tier.js";

const { serviceHome, service } = useService();

test.skipIf(process.getuid?.() !== 0)("a user without HOME and a passwd entry can check values", async () => {
  const run = (...args: string[]) => finished(spawnProgram(args, { env: {}, uid: 54_321 }));
  const stdout = expect.stringContaining("typo-domain: gmial.com");
  expect(await run("check", "ann@gmial.com")).toEqual({ code: 0, stdout, stderr: "" });
  const stderr = expect.stringMatching(/^idv: \/dev\/null\/\S+: .* its folder is a file; .*\n$/);
  expect(await run("quota", "set", "--limit", "5")).toMatchObject({ code: 6, stderr });
});

// A binary has all its parts.
describe.skipIf(!program.endsWith(".js"))("a fault before the program runs exits with 70, not 1", () => {
  test("without the build", async () => {
    const folder = folderOf({ "package.json": '{"type":"module"}' });
    cpSync(dirname(program), join(folder, "bin"), { recursive: true });
    const outcome = await finished(spawn(process.execPath, [join(folder, "bin", "idv.js"), "--version"]));
    const stderr = "idv: cannot be started: a part of it is missing; run npm ci in its folder\n";
    expect(outcome).toEqual({ code: 70, stdout: "", stderr });
  });

  const parts = [
    ["kernel/kernel.wasm", "emails"],
    ["classifier/disposable.bin", "check ann@b.net"],
    ["classifier/suffixes.bin", "check ann@b.net"],
    ["help/topics.json", "help tables"],
  ] as const;
  test.each(some(parts, 2))("without dist/%s", async (part, words) => {
    const [folder, home] = [temporaryFolder(), temporaryFolder()];
    const root = dirname(dirname(program));
    for (const name of ["bin", "dist", "package.json"]) {
      cpSync(join(root, name), join(folder, name), { recursive: true });
    }
    linkSqlite(folder);
    rmSync(join(folder, "dist", part), { recursive: true });
    const own = [join(folder, "bin", "idv.js"), ...words.split(" ")];
    const child = spawn(process.execPath, own, { env: { HOME: home } });
    child.stdin.end("ann@larch-and-oak.com\n");
    const stderr = expect.stringMatching(/^idv: a part of idv is missing: \S+; install idv again$/m);
    expect(await finished(child)).toEqual({ code: 70, stdout: "", stderr });
  });

  test.each(some([24, 28, 32], 1))("with only %i file descriptors", async (descriptors) => {
    const child = startInShell(`ulimit -n ${descriptors}; exec "$@"`, ["check", "a@b.net"], temporaryFolder());
    // With a few more descriptors, the program may work.
    expect([0, 6, 70]).toContain((await finished(child)).code);
  });
});

test("concurrent runs with one cache are charged once for an item, whatever their batch sizes", async () => {
  const env = { IDV_API_KEY: await createKey(serviceHome), IDV_BASE_URL: service.url };
  const settings = { home: listOf(3000), env };
  const run = (size: string) =>
    idv(["emails", "-q", "list.csv", "--set", `batchSize=${size}`, "-o", `out${size}.csv`], settings);
  const outcomes = await Promise.all(some(["10", "70", "333"], 2).map(run));
  for (const outcome of outcomes) expect(outcome).toMatchObject({ code: 0, stderr: "" });
  expect((await lastKey(serviceHome)).used).toBe(3000);
});

describe("idv serve", () => {
  test("serves others despite a thousand silent connections", async () => {
    const { url } = service;
    const { hostname, port } = new URL(url);
    const sockets = Array.from({ length: 1100 }, () => connect(Number(port), hostname).on("error", () => {}));
    await Promise.all(
      sockets.map((socket) => new Promise((resolve) => socket.once("connect", resolve).once("close", resolve))),
    );
    expect((await request(`${url}/healthz`)).status).toBe(200);
    expect((await request(`${url}/metrics`)).text).toMatch(/^idv_connections_dropped_total 10\d$/m);
    for (const socket of sockets) socket.destroy();
  });

  test("rejects a key without units before it reads the body", async () => {
    const key = await createKey(serviceHome, { limit: 0 });
    const head =
      `POST /domains/validate HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
      "Content-Type: application/json\r\nContent-Length: 9000000\r\n\r\n";
    const answer = await talk(service.url, head, (socket) => socket.once("data", () => socket.destroySoon()));
    expect(answer).toMatch(/^HTTP\/1.1 429 /);
  });

  test("neither charges nor stores an empty list with an Idempotency-Key", async () => {
    const key = await createKey(serviceHome);
    const headers = { "idempotency-key": "k" };
    // Nothing was stored for the first, so the key can be used with another body.
    for (const [domains, status] of [
      [[], 200],
      [["a.com"], 200],
      [[], 422],
    ] as const) {
      expect((await post(`${service.url}/domains/validate`, key, { domains }, headers)).status).toBe(status);
    }
  });

  testFull("answers requests and ends although its log is not read", async () => {
    const child = startIdv(["serve", "--port", "0"]);
    child.stdout?.pause();
    const url = await addressOf(child);
    let lost = 0;
    for (let round = 0; round < 300 && lost === 0; round++) {
      await Promise.all(Array.from({ length: 100 }, () => fetch(`${url}/healthz`).then((r) => r.text())));
      const { text } = await request(`${url}/metrics`);
      lost = Number(/^idv_log_lines_lost_total (\d+)$/m.exec(text)?.[1]);
    }
    expect(lost).toBeGreaterThan(0);
    expect(await endedBy(child, "SIGTERM")).toEqual([0, null]);
  });

  test.each([
    ["Host", "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
    ["Expect", "GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: banana\r\n\r\n", 417],
  ])("answers a faulty %s in JSON", async (_, request, status) => {
    const answer = await talk(service.url, request);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(/\{.*\}/.exec(answer)![0])).toEqual({ code: expect.any(String), message: expect.any(String) });
  });

  test("--check says whether it could run", async () => {
    const home = temporaryFolder();
    const check = ["serve", "--check", "--port", "0", "--state", "s.db"];
    const stderr = "idv: the service can run: state, data and address are fine";
    expect(await idv(check, { home })).toEqual({ code: 0, stdout: "", stderr: `${stderr}; the state s.db is new\n` });
    expect(await idv(check, { home })).toEqual({ code: 0, stdout: "", stderr: `${stderr}\n` });
    const taken = await idv(["serve", "--check", "--port", new URL(service.url).port], { home });
    expect(taken.code, taken.stderr).toBe(2);
  });

  test("answers 503 to /readyz while its state cannot be written to", async () => {
    const home = temporaryFolder();
    const key = await createKey(home);
    const child = startInShell('ulimit -f 400; exec "$@"', ["serve", "--port", "0", "-q"], home);
    const url = await addressOf(child);
    expect((await request(`${url}/readyz`)).status).toBe(200);
    let status = 200;
    for (let i = 0; i < 200 && status === 200; i++) {
      ({ status } = await post(`${url}/domains/validate`, key, { domains: ["a.com"] }, { "idempotency-key": `k${i}` }));
    }
    expect(status).toBe(503);
    await expect.poll(async () => (await request(`${url}/readyz`)).status).toBe(503);
    expect((await request(`${url}/healthz`)).status).toBe(200);
    child.kill("SIGKILL");
  });
});

test("a list for which the disk has no room is refused with 507, and leaves nothing", async () => {
  const home = temporaryFolder();
  const key = await createKey(home);
  // A file that may not grow is like a full disk.
  const child = startInShell('ulimit -f 800; exec "$@"', ["serve", "--port", "0", "-q"], home);
  const url = await addressOf(child);
  const headers = { authorization: `Bearer ${key}`, "content-type": "text/csv" };
  const send = (body: string) => request(`${url}/lists`, { method: "POST", headers, body });
  const refused = await send(`email\n${"a@larch-and-oak.com\n".repeat(100_000)}`);
  expect(refused).toMatchObject({ status: 507, body: { message: "There is no room for the list on the server." } });
  const all = async () => (await request(`${url}/lists`, { headers })).body.lists;
  expect(await all()).toEqual([]);
  expect(readdirSync(join(home, "state/idv/service.db.lists"))).toEqual([]);
  expect((await send("email\na@larch-and-oak.com\n")).status).toBe(202);
  await expect.poll(async () => (await all())[0].state).toBe("done");
  child.kill("SIGKILL");
});

test("direction marks and controls in a file name are printed visibly", async () => {
  const { stderr } = await idv(["emails", "\u202evsc.\u001b[2Jtsil"]);
  expect(stderr).toBe("idv: \\u{202e}vsc.\\u{1b}[2Jtsil: cannot be read: no such file\n");
});

test("-I rejects a named pipe without waiting for a writer", async () => {
  const home = temporaryFolder();
  await finished(spawn("mkfifo", [join(home, "fifo")]));
  const stderr = "idv: fifo: not a regular file; cannot be replaced; use -o\n";
  expect(await finished(startIdv(["emails", "-I", "fifo"], { home }))).toMatchObject({ code: 6, stderr });
});

describe("a file that cannot be reached is named in one line", () => {
  test.each([
    ["a loop of links as input", "loop", "loop: cannot be read: its links lead in a circle"],
    ["a loop of links as output", "l.csv -o loop", "loop: cannot be written: its links lead in a circle"],
    ["a loop of links in place", "-I loop", "loop: cannot be read: its links lead in a circle"],
    ["an input in a closed folder", "closed/l.csv", "closed/l.csv: cannot be read: permission denied"],
    ["an output in one", "l.csv -o closed/o.csv", "closed/o.csv: cannot be written: permission denied"],
    ["a folder of outputs in one", "l.csv -o closed/o/", "closed/o"],
    ["a missing folder below a file", "l.csv/x", "l.csv/x: cannot be read: no such file"],
  ])("%s", async (_, line, message) => {
    const home = folderOf({ "l.csv": "email\nann@larch-and-oak.com\n", "closed/l.csv": "email\n" });
    symlinkSync("loop", join(home, "loop"));
    chmodSync(home, 0o777);
    chmodSync(join(home, "closed"), 0);
    const user = line.includes("closed/") ? asSomebody : {};
    const { code, stderr } = await idv(["emails", "-q", ...line.split(" ")], { home, ...user });
    chmodSync(join(home, "closed"), 0o700);
    expect({ code, stderr }).toEqual({ code: 6, stderr: expect.stringMatching(/^idv: .*\n$/) });
    expect(stderr).toContain(`idv: ${message}`);
  });

  test.each([
    ["config.json", "set XDG_CONFIG_HOME to another folder"],
    ["credentials.json", "remove it"],
  ])("the user's %s, which others may not read", async (name, otherwise) => {
    const home = folderOf({ [`.config/idv/${name}`]: "{}" }, 0);
    chmodSync(home, 0o755);
    const path = join(home, ".config/idv", name);
    const stderr = `idv: ${path}: cannot be read: permission denied; make it readable, or ${otherwise}\n`;
    const outcome = await idv(["emails", "-q"], { home, stdin: "email\n", ...asSomebody });
    expect(outcome).toMatchObject({ code: 6, stderr });
  });

  test("the working folder, which was removed", async () => {
    const home = folderOf({ "l.csv": "email\nann@larch-and-oak.com\n" });
    mkdirSync(join(home, "gone"));
    const child = startInShell(`cd gone; rmdir ../gone; idv emails -q '${home}/l.csv'`, [], home);
    const stderr = "idv: the working folder does not exist any more; change to another one\n";
    expect(await finished(child)).toEqual({ code: 6, stdout: "", stderr });
  });
});
