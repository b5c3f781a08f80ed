/** Covers runs whose service, connection or process fails: nothing is lost and nothing is paid twice. */
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openSqliteServiceStore } from "../../../src/state/service/database/sqlite.js";
import { forwardTo, listOf, output, passOn, sendOn, statuses, useService } from "../../support/api-runs.js";
import { lockStore } from "../../support/lock-store.js";
import { endedBy, killedWhen } from "../../support/processes.js";
import { idv, startIdv } from "../../support/run-idv.js";
import { type Act, listen, resetBeforeHeaders, respond, scriptedServer } from "../../support/scripted-server.js";
import { createKey, lastKey, serve } from "../../support/service.js";
import { times } from "../../support/tier.js";

const { serviceHome, service } = useService();

describe("failures during a run", () => {
  test("the service goes away: exit 5, the old output stays and charged verdicts are cached", async () => {
    const server = await scriptedServer(respond(), respond(), respond(), resetBeforeHeaders);
    const home = listOf(500);
    writeFileSync(join(home, "out.csv"), "as it was\n");
    const env = { IDV_API_KEY: "sk_1", IDV_BASE_URL: server.url };
    const args = ["emails", "list.csv", "-o", "out.csv", "--set", "concurrency=1", "--set", "maxRetries=1"];
    const { code, stdout, stderr } = await idv(args, { home, env });
    expect({ code, stdout, output: output(home) }).toEqual({ code: 5, stdout: "", output: "as it was\n" });
    expect(stderr).toContain(
      `idv: ${server.url}: the connection was closed, 2 times; 300 new verdicts cached; to resume, run: idv ${args.join(" ")}\n`,
    );
    const healthy = await scriptedServer(respond());
    // Cached verdicts count only for the service that was charged.
    expect((await idv(args, { home, env: { ...env, IDV_BASE_URL: healthy.url } })).code).toBe(0);
    expect(healthy.seen).toHaveLength(5);
  });

  test("a cache that stays locked is passed over", async () => {
    const server = await scriptedServer(respond());
    const home = listOf(500);
    const env = { IDV_API_KEY: "sk_1", IDV_BASE_URL: server.url };
    // Makes the file.
    await idv(["emails", "-q"], { home, env, stdin: "email\na@larch-and-oak.com\n" });
    const unlock = await lockStore(join(home, "state/idv/verdicts.db"));
    const { code, stderr } = await idv(["emails", "list.csv", "-o", "out.csv"], { home, env });
    await unlock();
    expect(stderr).toContain("verdicts.db: the cache is still locked by another process; idv goes on without it\n");
    expect({ code, rows: output(home).split("\n").length }).toEqual({ code: 0, rows: 502 });
  });

  test("tries of a run with a name are paid once, on machines without a common cache", async () => {
    const key = await createKey(serviceHome, { limit: 1000 });
    const env = { IDV_API_KEY: key, IDV_BASE_URL: service.url, IDV_RUN: "job 42" };
    const args = ["emails", "list.csv", "-q", "-o", "out.csv"];
    const homes = [listOf(1000), listOf(1000), listOf(1000)] as const;
    const [first, second] = await Promise.all([idv(args, { home: homes[0], env }), idv(args, { home: homes[1], env })]);
    const third = await idv(args, { home: homes[2], env });
    expect([first, second, third].map(({ code }) => code)).toEqual([0, 0, 0]);
    expect((await lastKey(serviceHome)).used).toBe(1000);
  });

  test("standard output gets only whole rows", async () => {
    const server = await scriptedServer(respond(), respond(404, {}, "{}"));
    const env = { IDV_API_KEY: "sk_1", IDV_BASE_URL: server.url };
    const { code, stdout } = await idv(["emails", "list.csv", "-q"], { home: listOf(200_00), env });
    expect(code).toBe(5);
    expect(stdout === "" || stdout.endsWith("\n")).toBe(true);
  });

  test("kill -9, many times: every item is charged once", async () => {
    const key = await createKey(serviceHome, { limit: 100_000 });
    const count = times(20_000, 3000);
    const home = listOf(count);
    const args = ["emails", "list.csv", "-q", "-o", "out.csv"];
    const env = { IDV_API_KEY: key, IDV_BASE_URL: service.url };
    const store = await openSqliteServiceStore(join(serviceHome, "state/idv/service.db"), Date.now);
    onTestFinished(() => store.close());
    const used = async () => (await store.list()).at(-1)!.quota.used;
    for (let i = 0; i < times(20); i++) {
      const child = startIdv(args, { home, env });
      // When some more items are charged, or all of them.
      const wanted = (await used()) + 1000 * Math.random();
      await killedWhen(child, async () => (await used()) > wanted);
    }
    expect(await idv(args, { home, env })).toMatchObject({ code: 0, stderr: "" });
    expect((await lastKey(serviceHome)).used).toBe(count);
    const undisturbed = listOf(count);
    await idv(args, { home: undisturbed, env: { ...env, IDV_API_KEY: await createKey(serviceHome) } });
    expect(output(home)).toBe(output(undisturbed));
  });

  test("kill -9 with a slow service of 20 items a request: every item is charged once", async () => {
    const small = await serve(serviceHome, "-q", "--max-items", "20");
    const key = await createKey(serviceHome, { limit: 100_000 });
    // Answers are delayed, so that the run is killed after a charge and before the answer.
    let left = 0;
    const slowUrl = await forwardTo(small.url, (answer, response) => {
      setTimeout(() => passOn(answer, response), 10 + 60 * Math.random());
      left--;
    });
    const count = times(4000, 600);
    const home = listOf(count);
    const env = { IDV_API_KEY: key, IDV_BASE_URL: slowUrl };
    const args = ["emails", "list.csv", "-q", "-o", "out.csv", "--set", "concurrency=8"];
    for (let i = 0; i < times(10); i++) {
      left = Math.ceil(12 * Math.random());
      await killedWhen(startIdv(args, { home, env }), () => left <= 0);
    }
    expect(await idv(args, { home, env })).toEqual({ code: 0, stdout: "", stderr: "" });
    expect((await lastKey(serviceHome)).used).toBe(count);
  });

  test.each([
    ["a smaller batchSize", ["--set", "batchSize=20"]],
    ["a rate", ["--set", "rate=90/s"]],
  ])("kill -9 before the answer, then a rerun with %s: every item is charged once", async (_, more) => {
    const key = await createKey(serviceHome, { limit: 1000 });
    // The first batch is charged, and its answer is withheld.
    let isSilent = true;
    let charged = 0;
    const url = await forwardTo(service.url, (answer, response) => {
      charged++;
      if (!isSilent) passOn(answer, response);
    });
    const env = { IDV_API_KEY: key, IDV_BASE_URL: url };
    const home = listOf(250);
    const child = startIdv(["emails", "list.csv", "-q", "-o", "out.csv"], { home, env });
    await expect.poll(() => charged).toBe(1);
    await endedBy(child, "SIGKILL");
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
      const onAnswer = (answer: IncomingMessage) => {
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
      };
      return sendOn(request, `${service.url}${request.url}`, onAnswer, headers);
    });
    return { url: await listen(server), broken };
  }

  test.each([
    ["every item is charged once", true],
    ["without Idempotency-Keys, only cut-off batches cost more", false],
  ])("broken connections at every stage: %s", async (_, passesIdempotencyKeys) => {
    const key = await createKey(serviceHome, { limit: 100_000 });
    const home = listOf(2000);
    const { url, broken } = await breakingLine(passesIdempotencyKeys);
    const env = { IDV_API_KEY: key, IDV_BASE_URL: url };
    const args = ["emails", "list.csv", "-q", "-o", "out.csv", "--set", "concurrency=8", "--set", "maxRetries=20"];
    expect(await idv(args, { home, env })).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(statuses(output(home))).toEqual({ ok: 2000 });
    expect(broken.afterCharge).toBeGreaterThan(3);
    const { used } = await lastKey(serviceHome);
    expect(used).toBe(2000 + (passesIdempotencyKeys ? 0 : 100 * broken.afterCharge));
  });

  test.each<[string, number, string, number, string]>([
    [
      "a rejected key",
      401,
      '{"message":"Unauthorized."}',
      3,
      "rejects the key (401: Unauthorized); replace the key in IDV_API_KEY",
    ],
    ["a key without permission", 403, "{}", 3, "does not permit this key to do so (403)"],
    ["an invalid answer", 200, "<html>", 5, "invalid answer: it is not JSON"],
    ["an error, with control characters escaped", 400, '{"message":"\\u001b[2J"}', 5, "answers 400: \\u{1b}[2J"],
  ])("%s is reported", async (_, status, body, code, message) => {
    const { url } = await scriptedServer(respond(status, {}, body));
    const env = { IDV_API_KEY: "sk_1", IDV_BASE_URL: url };
    const outcome = await idv(["emails", "list.csv", "-q"], { home: listOf(3), env });
    const stderr = expect.stringContaining(`idv: ${url}: ${message}`);
    expect(outcome).toEqual({ code, stdout: "email,status\n", stderr });
  });

  test("an unknown status is written and counted", async () => {
    const spam: Act = respond(200, {}, (items) =>
      JSON.stringify({ emails: Object.fromEntries(items.map((item) => [item.toUpperCase(), { status: "spam" }])) }),
    );
    const env = { IDV_API_KEY: "sk_1", IDV_BASE_URL: (await scriptedServer(spam)).url };
    const outcome = await idv(["emails", "list.csv"], { home: listOf(2), env });
    const stdout = "email,status\nann0@larch-and-oak.com,spam\nann1@larch-and-oak.com,spam\n";
    expect(outcome).toEqual({ code: 0, stdout, stderr: expect.stringMatching(/spam +2\n/) });
  });
});
