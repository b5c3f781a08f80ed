/** Covers idv serve under load and with slow, huge and broken requests. */

import { connect } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { beforeAll, describe, expect, test } from "vitest";
import { errorBody } from "../../../src/server/service/error-codes.js";
import { endedBy, talk } from "../../support/processes.js";
import { idv } from "../../support/run-idv.js";
import { createKey, lastKey, post, request, type Service, serve } from "../../support/service.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { testFull, times } from "../../support/tier.js";

const domainsOf = (from: string, count: number) => Array.from({ length: count }, (_, i) => `${from}-${i}.com`);

/** Counts the items of an answer that were granted. */
const granted = (body: { domains?: Record<string, { status: string }> }) =>
  Object.values(body.domains ?? {}).filter(({ status }) => status !== "quota_exceeded").length;

describe.concurrent("under load", () => {
  test("charges exactly the granted units of valid and broken requests", async ({ expect }) => {
    const home = temporaryFolder();
    const [{ url }, key] = [await serve(home, "-q"), await createKey(home, { limit: times(3000, 1000) })];
    let units = 0;
    const bodies: ((i: string) => unknown)[] = [
      (i) => ({ domains: domainsOf(i, 20) }),
      (i) => ({ domains: [...domainsOf(i, 5), ...domainsOf(i, 9)] }),
      (i) => ({ emails: [`ann@${i}.com`] }),
      () => '{"domains":["a.com"',
      () => ({ domains: ["a.com", 7] }),
      () => ({ domains: [] }),
      () => Buffer.from('{"domains":["\xff.com"]}', "latin1"),
      () => ({ domains: ["x".repeat(1001)] }),
    ];
    const statuses = new Set<number>();
    const client = async (name: string) => {
      for (let i = 0; i < times(60, 20); i++) {
        const body = bodies[i % bodies.length]!(`${name}${i}`);
        const { status, body: answer } = await post(`${url}/domains/validate`, key, body);
        statuses.add(status);
        units += granted(answer);
        if (i % 10 === 0) statuses.add((await post(`${url}/domains/validate`, "sk_none", body)).status);
      }
    };
    await Promise.all([..."abcdefghijklmnop"].map(client));
    expect(units).toBe(times(3000, 1000));
    expect(await lastKey(home)).toMatchObject({ used: times(3000, 1000), left: 0 });
    expect([...statuses].sort()).toEqual([200, 400, 401, 429]);
  });

  test("charges every answered request once, also across kill -9", async ({ expect }) => {
    const home = temporaryFolder();
    const key = await createKey(home, { limit: 1_000_000 });
    let service = await serve(home, "-q");
    let units = 0;
    for (let round = 0; round < times(5, 1); round++) {
      const pending = new Set<string>();
      const enough = units + 10 * Math.ceil(40 * Math.random());
      let onEnough = () => {};
      const isLoaded = new Promise<void>((resolve) => {
        onEnough = resolve;
      });
      const send = async (name: string) => {
        pending.add(name);
        const body = { domains: domainsOf(name, 10) };
        const { body: answer } = await post(`${service.url}/domains/validate`, key, body, { "idempotency-key": name });
        units += granted(answer);
        pending.delete(name);
        if (units >= enough) onEnough();
      };
      const client = async (name: string) => {
        for (let i = 0; i < 10_000; i++) await send(`r${round}${name}${i}`);
      };
      const clients = Promise.allSettled(["a", "b", "c", "d"].map(client));
      await isLoaded;
      await service.kill();
      await clients;
      const { used } = await lastKey(home);
      expect(used).toBeGreaterThanOrEqual(units);
      expect(used).toBeLessThanOrEqual(units + 10 * pending.size);
      service = await serve(home, "-q");
      // Some of these may have been charged before the kill; resent, each is charged once in all.
      for (const name of pending) await send(name);
      expect((await lastKey(home)).used).toBe(units);
    }
    expect(units).toBeGreaterThan(0);
  });
});

