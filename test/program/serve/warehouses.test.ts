/** Covers the functions in SQL of BigQuery and Snowflake, by the bodies that their documents show. */
import { beforeAll, describe, expect, test } from "vitest";
import { createKey, type Service, serve } from "../../support/service.js";
import { jsonOf } from "../../support/states.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const home = temporaryFolder();
let service: Service;
beforeAll(async () => {
  service = await serve(home, "-q");
});

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(service.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}
const used = async (name: string) =>
  (await jsonOf(["keys", "list"], { home })).find((key: { name: string }) => key.name === name).used;

/** As in "Input format" of the page on remote functions. */
const bigQuery = (key: string | undefined, calls: unknown, requestId = "124ab1c") => ({
  requestId,
  caller: "//bigquery.googleapis.com/projects/myproject/jobs/myproject:US.bquxjob_5b4c112c_17961fafeaf",
  sessionUser: "test-user@test-company.com",
  userDefinedContext: { idv_key: key, key2: "value2" },
  calls,
});

/** As in "Body format" of the page on data formats. */
const snowflake = (key: string, batch = "01abc:0") => ({
  "sf-custom-idv-key": key,
  "sf-external-function-format": "json",
  "sf-external-function-format-version": "1.0",
  "sf-external-function-current-query-id": "01abc",
  "sf-external-function-query-batch-id": batch,
});

describe("a remote function of BigQuery", () => {
  test("gives a status for each call, and null for NULL; repeated items and requests cost nothing", async () => {
    const key = await createKey(home, { name: "bigquery", limit: 4 });
    const calls = [["ann@larch-and-oak.com"], ["x@mailinator.com"], [null], ["ann@larch-and-oak.com"], ["x@@"]];
    const replies = ["ok", "disposable", null, "ok", "fake"];
    for (const _ of ["first", "repeated"]) {
      expect(await post("/emails/bigquery", bigQuery(key, calls))).toEqual({ status: 200, body: { replies } });
    }
    expect(await used("bigquery")).toBe(3);
    // The id of another query, and one that comes again with other rows.
    const more = [["mailinator.com"], ["b.com"]];
    const some = { replies: ["disposable", "quota_exceeded"] };
    expect((await post("/domains/bigquery", bigQuery(key, more, "next"))).body).toEqual(some);
    const none = { replies: ["quota_exceeded"] };
    expect(await post("/emails/bigquery", bigQuery(key, [["bob@larch-and-oak.com"]]))).toEqual({
      status: 200,
      body: none,
    });
    // What was answered once is answered again, though no unit is left.
    expect((await post("/emails/bigquery", bigQuery(key, calls))).body).toEqual({ replies });
    expect(await used("bigquery")).toBe(4);
  });

  test("takes rows as tables do: blanks and other case cost nothing, and nothing is an item in an empty row", async () => {
    const key = await createKey(home, { name: "rows", limit: 10 });
    const calls = [
      [" ann@larch-and-oak.com "],
      ["Ann@Larch-and-Oak.com"],
      [""],
      ["  "],
      ["Ann <ann@larch-and-oak.com>"],
      ["n/a"],
    ];
    const replies = ["ok", "ok", null, null, "ok", null];
    expect((await post("/emails/bigquery", bigQuery(key, calls))).body).toEqual({ replies });
    const urls = [["https://www.mailinator.com/x"], ["WWW.mailinator.com"], ["ann@mailinator.com"]];
    const domains = { replies: ["disposable", "disposable", "disposable"] };
    expect((await post("/domains/bigquery", bigQuery(key, urls, "next"))).body).toEqual(domains);
    expect(await used("rows")).toBe(3);
  });

  test.each([
    [undefined, [["a@b.net"]], 401, "Bearer KEY."],
    ["sk_guess", [["a@b.net"]], 401, "Unauthorized."],
    ["own", [["a@b.net", "c@d.net"]], 400, "calls"],
    ["own", [["a@b.net"], [7]], 400, "calls"],
    ["own", "a@b.net", 400, "calls"],
    ["own", Array(1001).fill(["a@b.net"]), 413, "at most 1000 per request"],
  ])("with the key %s and the calls %.30j is refused with %d %d", async (name, calls, status, text) => {
    const key = name === "own" ? await createKey(home) : name;
    const response = await post("/emails/bigquery", bigQuery(key, calls));
    expect([response.status, JSON.stringify(response.body)]).toEqual([status, expect.stringContaining(text)]);
  });

  test("takes as many rows as a request may have items, in long texts too", async () => {
    const key = await createKey(home);
    const calls = Array.from({ length: 1000 }, (_, i) => [`${"n".repeat(60)}${i}@larch-and-oak.com`]);
    const { status, body } = await post("/emails/bigquery", bigQuery(key, calls));
    expect([status, body.replies.length, new Set(body.replies)]).toEqual([200, 1000, new Set(["ok"])]);
  });
});

describe("an external function of Snowflake", () => {
  test("gives the rows their numbers and statuses; a batch that is sent again costs nothing", async () => {
    const key = await createKey(home, { name: "snowflake" });
    const data = [
      [0, "ann+x@larch-and-oak.com"],
      [1, null],
      [2, "x@mailinator.com"],
    ];
    const expected = [
      [0, "alias"],
      [1, null],
      [2, "disposable"],
    ];
    for (const _ of ["first", "repeated"]) {
      expect(await post("/emails/snowflake", { data }, snowflake(key))).toEqual({
        status: 200,
        body: { data: expected },
      });
    }
    expect(await used("snowflake")).toBe(2);
    await post("/emails/snowflake", { data }, snowflake(key, "01abc:1"));
    expect(await used("snowflake")).toBe(4);
    // A gateway may pass on an Authorization field of its own.
    const { "sf-custom-idv-key": _, ...others } = snowflake(key);
    const authorised = { ...others, authorization: `Bearer ${key}` };
    expect((await post("/domains/snowflake", { data: [[0, "mailinator.com"]] }, authorised)).body.data).toEqual([
      [0, "disposable"],
    ]);
  });

  test.each([
    [[["0", "a@b.net"]], 400],
    [[[0, 7]], 400],
    [[[0]], 400],
    [[[0, "a@b.net", "c@d.net"]], 400],
  ])("with the rows %j is refused with %d", async (data, status) => {
    const key = await createKey(home);
    expect((await post("/emails/snowflake", { data }, snowflake(key))).status).toBe(status);
  });

  test("is refused without a key, and with one for other items", async () => {
    const key = await createKey(home, { permissions: ["domains"] });
    expect((await post("/emails/snowflake", { data: [] }, snowflake("sk_guess"))).status).toBe(401);
    expect((await post("/emails/snowflake", { data: [] }, snowflake(key))).status).toBe(403);
  });
});
