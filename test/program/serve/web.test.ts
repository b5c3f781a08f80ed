/** Covers the service for web developers: one item by GET, the index, and codes of errors. */
import { describe, expect, test } from "vitest";
import { createKey, request, type Service, serve } from "../../support/service.js";
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
    expect(status).toBe(200);
    expect(body).toEqual({
      ...{ address: "Grace.Lee+news@gmial.com", status: "fake", reason: "typo-domain: gmial.com" },
      ...{ suggestion: "Grace.Lee+news@gmail.com", canonical: "grace.lee+news@gmial.com", flags: [] },
    });
    const { body: found } = await get("/domains/check?domain=mailinator.com");
    expect(found).toMatchObject({ domain: "mailinator.com", status: "disposable", suggestion: null });
    expect((await used()) - before).toBe(2);
  });

  test("costs its unit once with an Idempotency-Key, and follows the rules of a POST", async () => {
    const before = await used();
    const once = { ...bearer(key), "idempotency-key": "check-1" };
    await get("/emails/check?address=a@larch-and-oak.com", once);
    expect((await get("/emails/check?address=a@larch-and-oak.com", once)).status).toBe(200);
    const reused = { status: 422, body: { code: "idempotency_key_reused" } };
    expect(await get("/emails/check?address=b@larch-and-oak.com", once)).toMatchObject(reused);
    const second = { ...once, "idempotency-key": "check-2" };
    await get("/emails/check?address=larch-and-oak.com", second);
    expect(await get("/domains/check?domain=larch-and-oak.com", second)).toMatchObject(reused);
    expect((await used()) - before).toBe(2);
    const empty = await createKey(home, { limit: 0 });
    const domains = await createKey(home, { permissions: ["domains"] });
    const cases: [path: string, headers: Record<string, string>, status: number, code: string | undefined][] = [
      ["/emails/check", bearer(key), 400, "invalid_request"],
      ["/emails/check?address=a&address=b", bearer(key), 400, "invalid_request"],
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
    expect((await get("/emails/check?address=a@b.c", {})).body).toEqual({
      message: "Unauthorized: send the key as Authorization: Bearer KEY.",
    });
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
  const page = await fetch(`${service.url}/`, { headers: { accept: "text/html,*/*;q=0.8" } });
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page.headers.get("vary")).toBe("Accept");
  const text = await page.text();
  for (const path of operations) expect(text).toContain(`<code>${path}</code>`);
  expect((await get("/v1/emails", {})).body.message).toBe("No such path; GET / names those that there are.");
});