describe.concurrent("slow, huge and broken requests", () => {
  let home: string;
  let service: Service;
  let key: string;
  beforeAll(async () => {
    home = temporaryFolder();
    service = await serve(home, "-q", "--max-items", "10");
    key = await createKey(home);
  });

  const head = (length: string) =>
    `POST /emails/validate HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: application/json\r\n${length}\r\n\r\n`;
  const isRefusal = (said: string, status: string, message: string) => {
    expect(said).toMatch(new RegExp(`^HTTP/1.1 ${status}\r\n`));
    expect(said.split("\r\n\r\n")[1]).toBe(JSON.stringify(errorBody(Number(status.slice(0, 3)), message)));
  };

  test("get 408 if the header does not end", async () => {
    isRefusal(await talk(service.url, "POST /emails"), "408 Request Timeout", "The request took too long.");
  });

  testFull("get 408 if the body does not end", async () => {
    const said = await talk(service.url, `${head("Content-Length: 40")}{"emails":[`, (socket) => {
      const trickle = setInterval(() => socket.write(" "), 3000);
      socket.once("close", () => clearInterval(trickle));
    });
    isRefusal(said, "408 Request Timeout", "The request took too long.");
  });

  test("get 413 for a huge body, announced or not", async () => {
    const message = "Body too large: at most 41054 bytes. Items per request: at most 10.";
    const [announced, chunked] = [head("Content-Length: 10000000000"), head("Transfer-Encoding: chunked")];
    const piece = `4000\r\n${" ".repeat(0x4000)}\r\n`;
    for (const text of [announced, chunked + piece.repeat(8)]) {
      const said = await talk(service.url, text);
      expect(said).toMatch(/^HTTP\/1.1 413 /);
      expect(said).toContain(message);
    }
    // A client that keeps sending is disconnected.
    await talk(service.url, chunked, (socket) => {
      const write = () => {
        while (socket.writable && socket.write(piece));
      };
      socket.on("drain", write);
      write();
    });
    expect((await request(`${service.url}/readyz`)).status).toBe(200);
  });

  const long = `GET / HTTP/1.1\r\nX: ${"x".repeat(20_000)}\r\n\r\n`;
  test.each([
    ["text that is not HTTP", "hello\r\n\r\n", "400 Bad Request", "Not HTTP."],
    ["a header of 20 KB", long, "431 Request Header Fields Too Large", "The header fields are too large."],
  ])("get an error with the reason: %s", async (_, text, status, message) => {
    isRefusal(await talk(service.url, text), status, message);
  });
});

describe.sequential("a service", () => {
  const home = temporaryFolder();
  let service: Service;
  beforeAll(async () => {
    service = await serve(home, "-q");
  });

  /** Sends the start of a request, does something, and sends the rest. Returns the answer. */
  async function interrupted(key: string, work: () => Promise<unknown>): Promise<string> {
    const body = JSON.stringify({ domains: ["larch-and-oak.com"] });
    const head =
      `POST /domains/validate HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
    return talk(service.url, head + body.slice(0, 10), async (socket) => {
      // Another request on another connection shows that the first has arrived.
      await request(`${service.url}/healthz`);
      await work();
      socket.write(body.slice(10));
    });
  }

  test("rejects a request whose key is revoked while the request arrives", async () => {
    const key = await createKey(home);
    const { id } = await lastKey(home);
    expect(await interrupted(key, () => idv(["keys", "revoke", id], { home }))).toMatch(/^HTTP\/1.1 401 /);
    expect(await lastKey(home)).toMatchObject({ used: 0 });
  });

  test("disconnects a client that sends requests without reading the answers", async () => {
    const { url } = service;
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    socket.pause();
    socket.write("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1600));
    await new Promise((resolve) => socket.once("close", resolve).resume());
    expect((await request(`${url}/healthz`)).status).toBe(200);
  });

  // The last test of the service.
  test("finishes a started request after SIGTERM", async () => {
    const { url, child } = service;
    let exited: Promise<unknown[]> | undefined;
    const said = await interrupted(await createKey(home), async () => {
      exited = endedBy(child, "SIGTERM");
      await expect.poll(() => fetch(`${url}/healthz`).catch(() => "refused")).toBe("refused");
    });
    expect((await exited)?.[0]).toBe(0);
    expect(said).toContain('{"domains":{"larch-and-oak.com":{"status":"ok"}}}');
  });
});

test("answers 503 to requests and to /readyz if its state cannot be used", async () => {
  const home = temporaryFolder();
  const [service, key] = [await serve(home), await createKey(home)];
  const database = new DatabaseSync(join(home, "state/idv/service.db"));
  // The service may be writing just now.
  database.exec("PRAGMA busy_timeout = 5000; DROP TABLE secret; DROP TABLE api_key");
  database.close();
  const message = "Service unavailable; try again later.";
  expect(await request(`${service.url}/readyz`)).toMatchObject({ status: 503, body: { message } });
  const answer = await post(`${service.url}/domains/validate`, key, { domains: ["a.com"] });
  expect(answer).toMatchObject({ status: 503, body: { message } });
  expect(service.log()).toContain("service unavailable");
});
