import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { beforeAll, describe, expect, test } from "vitest";
import { idv } from "../support/run-idv.js";
import { createKey, post as postTo, request, type Service, serve } from "../support/service.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const home = temporaryFolder();
let service: Service;
let key: string;
beforeAll(async () => {
  service = await serve(home, "--max-items", "50", "--cors-origin", "https://shop.larch-and-oak.com");
  key = await createKey(home);
});

/** Posts a body to the service; a string is sent as it is. */
const post = (path: string, body: unknown, headers: Record<string, string> = {}, url = service.url) =>
  postTo(`${url}${path}`, key, body, headers);
const as = (secret: string) => ({ authorization: `Bearer ${secret}` });

describe("the document", () => {
  test("e-mail addresses, each once, in the order in which they were submitted", async () => {
    const emails = [
      "x@mailinator.com",
      "ann+x@larch-and-oak.com",
      "a..b@c.net",
      "ann@larch-and-oak.com",
      "x@mailinator.com",
    ];
    const { status, text, headers } = await post("/emails/validate", { emails });
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(text).toBe(
      '{"emails":{"x@mailinator.com":{"status":"disposable"},"ann+x@larch-and-oak.com":{"status":"alias"},' +
        '"a..b@c.net":{"status":"fake"},"ann@larch-and-oak.com":{"status":"ok"}}}',
    );
  });

  test("domains", async () => {
    const { body } = await post("/domains/validate", {
      domains: ["mailinator.com", "gmial.com", "duck.com"],
    });
    expect(body).toEqual({
      domains: {
        "mailinator.com": { status: "disposable" },
        "gmial.com": { status: "fake" },
        "duck.com": { status: "ok" },
      },
    });
  });

  test("a quota that ends part-way, and one that has ended", async () => {
    const headers = as(await createKey(home, "--limit", "3", "--period", "month"));
    const domains = ["a.com", "a.com", "b.com", "c.com", "d.com"];
    const first = await post("/domains/validate", { domains }, headers);
    expect(Object.values(first.body.domains).map((result) => (result as { status: string }).status)).toEqual([
      ...["ok", "ok", "ok", "quota_exceeded"],
    ]);
    expect(first.headers.get("ratelimit-policy")).toBe('"validations";q=3;w=2592000');
    expect(first.headers.get("ratelimit")).toMatch(/^"validations";r=0;t=\d+$/);
    const second = await post("/emails/validate", { emails: ["ann@larch-and-oak.com"] }, headers);
    expect(second).toMatchObject({ status: 429, body: { message: "No validations are left." } });
    expect(Number(second.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(second.headers.get("ratelimit")).toMatch(/^"validations";r=0;t=\d+$/);
  });

  test("a quota that never renews has no Retry-After", async () => {
    const headers = as(await createKey(home, "--limit", "0"));
    const answer = await post("/domains/validate", { domains: ["a.com"] }, headers);
    expect(answer.status).toBe(429);
    expect(answer.headers.get("retry-after")).toBeNull();
    expect(answer.headers.get("ratelimit")).toBe('"validations";r=0');
  });

  test.each<[string, Record<string, string>]>([
    ["missing", { authorization: "" }],
    ["malformed", { authorization: "Basic eDp5" }],
    ["unknown", as("sk_0000000000000000000000000000000000000000000")],
    ["overlong", as("x".repeat(300))],
  ])("a key that is %s", async (_, headers) => {
    expect(await post("/emails/validate", { emails: ["a@b.net"] }, headers)).toMatchObject({
      status: 401,
      text: '{"message":"Unauthorized."}',
    });
  });
});

describe("rulings", () => {
  const long = "x".repeat(1001);
  test.each<[string, string, unknown, number, string]>([
    ["the other's key", "/emails/validate", { domains: ["a.com"] }, 400, "The field emails is missing."],
    ["no JSON", "/emails/validate", "{", 400, "The body is not JSON in UTF-8."],
    [
      "bad UTF-8",
      "/emails/validate",
      Buffer.from('{"emails":["\xff"]}', "latin1"),
      400,
      "The body is not JSON in UTF-8.",
    ],
    ["no body", "/emails/validate", "", 400, "The body is not JSON in UTF-8."],
    ["no object", "/emails/validate", [], 400, "The body has to be a JSON object."],
    ["no array", "/emails/validate", { emails: "a@b.net" }, 400, "emails has to be an array of strings."],
    ["no strings", "/domains/validate", { domains: ["a.com", 1] }, 400, "domains[1] has to be a string."],
    [
      "too long a string",
      "/emails/validate",
      { emails: [long] },
      400,
      "emails[0] is longer than 1000 characters.",
    ],
    [
      "deep JSON",
      "/emails/validate",
      `${"[".repeat(50_000)}${"]".repeat(50_000)}`,
      400,
      "The body has to be a JSON object.",
    ],
    [
      "too many items",
      "/emails/validate",
      { emails: Array(51).fill("a@b.net") },
      413,
      "At most 50 items a request.",
    ],
    [
      "too large a body",
      "/emails/validate",
      { emails: ["x".repeat(700_000)] },
      413,
      "At most 50 items and 601174 bytes a request.",
    ],
    ["an unknown path", "/emails", {}, 404, "No such path."],
  ])("%s", async (_, path, body, status, message) => {
    const answer = await post(path, body);
    expect({ status: answer.status, body: answer.body }).toEqual({ status, body: { message } });
  });

  test("another content type, another method", async () => {
    expect((await post("/emails/validate", "a=b", { "content-type": "text/plain" })).status).toBe(415);
    const { status, headers, body } = await request(`${service.url}/emails/validate`);
    expect([status, headers.get("allow"), body]).toEqual([405, "POST", { message: "Use POST." }]);
  });

  test("an empty list", async () => {
    expect((await post("/emails/validate", { emails: [] })).text).toBe('{"emails":{}}');
  });

  test("any string is an ordinary key", async () => {
    const domains = ["__proto__", "constructor", "", 'a"b', "ü.de", "\u0000"];
    const { body } = await post("/domains/validate", { domains });
    expect(Object.keys(body.domains)).toEqual(domains);
  });

  test("permissions", async () => {
    const headers = as(await createKey(home, "--permissions", "domains"));
    expect((await post("/domains/validate", { domains: ["a.com"] }, headers)).status).toBe(200);
    expect(await post("/emails/validate", { emails: [] }, headers)).toMatchObject({
      status: 403,
      body: { message: "This key may not validate emails." },
    });
  });

  test("an Idempotency-Key is charged once", async () => {
    const secret = await createKey(home, "--limit", "3");
    const headers = { ...as(secret), "idempotency-key": "batch-1" };
    const body = { domains: ["a.com", "mailinator.com"] };
    const first = await post("/domains/validate", body, headers);
    const again = await post("/domains/validate", body, headers);
    expect(again.text).toBe(first.text);
    expect(again.headers.get("ratelimit")).toBe('"validations";r=1');
    expect(await post("/domains/validate", { domains: ["a.com"] }, headers)).toMatchObject({
      status: 422,
      body: { message: "This Idempotency-Key came with another body before." },
    });
    await post("/domains/validate", { domains: ["c.com"] }, as(secret));
    // The stored answer is there although nothing is left.
    expect((await post("/domains/validate", body, headers)).text).toBe(first.text);
    const fresh = { ...headers, "idempotency-key": "batch-2" };
    expect((await post("/domains/validate", body, fresh)).status).toBe(429);
    expect(
      (await post("/domains/validate", body, { ...headers, "idempotency-key": "x".repeat(256) })).status,
    ).toBe(400);
  });

  test("an Idempotency-Key is for one operation", async () => {
    const headers = { ...as(await createKey(home, "--limit", "9")), "idempotency-key": "both" };
    const body = { emails: ["ann+x@larch-and-oak.com"], domains: ["a.com", "b.com"] };
    expect((await post("/emails/validate", body, headers)).status).toBe(200);
    expect((await post("/domains/validate", body, headers)).status).toBe(422);
  });

  test("unknown paths and methods are known before any body is read", async () => {
    expect((await post("/nope", "{")).status).toBe(404);
    const { status, body } = await request(`${service.url}/domains/validate`, { method: "PUT", body: "{" });
    expect({ status, body }).toEqual({ status: 405, body: { message: "Use POST." } });
    expect(await request(`${service.url}/%zz`)).toMatchObject({
      status: 404,
      text: '{"message":"No such path."}',
    });
  });

  test("sandbox keys", async () => {
    const secret = await createKey(home, "--sandbox", "--limit", "0");
    expect(secret).toMatch(/^sk_test_[0-9A-Za-z]{43}$/);
    const emails = ["a@disposable.com", "a@fake.com", "a@ALIAS.com", "a@mailinator.com"];
    const { body } = await post("/emails/validate", { emails }, as(secret));
    expect(Object.values(body.emails)).toEqual(
      ["disposable", "fake", "alias", "ok"].map((status) => ({ status })),
    );
    const domains = await post("/domains/validate", { domains: ["alias.com", "fake.com"] }, as(secret));
    expect(Object.values(domains.body.domains)).toEqual([{ status: "ok" }, { status: "fake" }]);
  });

  test("CORS for the origins that are named, and nothing for others", async () => {
    const preflight = (origin: string) =>
      request(`${service.url}/emails/validate`, {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": "POST" },
      });
    const named = await preflight("https://shop.larch-and-oak.com");
    expect(named.status).toBe(204);
    expect(named.headers.get("access-control-allow-origin")).toBe("https://shop.larch-and-oak.com");
    const other = await preflight("https://elsewhere.net");
    expect([...other.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    const answer = await post(
      "/emails/validate",
      { emails: [] },
      { origin: "https://shop.larch-and-oak.com" },
    );
    expect(answer.headers.get("access-control-allow-origin")).toBe("https://shop.larch-and-oak.com");
  });

  test("what watches it", async () => {
    expect((await request(`${service.url}/healthz`)).body).toEqual({ status: "ok" });
    expect((await request(`${service.url}/readyz`)).body).toEqual({ status: "ok" });
    const { body: document } = await request(`${service.url}/openapi.json`);
    expect(await new Validator().validate(document)).toEqual({ valid: true });
    expect(document.openapi).toBe("3.1.0");
    expect(Object.keys(document.paths)).toEqual([
      ...["/emails/validate", "/domains/validate", "/healthz", "/readyz", "/openapi.json", "/metrics"],
    ]);
    const { text: metrics } = await request(`${service.url}/metrics`);
    expect(metrics).toContain('idv_items_total{kind="email",status="disposable"}');
    expect(metrics).toContain("idv_quota_refusals_total");
  });
});

describe("keys", () => {
  test("are printed once, listed without their secrets, changed, rotated, revoked, at once", async () => {
    const secret = await createKey(home, "--limit", "5", "--expires", "2999-01-31");
    expect(secret).toMatch(/^sk_[0-9A-Za-z]{43}$/);
    const listed = await idv(["keys", "list", "--json"], { home });
    const keys = listed.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(listed.stdout).not.toContain(secret.slice(3));
    const { id, ...rest } = keys.at(-1);
    expect(rest).toMatchObject({
      name: "test",
      kind: "live",
      limit: 5,
      used: 0,
      expires: "2999-01-31T00:00:00.000Z",
    });
    const check = async (secret: string) =>
      (await post("/domains/validate", { domains: [] }, as(secret))).status;
    expect(await check(secret)).toBe(200);
    await idv(["keys", "set", id, "--limit", "0"], { home });
    expect(await check(secret)).toBe(429);
    await idv(["keys", "set", id, "--limit", "none"], { home });
    const rotated = (await idv(["keys", "rotate", id], { home })).stdout.trim();
    expect([await check(secret), await check(rotated)]).toEqual([401, 200]);
    await idv(["keys", "set", id, "--expires", "2020-01-01"], { home });
    expect(await check(rotated)).toBe(401);
    await idv(["keys", "set", id, "--expires", "never"], { home });
    expect(await check(rotated)).toBe(200);
    await idv(["keys", "revoke", id], { home });
    expect(await check(rotated)).toBe(401);
    expect(statSync(join(home, "state/idv/service.db")).mode & 0o777).toBe(0o600);
  });

  test.each<[string[], number, string]>([
    [
      ["create", "--name", "x", "--expires", "2027-02-31"],
      2,
      "option '--expires <DATE>' argument '2027-02-31' is invalid. It takes a date such as 2027-01-31, or never.",
    ],
    [["create"], 2, "keys create needs --name NAME"],
    [["set", "nobody", "--limit", "1"], 2, 'no key "nobody"; idv keys list shows those there are'],
    [
      ["create", "--name", "x", "--expires", "soon"],
      2,
      "option '--expires <DATE>' argument 'soon' is invalid. It takes a date such as 2027-01-31, or never.",
    ],
    [
      ["create", "--name", "x", "--permissions", "all"],
      2,
      "option '--permissions <LIST>' argument 'all' is invalid. \"all\" is no permission; those are emails, domains.",
    ],
  ])("%j is wrong", async (args, expected, message) => {
    const { code, stdout, stderr } = await idv(["keys", ...args], { home });
    expect({ code, stdout, stderr }).toEqual({ code: expected, stdout: "", stderr: `idv: ${message}\n` });
  });
});

describe("robust", () => {
  test("the log has what was asked for and no address and no key", async () => {
    await post("/emails/validate", { emails: ["somebody@larch-and-oak.com"] });
    await request(`${service.url}/emails/somebody@larch-and-oak.com?key=${key}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const lines = service
      .log()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toContainEqual(
      expect.objectContaining({ method: "POST", path: "/emails/validate", status: 200, items: 1 }),
    );
    expect(lines).toContainEqual(expect.objectContaining({ method: "GET", path: "unknown", status: 404 }));
    expect(service.log()).not.toContain("somebody");
    expect(service.log()).not.toContain(key.slice(3));
  });

  test("two servers share a quota exactly, and kill -9 loses no unit that was charged", async () => {
    const [a, b] = [await serve(home, "-q"), await serve(home, "-q")];
    const headers = as(await createKey(home, "--limit", "300"));
    const answered = async (url: string, from: number) => {
      let granted = 0;
      for (let i = from; i < from + 10; i++) {
        const domains = Array.from({ length: 20 }, (_, n) => `d${i}-${n}.com`);
        const { status, body } = await post("/domains/validate", { domains }, headers, url);
        if (status === 429) break;
        const statuses = Object.values<{ status: string }>(body.domains).map((result) => result.status);
        granted += statuses.filter((status) => status === "ok").length;
      }
      return granted;
    };
    const granted = await Promise.all([answered(a.url, 0), answered(b.url, 100)]);
    expect(granted[0]! + granted[1]!).toBe(300);
    a.child.kill("SIGKILL");
    await once(a.child, "exit");
    expect((await post("/domains/validate", { domains: ["x.com"] }, headers, b.url)).status).toBe(429);
  });

  test("SIGTERM ends it in order, while a slow client is still talking", async () => {
    const { child, url } = await serve(home, "-q");
    const { hostname, port } = new URL(url);
    const slow = connect(Number(port), hostname);
    slow.on("error", () => {});
    await once(slow, "connect");
    slow.write("POST /emails/validate HTTP/1.1\r\nHost: x\r\n");
    child.kill("SIGTERM");
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
    slow.destroy();
  }, 15_000);

  test("a port that is taken, and a host that is not this machine's", async () => {
    const { port } = new URL(service.url);
    const taken = await idv(["serve", "--port", port], { home });
    expect(taken).toMatchObject({
      code: 2,
      stderr: `idv: cannot listen on 127.0.0.1:${port}: something else does already; choose another --port\n`,
    });
    const open = await serve(home, "--host", "0.0.0.0", "-q");
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(open.said()).toContain("put TLS in front");
    open.child.kill("SIGTERM");
    await once(open.child, "exit");
  });
});

test("a state file of one's own", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "mine.db");
  await idv(["keys", "create", "--name", "x", "--state", path]);
  expect(existsSync(path)).toBe(true);
});
