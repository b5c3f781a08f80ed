/** Covers where `idv serve` listens besides an address, its file of options, and its look at the state. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, request } from "node:http";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, test } from "vitest";
import { command, finished, fixtures, idv, startIdv } from "../../support/run-idv.js";
import { folderOf, temporaryFolder } from "../../support/temporary-folder.js";

/** Starts the service, and waits until it says where it listens. */
async function start(home: string, ...args: string[]) {
  const child = startIdv(["serve", "-q", ...args], { home });
  return { child, ...(await announced(child)) };
}

async function announced(child: ReturnType<typeof startIdv>) {
  let said = "";
  const ended = finished(child);
  const hasSpoken = new Promise<void>((resolve) => {
    child.stderr!.on("data", (part: Buffer) => {
      said += part;
      if (said.includes("listening on")) resolve();
    });
  });
  await Promise.race([hasSpoken, ended]);
  return { said, ended };
}

/** Returns the status of a request over a Unix socket. */
function statusOver(socketPath: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ socketPath, path: "/readyz", headers: { host: "idv" } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

/** Makes a server listen, and returns its port. */
async function portOf(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as { port: number }).port;
}

const ready = { code: 0, stdout: "", stderr: "" };

describe("a Unix socket", () => {
  test("admits its owner and group, is asked by --ready, passes from a killed server to the next, and goes at the end", async () => {
    const home = temporaryFolder();
    const path = join(home, "idv.sock");
    const first = await start(home, "--socket", "idv.sock");
    expect(first.said).toContain("listening on unix:idv.sock\n");
    expect(await statusOver(path)).toBe(200);
    expect(statSync(path).mode & 0o777).toBe(0o660);
    expect(await idv(["serve", "--ready", "--socket", path])).toEqual(ready);
    const second = await start(home, "--socket", "idv.sock");
    expect((await second.ended).code).toBe(2);
    expect(second.said).toContain("idv.sock: another server listens there");
    expect(await statusOver(path)).toBe(200);
    first.child.kill("SIGKILL");
    await first.ended;
    expect(existsSync(path)).toBe(true);
    const third = await start(home, "--socket", "idv.sock");
    expect(await statusOver(path)).toBe(200);
    third.child.kill("SIGTERM");
    expect((await third.ended).code).toBe(0);
    expect(existsSync(path)).toBe(false);
  });

  test.each([
    ["list.csv", "list.csv: is not a socket; choose another --socket"],
    ["none/idv.sock", "cannot listen on unix:none/idv.sock"],
  ])("%s is refused", async (socket, message) => {
    const home = folderOf({ "list.csv": "email\n" });
    const outcome = await idv(["serve", "--socket", socket], { home });
    expect(outcome).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
    expect(statSync(join(home, "list.csv")).size).toBe(6);
  });
});

describe("--ready", () => {
  test("exits with 5 without one", async () => {
    const stderr = "idv: 127.0.0.1:1: the service is not ready: connection refused\n";
    expect(await idv(["serve", "--ready", "--port", "1"])).toEqual({ code: 5, stdout: "", stderr });
  });

  test.each([
    [
      "exits with 5 if it answers 503",
      "it answers 503",
      createHttpServer((_, response) => response.writeHead(503).end()),
    ],
    ["waits 5 seconds for an answer", "no answer within 5 s", createServer()],
  ])("%s", async (_, reason, server) => {
    const outcome = await idv(["serve", "--ready", "--port", String(await portOf(server))]);
    server.close();
    expect(outcome).toMatchObject({ code: 5, stderr: expect.stringContaining(reason) });
  });
});

describe("sockets of systemd", () => {
  async function activated(count: number) {
    const home = temporaryFolder();
    const server = createServer();
    const port = await portOf(server);
    const { fd } = (server as unknown as { _handle: { fd: number } })._handle;
    // As systemd does, the variables name the process.
    const script = `LISTEN_PID=$$ LISTEN_FDS=${count} exec "$@"`;
    const child = spawn("sh", ["-c", script, "sh", ...command, "serve", "-q"], {
      ...{ cwd: home, env: { PATH: process.env["PATH"], HOME: home } },
      stdio: ["ignore", "pipe", "pipe", fd],
    });
    const { said, ended } = await announced(child);
    server.close();
    return { child, port, said, ended };
  }

  test("take the place of an address", async () => {
    const { child, port, said, ended } = await activated(1);
    expect(said).toContain("listening on the socket of systemd\n");
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
    child.kill("SIGTERM");
    expect((await ended).code).toBe(0);
  });

  test("end the server if there are several", async () => {
    const { said, ended } = await activated(2);
    expect((await ended).code).toBe(2);
    expect(said).toContain("systemd passes 2 sockets; idv serve takes one");
  });
});

