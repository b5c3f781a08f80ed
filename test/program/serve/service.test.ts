/** Covers idv serve and idv keys: the interface document, the points it leaves open, keys and robustness. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Validator } from "@seriousme/openapi-schema-validator";
import { beforeAll, describe, expect, test } from "vitest";
import { errorBody } from "../../../src/server/service/error-codes.js";
import { noSuchPath } from "../../../src/server/service/refusals.js";
import { endedBy, talk } from "../../support/processes.js";
import { idv } from "../../support/run-idv.js";
import { createKey, lastKey, post as postTo, request, type Service, serve } from "../../support/service.js";
import { jsonLines, jsonOf } from "../../support/states.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const home = temporaryFolder();
let service: Service;
let key: string;
beforeAll(async () => {
  service = await serve(home, "--max-items", "50", "--cors-origin", "https://shop.larch-and-oak.com");
  key = await createKey(home);
});

/** Posts a body to the service; a string is sent unchanged. */
const post = (path: string, body: unknown, headers: Record<string, string> = {}, url = service.url) =>
  postTo(`${url}${path}`, key, body, headers);
/** Creates a key with `idv keys create` and returns its secret. */
const createByCommand = async (...args: string[]) => (await idv(["keys", "create", ...args], { home })).stdout.trim();
const as = (secret: string) => ({ authorization: `Bearer ${secret}` });
const statusesIn = (results: Record<string, { status: string }>) => Object.values(results).map(({ status }) => status);

