/** Covers proxies, TLS and slow input of runs with a service. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { listOf, passOn, sendOn, useService } from "../../support/api-runs.js";
import { collected } from "../../support/processes.js";
import { idv, startIdv } from "../../support/run-idv.js";
import { listen, respond, resultsOf, scriptedServer } from "../../support/scripted-server.js";
import { createKey } from "../../support/service.js";
import { jsonLines } from "../../support/states.js";

const { serviceHome, service, withKey } = useService();

test("requests go through a proxy and are logged with --log debug", async () => {
  const key = await createKey(serviceHome);
  const carried: string[] = [];
  const proxy = createServer((request, response) => {
    carried.push(request.url ?? "");
    sendOn(request, request.url ?? "", (answer) => passOn(answer, response));
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
  const through = await withKey(listOf(5), key, ["emails", "list.csv", "--log", "debug"], env);
  const line = expect.stringMatching(/idv: debug: POST \/emails\/validate, 5 items, try 1: 200 in \d+ ms\n/);
  expect(through).toMatchObject({ code: 0, stderr: line });
  expect(through.stderr).not.toContain("larch");
  expect(carried).toHaveLength(1);
  // An unencrypted key for this machine does not go through a proxy on another one.
  for (const other of [{ ...env, NO_PROXY: "127.0.0.1" }, { HTTP_PROXY: "http://192.0.2.1:3128" }]) {
    expect((await withKey(listOf(5), key, ["emails", "list.csv"], other)).code).toBe(0);
  }
  expect(carried).toHaveLength(1);
});

test("https accepts a certificate named by NODE_EXTRA_CA_CERTS and rejects an untrusted one", async () => {
  const pem = fileURLToPath(new URL("../../support/localhost.pem", import.meta.url));
  const server = createTlsServer({ key: readFileSync(pem), cert: readFileSync(pem) }, (request, response) => {
    request.resume().on("end", () => response.end(resultsOf(["ann0@larch-and-oak.com"])));
  });
  const url = (await listen(server)).replace("http://127.0.0.1", "https://localhost");
  const env = { IDV_API_KEY: "sk_1", IDV_BASE_URL: url };
  const trusted = await idv(["emails", "list.csv"], { home: listOf(1), env: { ...env, NODE_EXTRA_CA_CERTS: pem } });
  expect(trusted).toMatchObject({ code: 0, stdout: "email,status\nann0@larch-and-oak.com,ok\n" });
  const refused = await idv(["emails", "list.csv", "--set", "maxRetries=9"], { home: listOf(1), env });
  const advice = "its certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT); set NODE_EXTRA_CA_CERTS to";
  expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining(advice) });
});

test.each([
  ["by itself", [25]],
  ["with the answer", []],
  ["in parts", [3, 12, 20, 24, 30, 60]],
])("100 Continue that was not asked for is passed over, sent %s", async (_, cuts) => {
  const results = resultsOf(Array.from({ length: 5 }, (_, i) => `ann${i}@larch-and-oak.com`));
  const answer = `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\na: b\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: ${results.length}\r\n\r\n${results}`;
  const server = createServer((request, response) => {
    request.resume().on("end", async () => {
      for (const [i, cut] of [...cuts, answer.length].entries()) {
        response.socket?.write(answer.slice(cuts[i - 1] ?? 0, cut));
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
    });
  });
  const env = { IDV_API_KEY: "sk_1", IDV_BASE_URL: await listen(server) };
  const { code, stderr } = await idv(["emails", "list.csv", "--set", "maxRetries=0"], { home: listOf(5), env });
  expect({ code }, stderr).toEqual({ code: 0 });
});

test("rows that trickle in are written without waiting for a full batch", async () => {
  const key = await createKey(serviceHome);
  const child = startIdv(["emails", "-q"], { env: { IDV_API_KEY: key, IDV_BASE_URL: service.url } });
  const answered = collected(child.stdout);
  child.stdin?.write(`email\n${"ann@larch-and-oak.com\n".repeat(4000)}`);
  await expect.poll(() => answered().length).toBeGreaterThan(50_000);
  child.stdin?.end("x@mailinator.com\n");
  await once(child, "close");
  expect(answered()).toMatch(/x@mailinator.com,disposable\n$/);
});

test("progress counts every answer, also where a slow service gets few items at a time", async () => {
  const { url } = await scriptedServer(respond());
  const home = listOf(150);
  const args = ["emails", "--log", "json", "--set", "rate=50/s", "--cache=off", "list.csv", "-o", "out.csv"];
  const { code, stderr } = await idv(args, { home, env: { IDV_API_KEY: "kk-1", IDV_BASE_URL: url } });
  expect(code, stderr).toBe(0);
  const lines = stderr.split("\n").filter((line) => line.startsWith('{"type":"progress"'));
  expect(lines.length).toBeGreaterThan(0);
  for (const { rows, units } of jsonLines(lines.join("\n"))) {
    expect(units).toBeGreaterThan(0);
    expect(rows).toBe(units);
  }
});
