/** Covers faults from outside the program: no home, no build, no file descriptors, no disk space, no units. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { useService } from "../../support/api-runs.js";
import {
  command,
  finished,
  idv,
  linkSqlite,
  program,
  shellCommand,
  spawnProgram,
  startIdv,
} from "../../support/run-idv.js";
import { createKey, lastKey, post, request } from "../../support/service.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { some, testFull } from "../../support/tier.js";

const { serviceHome, service } = useService();

describe("without a home", () => {
  test.skipIf(process.getuid?.() !== 0)("a user without HOME and a passwd entry can check values", async () => {
    const child = spawnProgram(["check", "ann@gmial.com"], { env: {}, uid: 54_321 });
    const { code, stdout, stderr } = await finished(child);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("typo-domain: gmial.com");
    const quota = spawnProgram(["quota", "set", "--limit", "5"], { ...{ env: {}, uid: 54_321 } });
    expect(await finished(quota)).toMatchObject({
      code: 6,
      stderr: expect.stringMatching(/^idv: \/dev\/null\/\S+: .* its folder is a file; .*\n$/),
    });
  });
});

// A binary has all its parts.
describe.skipIf(!program.endsWith(".js"))("a fault before the program runs exits with 70, not 1", () => {
  test("without the build", async () => {
    const folder = temporaryFolder();
    cpSync(dirname(program), join(folder, "bin"), { recursive: true });
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    const outcome = await finished(spawn(process.execPath, [join(folder, "bin", "idv.js"), "--version"]));
    expect(outcome).toEqual({
      code: 70,
      stdout: "",
      stderr: "idv: cannot be started: a part of it is missing; run npm ci in its folder\n",
    });
  });

  const parts: [string, string[]][] = [
    ["dist/kernel/kernel.wasm", ["emails"]],
    ["dist/classifier/disposable.bin", ["check", "ann@b.net"]],
    ["dist/classifier/suffixes.bin", ["check", "ann@b.net"]],
    ["dist/bundle/topics/tables.md", ["help", "tables"]],
  ];
  test.each(some(parts, 2))("without %s", async (part, args) => {
    const [folder, home] = [temporaryFolder(), temporaryFolder()];
    const root = dirname(dirname(program));
    for (const name of ["bin", "dist", "package.json"]) {
      cpSync(join(root, name), join(folder, name), { recursive: true });
    }
    linkSqlite(folder);
    rmSync(join(folder, part), { recursive: true });
    const child = spawn(process.execPath, [join(folder, "bin", "idv.js"), ...args], { env: { HOME: home } });
    child.stdin.end("ann@larch-and-oak.com\n");
    const { code, stdout, stderr } = await finished(child);
    expect(stderr).toMatch(/^idv: a part of idv is missing: \S+; install idv again$/m);
    expect({ code, stdout }).toEqual({ code: 70, stdout: "" });
  });

  test.each(some([24, 28, 32], 1))("with only %i file descriptors", async (descriptors) => {
    const limited = `ulimit -n ${descriptors}; exec "$@"`;
    const args = ["-c", limited, "_", ...command, "check", "a@b.net"];
    const { code } = await finished(spawn("bash", args, { env: { PATH: process.env["PATH"] } }));
    // With a few more descriptors, the program may work.
    expect([0, 6, 70]).toContain(code);
  });
});

test("concurrent runs with one cache are charged once for an item, whatever their batch sizes", async () => {
  const home = temporaryFolder();
  const key = await createKey(serviceHome);
  const list = Array.from({ length: 3000 }, (_, i) => `ann${i}@larch-and-oak.com`).join("\n");
  writeFileSync(join(home, "list.csv"), `email\n${list}\n`);
  const outcomes = await Promise.all(
    some(["10", "70", "333"], 2).map((size, i) =>
      idv(["emails", "-q", "list.csv", "--set", `batchSize=${size}`, "-o", `out${i}.csv`], {
        home,
        env: { IDV_API_KEY: key, IDV_BASE_URL: service.url },
      }),
    ),
  );
  for (const { code, stderr } of outcomes) expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
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
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    const answer = new Promise<string>((resolve) => socket.once("data", (chunk) => resolve(chunk.toString())));
    socket.write(
      `POST /domains/validate HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
        "Content-Type: application/json\r\nContent-Length: 9000000\r\n\r\n",
    );
    expect(await answer).toMatch(/^HTTP\/1.1 429 /);
    socket.destroy();
  });

  test("neither charges nor stores an empty list with an Idempotency-Key", async () => {
    const [{ url }, key] = [service, await createKey(serviceHome)];
    const headers = { "idempotency-key": "k" };
    expect((await post(`${url}/domains/validate`, key, { domains: [] }, headers)).status).toBe(200);
    // Nothing was stored, so the key can be used with another body.
    expect((await post(`${url}/domains/validate`, key, { domains: ["a.com"] }, headers)).status).toBe(200);
    expect((await post(`${url}/domains/validate`, key, { domains: [] }, headers)).status).toBe(422);
  });

  testFull("answers requests and ends although its log is not read", async () => {
    const home = temporaryFolder();
    const child = startIdv(["serve", "--port", "0"], { home });
    const said = new Promise<string>((resolve) => {
      child.stderr?.on("data", (chunk: Buffer) => {
        const listening = /listening on (http:\S+)/.exec(chunk.toString())?.[1];
        if (listening) resolve(listening);
      });
    });
    child.stdout?.pause();
    const url = await said;
    let lost = 0;
    for (let round = 0; round < 300 && lost === 0; round++) {
      await Promise.all(Array.from({ length: 100 }, () => fetch(`${url}/healthz`).then((r) => r.text())));
      const { text } = await request(`${url}/metrics`);
      lost = Number(/^idv_log_lines_lost_total (\d+)$/m.exec(text)?.[1]);
    }
    expect(lost).toBeGreaterThan(0);
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
  });

  test.each([
    ["Host", "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
    ["Expect", "GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: banana\r\n\r\n", 417],
  ])("answers a faulty %s in JSON", async (_, request, status) => {
    const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
    socket.write(request);
    let answer = "";
    for await (const chunk of socket) answer += chunk;
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(/\{.*\}/.exec(answer)![0])).toEqual({ code: expect.any(String), message: expect.any(String) });
  });

  test("--check says whether it could run", async () => {
    const home = temporaryFolder();
    expect(await idv(["serve", "--check", "--port", "0"], { home })).toEqual({
      ...{ code: 0, stdout: "", stderr: "idv: the service can run: state, data and address are fine\n" },
    });
    const taken = await idv(["serve", "--check", "--port", new URL(service.url).port], { home });
    expect(taken.code, taken.stderr).toBe(2);
  });

  test("answers 503 to /readyz while its state cannot be written to", async () => {
    const home = temporaryFolder();
    const key = await createKey(home);
    const env = { PATH: process.env["PATH"], HOME: home, XDG_STATE_HOME: join(home, "state") };
    const args = ["-c", 'ulimit -f 400; exec "$@"', "_", ...command, "serve", "--port", "0", "-q"];
    const child = spawn("bash", args, { env });
    const url = await new Promise<string>((resolve) => {
      child.stderr.on("data", (chunk: Buffer) => {
        const listening = /listening on (http:\S+)/.exec(chunk.toString())?.[1];
        if (listening) resolve(listening);
      });
    });
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
  const env = { PATH: process.env["PATH"], HOME: home, XDG_STATE_HOME: join(home, "state") };
  // A file that may not grow is like a full disk.
  const args = ["-c", 'ulimit -f 800; exec "$@"', "_", ...command, "serve", "--port", "0", "-q"];
  const child = spawn("bash", args, { env });
  const url = await new Promise<string>((resolve) => {
    child.stderr.on("data", (chunk: Buffer) => {
      const listening = /listening on (http:\S+)/.exec(chunk.toString())?.[1];
      if (listening) resolve(listening);
    });
  });
  const headers = { authorization: `Bearer ${key}`, "content-type": "text/csv" };
  const send = (body: string) => request(`${url}/lists`, { method: "POST", headers, body });
  expect(await send(`email\n${"a@larch-and-oak.com\n".repeat(100_000)}`)).toMatchObject({
    status: 507,
    body: { message: "There is no room for the list on the server." },
  });
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
  const { code, stderr } = await finished(startIdv(["emails", "-I", "fifo"], { home }));
  expect({ code, stderr }).toEqual({ code: 6, stderr: "idv: fifo: not a regular file; cannot be replaced; use -o\n" });
});

describe("a file that cannot be reached is named in one line", () => {
  const asSomebody = process.getuid?.() === 0 ? { uid: 65_534 } : {};

  test.each<[string, string[], string]>([
    ["a loop of links as input", ["loop"], "loop: cannot be read: its links lead in a circle"],
    ["a loop of links as output", ["l.csv", "-o", "loop"], "loop: cannot be written: its links lead in a circle"],
    ["a loop of links in place", ["-I", "loop"], "loop: cannot be read: its links lead in a circle"],
    ["an input in a closed folder", ["closed/l.csv"], "closed/l.csv: cannot be read: permission denied"],
    [
      "an output in a closed folder",
      ["l.csv", "-o", "closed/o.csv"],
      "closed/o.csv: cannot be written: permission denied",
    ],
    ["a folder of outputs in a closed folder", ["l.csv", "-o", "closed/o/"], "closed/o"],
    ["a missing folder below a file", ["l.csv/x"], "l.csv/x: cannot be read: no such file"],
  ])("%s", async (_, args, message) => {
    const home = temporaryFolder();
    writeFileSync(join(home, "l.csv"), "email\nann@larch-and-oak.com\n");
    symlinkSync("loop", join(home, "loop"));
    mkdirSync(join(home, "closed"));
    writeFileSync(join(home, "closed/l.csv"), "email\n");
    chmodSync(home, 0o777);
    chmodSync(join(home, "closed"), 0);
    const isClosed = args.some((arg) => arg.startsWith("closed/"));
    const { code, stderr } = await idv(["emails", "-q", ...args], { home, ...(isClosed && asSomebody) });
    chmodSync(join(home, "closed"), 0o700);
    expect(stderr).toMatch(/^idv: .*\n$/);
    expect(stderr).toContain(`idv: ${message}`);
    expect(code).toBe(6);
  });

  test.each(["config.json", "credentials.json"])("the user's %s, which others may not read", async (name) => {
    const home = temporaryFolder();
    const folder = join(home, ".config/idv");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), "{}");
    chmodSync(home, 0o755);
    chmodSync(join(folder, name), 0);
    const { code, stderr } = await idv(["emails", "-q"], { home, stdin: "email\n", ...asSomebody });
    const [otherwise, expected] =
      name === "config.json" ? ["set XDG_CONFIG_HOME to another folder", 2] : ["remove it", 6];
    expect({ code, stderr }).toEqual({
      code: expected,
      stderr: `idv: ${join(folder, name)}: cannot be read: permission denied; make it readable, or ${otherwise}\n`,
    });
  });

  test("the working folder, which was removed", async () => {
    const [home, folder] = [temporaryFolder(), join(temporaryFolder(), "gone")];
    writeFileSync(join(home, "l.csv"), "email\nann@larch-and-oak.com\n");
    mkdirSync(folder);
    const command = `rmdir '${folder}'; exec ${shellCommand} emails -q '${home}/l.csv'`;
    const child = spawn("bash", ["-c", command], { cwd: folder, env: { HOME: home, PATH: process.env["PATH"] } });
    expect(await finished(child)).toEqual({
      code: 6,
      stdout: "",
      stderr: "idv: the working folder does not exist any more; change to another one\n",
    });
  });
});
