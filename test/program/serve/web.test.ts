/** Covers the service for web developers: one item by GET, a table by POST, the index, and codes of errors. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { idv } from "../../support/run-idv.js";
import { createKey, post, request, type Service, serve } from "../../support/service.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const home = temporaryFolder();
const service: Service = await serve(home, "-q", "--max-list-bytes", "1M");
const key = await createKey(home, { limit: 1000 });
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
const get = (path: string, headers: Record<string, string> = bearer(key)) =>
  request(`${service.url}${path}`, { headers });
const used = async (secret = key) => {
  const { usage } = (await get("/usage", bearer(secret))).body;
  return usage.reduce((sum: number, { units }: { units: number }) => sum + units, 0);
};

describe("one item by GET", () => {
  test("gets its verdict with all that is known, for one unit", async () => {
    const before = await used();
    const { status, body } = await get("/emails/check?address=Grace.Lee%2Bnews@gmial.com");
    expect([status, body]).toEqual([
      200,
      {
        address: "Grace.Lee+news@gmial.com",
        status: "fake",
        reason: "typo-domain: gmial.com",
        suggestion: "Grace.Lee+news@gmail.com",
        canonical: "grace.lee+news@gmial.com",
        flags: [],
      },
    ]);
    expect((await get("/domains/check?domain=mailinator.com")).body).toMatchObject({
      domain: "mailinator.com",
      status: "disposable",
      suggestion: null,
    });
    expect((await used()) - before).toBe(2);
  });

  test("costs its unit once with an Idempotency-Key, and follows the rules of a POST", async () => {
    const before = await used();
    const once = { ...bearer(key), "idempotency-key": "check-1" };
    await get("/emails/check?address=a@larch-and-oak.com", once);
    expect((await get("/emails/check?address=a@larch-and-oak.com", once)).status).toBe(200);
    expect(await get("/emails/check?address=b@larch-and-oak.com", once)).toMatchObject({
      status: 422,
      body: { code: "idempotency_key_reused" },
    });
    await get("/emails/check?address=larch-and-oak.com", { ...once, "idempotency-key": "check-2" });
    expect(
      await get("/domains/check?domain=larch-and-oak.com", { ...once, "idempotency-key": "check-2" }),
    ).toMatchObject({ status: 422, body: { code: "idempotency_key_reused" } });
    expect((await used()) - before).toBe(2);
    const empty = await createKey(home, { limit: 0 });
    const domains = await createKey(home, { permissions: ["domains"] });
    const cases: [path: string, headers: Record<string, string>, status: number, code: string | undefined][] =
      [
        ["/emails/check", bearer(key), 400, "invalid_request"],
        ["/emails/check?address=a&address=b", bearer(key), 400, "invalid_request"],
        [`/emails/check?address=${"a".repeat(1001)}`, bearer(key), 400, "invalid_request"],
        ["/emails/check?address=a@b.c", {}, 401, undefined],
        ["/emails/check?address=a@b.c", bearer(domains), 403, "not_permitted"],
        ["/emails/check?address=a@b.c", bearer(empty), 429, "quota_exhausted"],
        ["/email/check", bearer(key), 404, "not_found"],
        ["/emails/validate", bearer(key), 405, "method_not_allowed"],
      ];
    for (const [path, headers, status, code] of cases) {
      const answer = await get(path, headers);
      expect([answer.status, answer.body.code], path).toEqual([status, code]);
    }
    // The interface document gives it one field.
    expect((await get("/emails/check?address=a@b.c", {})).body).toEqual({ message: "Unauthorized." });
  });
});

test("the index names every path, and an unknown one names the index", async () => {
  const { body } = await get("/", {});
  expect(body).toMatchObject({ service: "idv", document: "/openapi.json" });
  const { paths } = (await get("/openapi.json", {})).body;
  const operations = Object.entries(paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => method !== "head")
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(Object.keys(body.paths).sort()).toEqual(operations.sort());
  expect(body.paths["GET /emails/check"]).toContain("Validates an e-mail address");
  expect((await get("/v1/emails", {})).body.message).toBe("No such path; GET / names those that there are.");
});

describe("a table by POST", () => {
  const send = (table: string, query = "", headers: Record<string, string> = {}) =>
    fetch(`${service.url}/emails/validate${query}`, {
      method: "POST",
      headers: { ...bearer(key), "content-type": "text/csv; charset=utf-8", ...headers },
      body: table,
    });
  const table = "id;mail\r\n1;ann@larch-and-oak.com\r\n2;x@mailinator.com\r\n3;bob.smith@gmial.com\r\n";

  test("comes back as the command line writes it, and no list stays", async () => {
    const before = await used();
    const answer = await send(table, "?explain=true");
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
    writeFileSync(join(home, "list.csv"), table);
    await idv(["emails", "list.csv", "--offline", "-q", "--explain", "-o", "out.csv"], { home });
    expect(await answer.text()).toBe(readFileSync(join(home, "out.csv"), "utf8"));
    expect((await used()) - before).toBe(3);
    await expect.poll(async () => (await get("/lists")).body.lists).toEqual([]);
    const domains = await fetch(`${service.url}/domains/validate?drop=disposable,empty`, {
      method: "POST",
      headers: { ...bearer(key), "content-type": "text/csv" },
      body: "domain,n\nmailinator.com,1\nlarch-and-oak.com,2\n,3\n",
    });
    expect(await domains.text()).toBe("domain,n,status\nlarch-and-oak.com,2,ok\n");
  });

  test("costs its units once with an Idempotency-Key", async () => {
    const before = await used();
    const once = { "idempotency-key": "table-1" };
    const first = await (await send(table, "", once)).text();
    expect(await (await send(table, "", once)).text()).toBe(first);
    expect((await send(`${table}4;y@z.com\r\n`, "", once)).status).toBe(422);
    expect((await used()) - before).toBe(3);
  });

  test("gets quota_exceeded rows, or 429 without units, and faults come before the first byte", async () => {
    const few = await createKey(home, { limit: 2 });
    expect(await (await send(table, "", bearer(few))).text()).toContain(
      "3;bob.smith@gmial.com;quota_exceeded\r\n",
    );
    const cases: [answer: Response, status: number, code: string, message: string][] = [
      [await send(table, "", bearer(few)), 429, "quota_exhausted", "No validations are left."],
      [await send("a,b\n1,2\n"), 400, "invalid_request", "no column looks like e-mail addresses"],
      [await send(""), 400, "invalid_request", "The list is empty."],
      [await send(table, "?drop=good"), 400, "invalid_request", "drop: takes statuses"],
    ];
    for (const [answer, status, code, message] of cases) {
      const body = (await answer.json()) as { message: string; code: string };
      expect([answer.status, body.code, body.message]).toEqual([
        status,
        code,
        expect.stringContaining(message),
      ]);
    }
    // JSON at the same path stays as it was.
    const json = await post(`${service.url}/emails/validate`, key, { emails: ["x@mailinator.com"] });
    expect(json.body).toEqual({ emails: { "x@mailinator.com": { status: "disposable" } } });
    const xml = await send(table, "", { "content-type": "application/xml" });
    expect([xml.status, ((await xml.json()) as { code: string }).code]).toEqual([
      415,
      "unsupported_media_type",
    ]);
  });
});