describe("a file of options", () => {
  test("goes behind the command line and the variables, and before the defaults", async () => {
    const options = { port: 0, state: "file.db", maxItems: 2, corsOrigin: ["https://a.example"], quiet: true };
    const home = folderOf({ "serve.json": JSON.stringify(options) });
    const { child, said, ended } = await start(home, "--config", "serve.json");
    const [, url] = /listening on (http:\S+)/.exec(said)!;
    const { headers } = await fetch(`${url}/healthz`, { headers: { origin: "https://a.example" } });
    expect(headers.get("access-control-allow-origin")).toBe("https://a.example");
    child.kill("SIGTERM");
    await ended;
    expect(existsSync(join(home, "file.db"))).toBe(true);
    for (const [state, args, env] of [
      ["given.db", ["--state", "given.db"], {}],
      ["variable.db", [], { IDV_STATE: "variable.db" }],
    ] as const) {
      expect((await idv(["serve", "--check", "--config", "serve.json", ...args], { home, env })).code).toBe(0);
      expect(existsSync(join(home, state))).toBe(true);
    }
  });

  test("with a socket is overridden by a port on the command line, which --ready asks", async () => {
    const home = folderOf({ "serve.json": '{"socket": "idv.sock"}' });
    const inFile = await start(home, "--config", "serve.json");
    expect(inFile.said).toContain("listening on unix:idv.sock\n");
    const given = await start(home, "--config", "serve.json", "--port", "0");
    const [, port] = /listening on http:\/\/127\.0\.0\.1:(\d+)\n/.exec(given.said)!;
    expect(await idv(["serve", "--ready", "--port", port!])).toEqual(ready);
    for (const { child, ended } of [inFile, given]) {
      child.kill("SIGTERM");
      await ended;
    }
  });

  test("passes --check as given in the samples", async () => {
    const file = join(fixtures, "../src/package/deploy/serve.json");
    expect(await idv(["serve", "--check", "--port", "0", "--config", file])).toMatchObject({ code: 0 });
  });

  test.each([
    ["nonsense", "serve.json: not JSON"],
    ["[]", "serve.json: not a JSON object"],
    ['{"prot": 1}', 'serve.json: "prot" is not a known option (did you mean port?); see idv serve --help'],
    ['{"config": "x"}', 'serve.json: "config" is not a known option'],
    ['{"port": 99999}', 'serve.json: port: "99999" is invalid. It takes a whole number from 0 to 65535.'],
    ['{"port": [1, 2]}', "serve.json: port: takes one value"],
    ['{"quiet": "yes"}', "serve.json: quiet: takes true or false"],
    ['{"host": ""}', 'serve.json: host: "" is invalid'],
    ['{"host": null}', "serve.json: host: takes text, a number, true or false"],
    ['{"dns": "bad"}', 'serve.json: dns: "bad" is invalid. It takes on, off, strict or a share, strict:5%.'],
    ['{"set": "baseUrl=https://u:secret@h"}', "serve.json: set baseUrl: the URL is invalid."],
  ])("%s is refused", async (text, message) => {
    const outcome = await idv(["serve", "--check", "--config", "serve.json"], {
      home: folderOf({ "serve.json": text }),
    });
    expect(outcome).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });

  test("with a password is refused if others can read it, and does not show it", async () => {
    const home = folderOf({ "serve.json": '{"state": "postgres://idv:swordfish@127.0.0.1:1/idv"}' }, 0o644);
    const open = await idv(["serve", "--check", "--config", "serve.json"], { home });
    expect(open).toMatchObject({ code: 2, stderr: expect.stringContaining("run chmod 600 serve.json") });
    chmodSync(join(home, "serve.json"), 0o600);
    const closed = await idv(["serve", "--check", "--config", "serve.json"], { home });
    expect(closed.stderr).toContain("cannot connect to the database: connection refused");
    expect(open.stderr + closed.stderr).not.toContain("swordfish");
  });
});

describe("the state is looked at before the service listens", () => {
  test("damage in a table that nothing has read yet", async () => {
    const home = folderOf({});
    await idv(["keys", "create", "--name", "a", "--state", "s.db"], { home });
    const path = join(home, "s.db");
    const database = new DatabaseSync(path);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    const [{ rootpage }] = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'audit'").all() as [
      { rootpage: number },
    ];
    const [{ page_size }] = database.prepare("PRAGMA page_size").all() as [{ page_size: number }];
    database.close();
    const bytes = readFileSync(path);
    bytes.fill(0x5a, page_size * (rootpage - 1), page_size * rootpage);
    writeFileSync(path, bytes);
    for (const args of [["--check"], []]) {
      const { code, stderr } = await idv(["serve", "--port", "0", "--state", "s.db", ...args], { home });
      expect([code, stderr]).toEqual([6, expect.stringContaining("s.db: the state file is damaged; restore a backup")]);
    }
  });

  test.runIf(process.platform !== "win32")("a file that others can open", async () => {
    const home = folderOf({});
    await idv(["keys", "create", "--name", "a", "--state", "s.db"], { home });
    const check = async () => (await idv(["serve", "--check", "--port", "0", "--state", "s.db"], { home })).stderr;
    expect(await check()).toBe("idv: the service can run: state, data and address are fine\n");
    chmodSync(join(home, "s.db"), 0o644);
    expect(await check()).toContain("s.db: other users can open the state: chmod 600 s.db\n");
  });
});