describe("the interface document", () => {
  test("returns each address once, in the order of submission", async () => {
    const [first, ...others] = ["x@mailinator.com", "ann+x@larch-and-oak.com", "a..b@c.net", "ann@larch-and-oak.com"];
    const { status, text, headers } = await post("/emails/validate", { emails: [first, ...others, first] });
    expect([status, headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
    expect(text).toBe(
      '{"emails":{"x@mailinator.com":{"status":"disposable"},"ann+x@larch-and-oak.com":{"status":"alias"},' +
        '"a..b@c.net":{"status":"fake"},"ann@larch-and-oak.com":{"status":"ok"}}}',
    );
  });

  test("returns the statuses of domains", async () => {
    const { body } = await post("/domains/validate", { domains: ["mailinator.com", "gmial.com", "duck.com"] });
    expect(body).toEqual({
      domains: {
        "mailinator.com": { status: "disposable" },
        "gmial.com": { status: "fake" },
        "duck.com": { status: "ok" },
      },
    });
  });

  test("grants a part of a request as the quota ends, then answers 429", async () => {
    const headers = as(await createKey(home, { limit: 3, period: "month" }));
    const domains = ["a.com", "a.com", "b.com", "c.com", "d.com"];
    const first = await post("/domains/validate", { domains }, headers);
    expect(statusesIn(first.body.domains)).toEqual(["ok", "ok", "ok", "quota_exceeded"]);
    expect(first.headers.get("ratelimit-policy")).toBe('"validations";q=3;w=2592000');
    expect(first.headers.get("ratelimit")).toMatch(/^"validations";r=0;t=\d+$/);
    const second = await post("/emails/validate", { emails: ["ann@larch-and-oak.com"] }, headers);
    expect(second).toMatchObject({ status: 429, body: { message: "No validations are left." } });
    expect(Number(second.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(second.headers.get("ratelimit")).toMatch(/^"validations";r=0;t=\d+$/);
  });

  test("sends no Retry-After for a quota that never renews", async () => {
    const headers = as(await createKey(home, { limit: 0 }));
    const { status, headers: sent } = await post("/domains/validate", { domains: ["a.com"] }, headers);
    expect([status, sent.get("retry-after"), sent.get("ratelimit")]).toEqual([429, null, '"validations";r=0']);
  });

  const how = "Unauthorized: send the key as Authorization: Bearer KEY.";
  test.each<[string, Record<string, string>, string]>([
    ["missing", { authorization: "" }, how],
    ["malformed", { authorization: "Basic eDp5" }, how],
    ["without its scheme", { authorization: "sk_0000000000000000000000000000000000000000000" }, how],
    ["unknown", as("sk_0000000000000000000000000000000000000000000"), "Unauthorized."],
    ["overlong", as("x".repeat(300)), "Unauthorized."],
  ])("rejects a key that is %s", async (_, headers, message) => {
    const answer = await post("/emails/validate", { emails: ["a@b.net"] }, headers);
    expect(answer).toMatchObject({ status: 401, text: JSON.stringify({ message }) });
  });
});

describe("points that the interface document leaves open", () => {
  const notJson = "The body is not valid JSON in UTF-8.";
  const nested = `{"emails":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;
  const fields = "there are emails, domains, explain, flags, canonical.";
  const noParameter = 'There is no parameter "explain": this request takes none.';
  const tooLarge = "Body too large: at most 201174 bytes. Items per request: at most 50.";
  test.each<[what: string, given: unknown, message: string, path?: string | undefined, status?: number]>([
    ["the field of the other operation", { domains: ["a.com"] }, "The field emails is missing."],
    ["a body that is not JSON", "{", notJson],
    ["a body that is not UTF-8", Buffer.from('{"emails":["\xff"]}', "latin1"), notJson],
    ["an empty body", "", notJson],
    ["a body that is not an object", [], "The body must be a JSON object."],
    ["a field that is not an array", { emails: "a@b.net" }, "emails must be an array of strings."],
    ["an option that is no boolean", { emails: [], explain: "yes" }, "explain must be true or false."],
    ["an item that is not a string", { domains: ["a.com", 1] }, "domains[1] must be a string.", "/domains/validate"],
    ["deeply nested JSON", nested, "The body has more than 100 arrays and objects."],
    ["a misspelt member", { emails: [], explian: true }, 'There is no field "explian"; did you mean explain?'],
    ["misspelt items", { domians: [""] }, 'There is no field "domians"; did you mean domains?', "/domains/validate"],
    ["an unknown member", { emails: [], priority: 1 }, `There is no field "priority"; ${fields}`],
    ["parameters in place of members", { emails: ["a@b.net"] }, noParameter, "/emails/validate?explain=true"],
    [
      "too many items",
      { emails: Array(51).fill("a@b.net") },
      "Too many items: at most 50 per request.",
      undefined,
      413,
    ],
    ["a body that is too large", { emails: ["x".repeat(300_000)] }, tooLarge, undefined, 413],
    ["an unknown path", {}, noSuchPath.message, "/emails", 404],
    ["an unknown path before it reads the body", "{", noSuchPath.message, "/nope", 404],
  ])("rejects %s", async (_, given, message, path = "/emails/validate", expected = 400) => {
    const { status, body } = await post(path, given);
    expect({ status, body }).toEqual({ status: expected, body: errorBody(expected, message) });
  });

  test("rejects other content types and methods, before it reads the body", async () => {
    expect((await post("/emails/validate", "a=b", { "content-type": "text/plain" })).status).toBe(415);
    const refusal = errorBody(405, "Method not allowed; use POST.");
    for (const [kind, init] of [["emails"], ["domains", { method: "PUT", body: "{" }]] as const) {
      const { status, headers, body } = await request(`${service.url}/${kind}/validate`, init);
      expect([status, headers.get("allow"), body]).toEqual([405, "POST", refusal]);
    }
    expect(await request(`${service.url}/%zz`)).toMatchObject({ status: 404, text: JSON.stringify(noSuchPath) });
  });

  test("takes the fields of both operations, as an example of the interface document has them", async () => {
    const { body } = await post("/emails/validate", { emails: ["a@larch-and-oak.com"], domains: 1 });
    expect(body).toEqual({ emails: { "a@larch-and-oak.com": { status: "ok" } } });
  });

  test("accepts an empty list", async () => {
    expect((await post("/emails/validate", { emails: [] })).text).toBe('{"emails":{}}');
  });

  test("accepts any string as an item", async () => {
    const domains = ["__proto__", "constructor", "", 'a"b', "ü.de", "\u0000"];
    const { body } = await post("/domains/validate", { domains });
    expect(Object.keys(body.domains)).toEqual(domains);
  });

  test("limits a key to its permissions", async () => {
    const headers = as(await createKey(home, { permissions: ["domains"] }));
    expect((await post("/domains/validate", { domains: ["a.com"] }, headers)).status).toBe(200);
    const refusal = { status: 403, body: errorBody(403, "This key may not validate emails.") };
    expect(await post("/emails/validate", { emails: [] }, headers)).toMatchObject(refusal);
  });

  test("charges an Idempotency-Key once", async () => {
    const secret = await createKey(home, { limit: 3 });
    const headers = { ...as(secret), "idempotency-key": "batch-1" };
    const body = { domains: ["a.com", "mailinator.com"] };
    const first = await post("/domains/validate", body, headers);
    const again = await post("/domains/validate", body, headers);
    expect(again.text).toBe(first.text);
    expect(again.headers.get("ratelimit")).toBe('"validations";r=1');
    const reused = errorBody(422, "This Idempotency-Key was already used with a different body.");
    const other = await post("/domains/validate", { domains: ["a.com"] }, headers);
    expect(other).toMatchObject({ status: 422, body: reused });
    await post("/domains/validate", { domains: ["c.com"] }, as(secret));
    // The stored answer is returned although no unit is left.
    expect((await post("/domains/validate", body, headers)).text).toBe(first.text);
    const fresh = { ...headers, "idempotency-key": "batch-2" };
    expect((await post("/domains/validate", body, fresh)).status).toBe(429);
    const long = { ...headers, "idempotency-key": "x".repeat(256) };
    expect((await post("/domains/validate", body, long)).status).toBe(400);
  });

  test("binds an Idempotency-Key to one operation", async () => {
    const headers = { ...as(await createKey(home, { limit: 9 })), "idempotency-key": "both" };
    const body = { emails: ["ann+x@larch-and-oak.com"], domains: ["a.com", "b.com"] };
    expect((await post("/emails/validate", body, headers)).status).toBe(200);
    expect((await post("/domains/validate", body, headers)).status).toBe(422);
  });

  test("gives sandbox keys statuses by name, without a charge", async () => {
    const secret = await createByCommand("--name", "sandbox", "--sandbox", "--limit", "0");
    expect(secret).toMatch(/^sk_test_[0-9A-Za-z]{43}$/);
    const emails = ["a@disposable.com", "a@fake.com", "a@ALIAS.com", "a@mailinator.com"];
    const { body } = await post("/emails/validate", { emails }, as(secret));
    expect(Object.values(body.emails)).toEqual(["disposable", "fake", "alias", "ok"].map((status) => ({ status })));
    const domains = await post("/domains/validate", { domains: ["alias.com", "fake.com"] }, as(secret));
    expect(Object.values(domains.body.domains)).toEqual([{ status: "ok" }, { status: "fake" }]);
  });

  test("calls an item fake that is longer than any address, and goes on with the batch", async () => {
    const long = `${"x".repeat(100_000)}@b.net`;
    const { status, body } = await post("/emails/validate", { emails: [long, "ann@larch-and-oak.com"], explain: true });
    expect(status).toBe(200);
    expect(body.emails[long]).toMatchObject({ status: "fake", reason: expect.stringContaining("syntax: ") });
    expect(body.emails["ann@larch-and-oak.com"].status).toBe("ok");
  });

  test("refuses a request with several Host fields, and one without", async () => {
    const answer = (fields: string) =>
      talk(service.url, `GET /healthz HTTP/1.1\r\n${fields}Connection: close\r\n\r\n`, (socket) => socket.end());
    expect(await answer("Host: a\r\nHost: b\r\n")).toMatch(/^HTTP\/1\.1 400 .*several Host fields/s);
    expect(await answer("Host: a\r\nhost: a\r\n")).toMatch(/^HTTP\/1\.1 400 /);
    expect(await answer("")).toMatch(/^HTTP\/1\.1 400 .*Host field is missing/s);
    expect(await answer("Host: a\r\n")).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("allows CORS for the configured origins only", async () => {
    const preflight = (origin: string) => {
      const headers = { origin, "access-control-request-method": "POST" };
      return request(`${service.url}/emails/validate`, { method: "OPTIONS", headers });
    };
    const origin = "https://shop.larch-and-oak.com";
    const { status, headers } = await preflight(origin);
    const [allowed, age] = ["allow-origin", "max-age"].map((name) => headers.get(`access-control-${name}`));
    expect([status, allowed, age]).toEqual([204, origin, "7200"]);
    const other = await preflight("https://elsewhere.net");
    expect([...other.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect([other.status, other.headers.get("allow")]).toEqual([405, "POST"]);
    const answer = await post("/emails/validate", { emails: [] }, { origin });
    expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
  });

  test("serves health checks, the OpenAPI document and metrics", async () => {
    for (const path of ["/healthz", "/readyz"]) {
      expect((await request(service.url + path)).body).toEqual({ status: "ok" });
    }
    const { body: document } = await request(`${service.url}/openapi.json`);
    expect(await new Validator().validate(document)).toEqual({ valid: true });
    expect(document.openapi).toBe("3.1.0");
    expect(Object.keys(document.paths)).toEqual([
      ...["/emails/check", "/emails/validate", "/domains/check", "/domains/validate"],
      ...["/emails/bigquery", "/emails/snowflake", "/domains/bigquery", "/domains/snowflake"],
      ...["/lists", "/lists/{id}", "/lists/{id}/run"],
      ...["/lists/{id}/result", "/lists/{id}/report", "/usage"],
      ...["/healthz", "/readyz", "/openapi.json", "/", "/metrics"],
    ]);
    const { text: metrics } = await request(`${service.url}/metrics`);
    expect(metrics).toContain('idv_items_total{kind="email",status="disposable"}');
    expect(metrics).toContain("idv_quota_refusals_total");
  });
});

describe("keys", () => {
  test("appear in lists without secrets; changes, rotation and revocation apply at once", async () => {
    const secret = await createByCommand("--name", "test", "--limit", "5", "--expires", "2999-01-31");
    expect(secret).toMatch(/^sk_[0-9A-Za-z]{43}$/);
    const listed = await idv(["keys", "list", "--json"], { home });
    expect(listed.stdout).not.toContain(secret.slice(3));
    const { id, ...rest } = jsonLines(listed.stdout).at(-1);
    expect(rest).toMatchObject({ name: "test", kind: "live", limit: 5, used: 0, expires: "2999-01-31T00:00:00.000Z" });
    const check = async (secret: string) => (await post("/domains/validate", { domains: [] }, as(secret))).status;
    expect(await check(secret)).toBe(200);
    await idv(["keys", "set", id, "--limit", "0"], { home });
    expect(await check(secret)).toBe(429);
    await idv(["keys", "set", id, "--limit", "none"], { home });
    const rotated = (await idv(["keys", "rotate", id], { home })).stdout.trim();
    expect([await check(secret), await check(rotated)]).toEqual([401, 200]);
    // As short as the start of the command allows.
    const soon = new Date(Date.now() + 3000).toISOString();
    expect((await idv(["keys", "set", id, "--expires", soon], { home })).code).toBe(0);
    await expect.poll(() => check(rotated), { interval: 200 }).toBe(401);
    expect((await jsonOf(["keys", "list"], { home })).at(-1)).toMatchObject({ id, state: "expired" });
    await idv(["keys", "set", id, "--expires", "never"], { home });
    expect(await check(rotated)).toBe(200);
    await idv(["keys", "revoke", id], { home });
    expect(await check(rotated)).toBe(401);
    expect(statSync(join(home, "state/idv/service.db")).mode & 0o777).toBe(0o600);
  });

  const aDate = "It takes a date such as 2027-01-31, or never.";
  const past = "It is in the past; idv keys revoke ends a key at once.";
  test.each([
    ["create --name x --expires 2027-02-31", `--expires: "2027-02-31" is invalid. ${aDate}`],
    ["create", "keys create needs --name NAME"],
    ["set nobody --limit 1", 'no key "nobody"; run idv keys list to see all keys'],
    [`revoke sk_${"x".repeat(43)}`, "that is a secret, not the id of a key; run idv keys list to see all keys"],
    ["create --name x --expires 2020-01-01", `--expires: "2020-01-01" is invalid. ${past}`],
    ["create --name x --expires soon", `--expires: "soon" is invalid. ${aDate}`],
    ["create --name x --permissions all", '--permissions: "all" is invalid. It takes emails, domains, or both.'],
  ])("%s is rejected", async (command, message) => {
    const outcome = await idv(["keys", ...command.split(" ")], { home });
    expect(outcome).toEqual({ code: 2, stdout: "", stderr: `idv: ${message}\n` });
  });
});

describe("robustness", () => {
  /** Whole lines of the log so far. */
  const entries = () => jsonLines(service.log().replace(/[^\n]*$/, ""));

  test("logs requests without addresses and keys", async () => {
    await post("/emails/validate", { emails: ["somebody@larch-and-oak.com"] });
    await request(`${service.url}/emails/somebody@larch-and-oak.com?key=${key}`);
    await expect.poll(() => entries().at(-1)).toMatchObject({ method: "GET", path: "unknown", status: 404 });
    const posted = { method: "POST", path: "/emails/validate", status: 200, items: 1 };
    expect(entries()).toContainEqual(expect.objectContaining(posted));
    expect(service.log()).not.toContain("somebody");
    expect(service.log()).not.toContain(key.slice(3));
  });

  test("a request is found in the log by its id, its key and its trace", async () => {
    const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const given = await post("/domains/validate", { domains: [] }, { "x-request-id": "a-1", traceparent: trace });
    expect(given.headers.get("x-request-id")).toBe("a-1");
    const { id } = await lastKey(home);
    await expect
      .poll(() => entries().find(({ reqId }) => reqId === "a-1"))
      .toMatchObject({ key: expect.any(String), traceId: trace.slice(3, 35), parentId: trace.slice(36, 52) });
    expect(id).toHaveLength(9);
    // Ids that could confuse readers of the log are replaced.
    const strange = await post("/domains/validate", { domains: [] }, { "x-request-id": 'a"b c' });
    expect(strange.headers.get("x-request-id")).toMatch(/^[\da-f-]{36}$/);
    const page = await fetch(`${service.url}/dashboard`, { headers: { "x-request-id": "page-1" } });
    expect([page.status, page.headers.get("x-request-id")]).toEqual([401, "page-1"]);
    await expect
      .poll(() => entries().find(({ reqId }) => reqId === "page-1"))
      .toMatchObject({ method: "GET", path: "/dashboard", status: 401 });
  });

  test("tells metrics of the process, the state and the keys", async () => {
    const limited = await createKey(home, { limit: 4 });
    await post("/domains/validate", { domains: ["x.com"] }, as(limited));
    const { id } = await lastKey(home);
    const { text } = await request(`${service.url}/metrics`);
    for (const line of [
      `idv_key_units_left{key="${id}"} 3`,
      `idv_key_units_limit{key="${id}"} 4`,
      'idv_store_duration_seconds_count{operation="find"} ',
      'idv_store_duration_seconds_count{operation="charge"} ',
      'idv_build_info{version="',
      "nodejs_eventloop_lag_p99_seconds ",
      "process_resident_memory_bytes ",
      "nodejs_heap_size_used_bytes ",
    ]) {
      expect(text).toContain(`\n${line}`);
    }
  });

  test("challenges clients without a key, and names the error to those with a wrong one", async () => {
    const challenge = async (headers: Record<string, string>) =>
      (await request(`${service.url}/emails/validate`, { method: "POST", headers })).headers.get("www-authenticate");
    expect(await challenge({})).toBe('Bearer realm="idv"');
    for (const authorization of ["Bearer no key", `Bearer sk_${"A".repeat(43)}`, "Basic eDp4"]) {
      expect(await challenge({ authorization })).toBe('Bearer realm="idv", error="invalid_token"');
    }
  });

  test("refuses a compressed body, and says which encodings it takes", async () => {
    const body = gzipSync('{"domains":[]}');
    const answer = await post("/domains/validate", body, { "content-encoding": "gzip" });
    expect([answer.status, answer.headers.get("accept-encoding")]).toEqual([415, "identity"]);
    expect((await post("/domains/validate", { domains: [] }, { "content-encoding": "identity" })).status).toBe(200);
  });

  test("shares a quota exactly between two servers, and kill -9 loses no charged unit", async () => {
    const [a, b] = [await serve(home, "-q"), await serve(home, "-q")];
    const headers = as(await createKey(home, { limit: 300 }));
    const answered = async (url: string, from: number) => {
      let granted = 0;
      for (let i = from; i < from + 10; i++) {
        const domains = Array.from({ length: 20 }, (_, n) => `d${i}-${n}.com`);
        const { status, body } = await post("/domains/validate", { domains }, headers, url);
        if (status === 429) break;
        granted += statusesIn(body.domains).filter((status) => status === "ok").length;
      }
      return granted;
    };
    const granted = await Promise.all([answered(a.url, 0), answered(b.url, 100)]);
    expect(granted[0]! + granted[1]!).toBe(300);
    await a.kill();
    expect((await post("/domains/validate", { domains: ["x.com"] }, headers, b.url)).status).toBe(429);
  });

  test("warns about a public host, and exits with 0 on SIGTERM while a slow client is connected", async () => {
    const { child, url, said } = await serve(home, "--host", "0.0.0.0", "-q");
    await expect.poll(said).toContain("put TLS in front");
    const connected = new Promise((resolve) => {
      void talk(url, "POST /emails/validate HTTP/1.1\r\nHost: x\r\n", (slow) => slow.once("connect", resolve));
    });
    await connected;
    expect(await endedBy(child, "SIGTERM")).toEqual([0, null]);
  });

  test("rejects a port in use", async () => {
    const { host, port } = new URL(service.url);
    const taken = await idv(["serve", "--port", port], { home });
    const stderr = `idv: cannot listen on ${host}: the port is in use; choose another --port\n`;
    expect(taken).toMatchObject({ code: 2, stderr });
  });
});

test("--state names the state file", async () => {
  const path = join(temporaryFolder(), "mine.db");
  await idv(["keys", "create", "--name", "x", "--state", path]);
  expect(existsSync(path)).toBe(true);
});

test("the lists of idv allow and idv deny count for the service, too", async () => {
  const home = temporaryFolder();
  await idv(["allow", "add", "mailinator.com"], { home });
  await idv(["deny", "add", "larch-and-oak.com"], { home });
  const [{ url }, key] = [await serve(home, "-q"), await createKey(home, { limit: 9 })];
  const domains = ["mailinator.com", "larch-and-oak.com"];
  const { body } = await postTo(`${url}/domains/validate`, key, { domains, explain: true });
  expect(Object.values(body.domains!)).toEqual([
    { status: "ok", reason: "allow-list: mailinator.com", suggestion: null },
    { status: "disposable", reason: "deny-list: larch-and-oak.com", suggestion: null },
  ]);
});
