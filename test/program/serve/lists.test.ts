/** Covers lists over HTTP: the interface, the folder, and several servers of which one is killed. */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { linkTo, signIn } from "../../support/dashboard.js";
import { startHaproxy } from "../../support/haproxy.js";
import { hasPostgres, startPostgres } from "../../support/postgres.js";
import { hasProgram } from "../../support/programs.js";
import { idv } from "../../support/run-idv.js";
import { createKey, request, type Service, serve } from "../../support/service.js";
import { createKeyIn, jsonOf } from "../../support/states.js";
import { folderOf, temporaryFolder } from "../../support/temporary-folder.js";
import { isFull } from "../../support/tier.js";

const postgres = hasPostgres && isFull ? await startPostgres() : undefined;

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

async function send(
  { url }: Pick<Service, "url">,
  key: string,
  list: Uint8Array | string,
  query: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
) {
  const all = { ...bearer(key), "content-type": "text/csv", ...headers };
  const init = { method: "POST", headers: all, body: list as BodyInit };
  return request(`${url}/lists?${new URLSearchParams(query)}`, init);
}

/** Sends a list, waits for its end, and returns it. */
async function sendWhole(service: Pick<Service, "url">, key: string, list: string | Uint8Array, query = {}) {
  const { id } = (await send(service, key, list, query)).body;
  await untilEnd(service, key, id);
  return look(service, key, id);
}

const look = async ({ url }: Pick<Service, "url">, key: string, id: string) =>
  (await request(`${url}/lists/${id}`, { headers: bearer(key) })).body;

const untilEnd = (service: Pick<Service, "url">, key: string, id: string, timeout = 120_000) =>
  expect.poll(async () => (await look(service, key, id)).state, { timeout }).toMatch(/done|failed/);

const fetchBytes = async (url: string, key: string) =>
  Buffer.from(await (await fetch(url, { headers: bearer(key) })).arrayBuffer());

describe("on one server", async () => {
  const home = temporaryFolder();
  const service = await serve(home, "-q", "--max-list-bytes", "1M");
  const [key, other] = [await createKey(home, { limit: 1000 }), await createKey(home)];
  const text = "id;mail\r\n1;ann@larch-and-oak.com\r\n2;x@mailinator.com\r\n3;n/a\r\n4;x@@\r\n";
  /** Sends a request with a key to a path below /lists. */
  const ask = (path: string, secret = key, method = "GET") =>
    request(`${service.url}/lists${path}`, { method, headers: bearer(secret) });
  const usageOf = async (secret: string) =>
    (await request(`${service.url}/usage`, { headers: bearer(secret) })).body as { usage: { statuses: object }[] };

  test("a list is sent, checked, fetched and removed, and only its key sees it", async () => {
    const sent = await send(service, key, text, { name: "people.csv" });
    const { id, state } = sent.body;
    expect([sent.status, state, sent.headers.get("location")]).toEqual([202, "waiting", `/lists/${id}`]);
    await untilEnd(service, key, id);
    expect(await look(service, key, id)).toMatchObject({
      ...{ name: "people.csv", kind: "email", state: "done", progress: null, fault: null },
      files: [{ name: "checked-people.csv" }],
      summary: {
        ...{ rows: 4, empty: 1, distinct: 3, isExhausted: false, units: { used: 3, paidBefore: 0 } },
        statuses: { ok: 1, disposable: 1, fake: 1 },
      },
    });
    const again = await ask(`/${id}/run`, key, "POST");
    expect([again.status, again.body.message]).toEqual([409, "There is nothing left to check."]);
    const { stdout } = await idv(["emails", "-q", "--offline"], { stdin: text });
    expect((await fetchBytes(`${service.url}/lists/${id}/result`, key)).toString()).toBe(stdout);
    // The usage has the statuses of the list.
    const statuses = async () => (await usageOf(key)).usage[0]!.statuses;
    await expect.poll(statuses).toEqual({ ok: 1, disposable: 1, fake: 1 });
    expect((await ask(`/${id}/report`)).text).toContain("<h1>people.csv</h1>");
    for (const path of ["", "/result", "/report"]) {
      expect((await ask(`/${id}${path}`, other)).status).toBe(404);
      expect((await request(`${service.url}/lists/${id}${path}`)).status).toBe(401);
    }
    const all = async (secret: string) => (await ask("", secret)).body.lists.length;
    expect([await all(key), await all(other)]).toEqual([1, 0]);
    for (const [secret, status] of [
      [other, 404],
      [key, 204],
      [key, 404],
    ] as const) {
      expect((await ask(`/${id}`, secret, "DELETE")).status).toBe(status);
    }
    expect(await all(key)).toBe(0);
  });

  test("formats and choices are those of the command line", async () => {
    const choices = { name: "people.csv.gz", split: "true", drop: "fake" };
    const { id: split, files } = await sendWhole(service, key, gzipSync(text), choices);
    // One of several files would be a part of the list.
    const several = await ask(`/${split}/result`);
    expect([several.status, several.body.message]).toEqual([400, expect.stringContaining("?file=NAME: disposable")]);
    const wanted = ["disposable", "ok"].map((name) => expect.objectContaining({ name: expect.stringContaining(name) }));
    expect(files).toEqual(expect.arrayContaining(wanted));
    const domains = "domain\nmailinator.com\nlarch-and-oak.com\n";
    const { id } = await sendWhole(service, key, domains, { kind: "domain", column: "1", delimiter: "none" });
    const result = await fetchBytes(`${service.url}/lists/${id}/result`, key);
    expect(result.toString()).toBe("domain,status\nmailinator.com,disposable\nlarch-and-oak.com,ok\n");
    expect((await ask(`/${id}/result?file=none.csv`)).status).toBe(404);
  });

  test("a list that cannot be checked has no result, and its fault says why", async () => {
    const { body } = await send(service, key, "email,n\na@larch-and-oak.com,1,2\n");
    await untilEnd(service, key, body.id);
    for (const path of ["result", "report"]) {
      const { status, body: refusal } = await ask(`/${body.id}/${path}`);
      const fault = "The list cannot be checked: list.csv:2: 3 fields where the header has 2";
      expect([path, status, refusal.message]).toEqual([path, 409, expect.stringContaining(fault)]);
    }
  });

  test("a list with an Idempotency-Key is taken and charged once", async () => {
    const used = async () => (await jsonOf(["keys", "list"], { home }))[0].used;
    const before = await used();
    const once = { "idempotency-key": "night-1" };
    const list = "email\nonce@larch-and-oak.com\n";
    const first = await send(service, key, list, {}, once);
    await untilEnd(service, key, first.body.id);
    const again = await send(service, key, list, {}, once);
    expect([again.status, again.body.id]).toEqual([202, first.body.id]);
    expect((await send(service, key, `${list}b@c.net\n`, {}, once)).status).toBe(422);
    expect((await send(service, key, list, { name: "other.csv" }, once)).status).toBe(422);
    expect((await used()) - before).toBe(1);
  });

  test("a request is charged once in 24 hours, though its list was removed and no units are left", async () => {
    const few = await createKey(home, { limit: 2 });
    const list = `email\none@larch-and-oak.com\ntwo@larch-and-oak.com\n`;
    const once = { "idempotency-key": "night-2" };
    const all = async () => (await ask("", few)).body.lists;
    const sendOnce = async (list: string) => {
      const sent = await send(service, few, list, {}, once);
      if (sent.status === 202) await untilEnd(service, few, sent.body.id);
      return sent;
    };
    const first = await sendOnce(list);
    const [{ id, summary }] = await all();
    expect(summary.units).toMatchObject({ used: 2, paidBefore: 0 });
    await ask(`/${id}`, few, "DELETE");
    expect(await all()).toEqual([]);
    expect((await sendOnce(`${list}x@b.net\n`)).status).toBe(422);
    const again = await sendOnce(list);
    expect(again.status).toBe(first.status);
    const [after] = await all();
    expect([after.id, after.summary.units]).toMatchObject([id, { used: 0, paidBefore: 2 }]);
    // A request without the Idempotency-Key is another one.
    expect((await send(service, few, list)).status).toBe(429);
    expect(await usageOf(few)).toMatchObject({ units: 2, usage: [{ statuses: { ok: 2 } }] });
  });

  test("a file is a list whatever type curl gives it", async () => {
    const form = { "content-type": "application/x-www-form-urlencoded" };
    for (const list of [text, "email\nann@larch-and-oak.com", gzipSync(text), text.replaceAll("\r\n", "\r")]) {
      const { status, body } = await send(service, key, list, {}, form);
      expect([status, body.message]).toEqual([202, undefined]);
      await untilEnd(service, key, body.id);
      expect(await look(service, key, body.id)).toMatchObject({ state: "done", fault: null });
    }
  });

  test("a form with parts is no list, whatever its type", async () => {
    const body = `--${"-".repeat(20)}x\r\nContent-Disposition: form-data; name="file"; filename="l.csv"\r\nContent-Type: text/csv\r\n\r\n${text}\r\n--${"-".repeat(20)}x--\r\n`;
    for (const type of ["text/csv", "application/octet-stream", "application/x-www-form-urlencoded"]) {
      const answer = await send(service, key, body, {}, { "content-type": type });
      expect([answer.status, answer.body.message]).toEqual([415, expect.stringContaining("curl --data-binary")]);
    }
  });

  test.each([
    ["/usage?since=1h", 'There is no parameter "since"; there are from, to, by.'],
    ["/usage?by=week", "by must be one of hour, day."],
    ["/lists?limit=3", 'There is no parameter "limit": this request takes none.'],
    ["/lists/x/result?name=a", 'There is no parameter "name"; the only one is file.'],
    ["/emails/check?adress=a@b.net", 'There is no parameter "adress"; did you mean address?'],
    ["/emails/check?address=a@b.net&explain=1", 'There is no parameter "explain"; the only one is address.'],
  ])("GET %s is refused, with a guess where there is one", async (path, message) => {
    const answer = await request(service.url + path, { headers: bearer(key) });
    expect([answer.status, answer.body.message]).toEqual([400, message]);
  });

  test.each([
    ["ann+news@larch-and-oak.com", "ann+news@larch-and-oak.com"],
    ["ann%2Bnews@larch-and-oak.com", "ann+news@larch-and-oak.com"],
    ["ann%20b@larch-and-oak.com", "ann b@larch-and-oak.com"],
    ["a%3Fb?c@larch-and-oak.com", "a?b?c@larch-and-oak.com"],
  ])("/emails/check?address=%s is about %s", async (text, address) => {
    const { body } = await request(`${service.url}/emails/check?address=${text}`, { headers: bearer(key) });
    expect(body.address).toBe(address);
  });

  test("the usage has the statuses of distinct items where items repeat", async () => {
    const repeating = await createKey(home, { limit: 10 });
    const list = "email\nann@larch-and-oak.com\nx@mailinator.com\nX@MAILINATOR.com\nann@larch-and-oak.com\nx@@\n";
    await sendWhole(service, repeating, list);
    const statuses = async () => (await usageOf(repeating)).usage[0]!.statuses;
    await expect.poll(statuses).toEqual({ ok: 1, disposable: 1, fake: 1 });
  });

  test("faults are named, and leave no list", async () => {
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const parts = `--x\r\ncontent-disposition: form-data; name="list"; filename="a.csv"\r\n\r\n${text}\r\n--x--\r\n`;
    const cases: [string | Uint8Array, Record<string, string>, Record<string, string>, number, string][] = [
      ["", {}, {}, 400, "The list is empty."],
      ["x".repeat(1_100_000), {}, {}, 413, "The list is larger than 1 MiB"],
      [text, { kind: "phone" }, {}, 400, "kind must be one of email, domain."],
      [text, { name: "x".repeat(201) }, {}, 400, "name is longer than 200 characters."],
      [text, { colum: "2" }, {}, 400, 'There is no parameter "colum"; did you mean column?'],
      [text.replaceAll("\r\n", ""), {}, form, 415, "curl --data-binary @list.csv"],
      [`list=${encodeURIComponent(text)}`, {}, form, 415, "The body is a form, or a list without line breaks"],
      [`${"a@b.net,".repeat(20_000)}\n`, {}, form, 415, "The body is a form, or a list without line breaks"],
      ["ann@larch-and-oak.com", {}, form, 415, "one line with -H 'Content-Type: text/csv'"],
      [parts, {}, { "content-type": "multipart/form-data; boundary=x" }, 415, "The body is a form"],
      [text, { drop: "good" }, {}, 400, "drop: takes statuses"],
      [gzipSync(text), {}, { "content-encoding": "gzip" }, 415, "must not be compressed"],
      [text, {}, bearer("sk_none"), 401, "Unauthorized."],
    ];
    for (const [list, query, headers, status, message] of cases) {
      // The connection is closed before all of a list that is too large has been sent.
      const answer = await send(service, key, list, query, headers).catch((error: Error) => {
        if (error.name !== "TypeError") throw error;
      });
      if (answer) expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(message)]);
      else expect(status).toBe(413);
    }
    const joined = await sendWhole(service, key, "email,name\na@b.net,A\nname,email\nB,b@c.net\n");
    expect(joined.fault).toBe("list.csv: line 3 is another header: name,email; put its table into a file of its own");
    const bad = await sendWhole(service, key, "a,b\n1,2\n");
    expect(bad.fault).toBe(
      'no column looks like e-mail addresses; the columns are 1 "a", 2 "b"; name one as the column',
    );
    expect((await ask(`/${bad.id}/result`)).status).toBe(409);
    for (const refused of [{ isSandbox: true }, { permissions: ["domains"] as const }]) {
      expect((await send(service, await createKey(home, refused), text)).status).toBe(403);
    }
    expect((await send(service, key, text, { column: "\0" })).status).toBe(400);
    const empty = await createKey(home, { limit: 0 });
    expect((await send(service, empty, text, {}, { "idempotency-key": "new" })).status).toBe(429);
    expect(await send(service, empty, text)).toMatchObject({ status: 429, body: { code: "quota_exhausted" } });
  });

  test("the rest of a list is checked when there are units again, and nothing is charged twice", async () => {
    const few = await createKey(home, { name: "few", limit: 300 });
    const list = `email\n${Array.from({ length: 500 }, (_, i) => `u${i}@larch-and-oak.com\n`).join("")}`;
    const { id, summary } = await sendWhole(service, few, list);
    const run = () => ask(`/${id}/run`, few, "POST");
    expect(summary).toMatchObject({ isExhausted: true, units: { used: 300 } });
    const keys = await jsonOf(["keys", "list"], { home });
    await idv(["keys", "set", keys.find(({ name }) => name === "few").id, "--limit", "900"], { home });
    expect((await run()).status).toBe(202);
    await untilEnd(service, few, id);
    const rest = { isExhausted: false, statuses: { ok: 500 }, units: { used: 200, paidBefore: 300 } };
    expect((await look(service, few, id)).summary).toMatchObject(rest);
    const sums = { units: 500, usage: [{ statuses: { ok: 500, quota_exceeded: 200 } }] };
    await expect.poll(() => usageOf(few)).toMatchObject(sums);
    await ask(`/${id}`, few, "DELETE");
    expect((await run()).status).toBe(404);
  });
});

test("a folder that cannot be used is refused at the start, and lists in one that is gone are named", async () => {
  const home = folderOf({ file: "" });
  const refused = await idv(["serve", "--check", "--port", "0", "--lists", join(home, "file/lists")], { home });
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("--lists: ") });
  const folder = temporaryFolder();
  const service = await serve(home, "-q", "--lists", folder);
  const key = await createKey(home);
  const { id } = await sendWhole(service, key, "email\na@larch-and-oak.com\n");
  rmSync(folder, { recursive: true });
  expect((await request(`${service.url}/lists/${id}/result`, { headers: bearer(key) })).status).toBe(404);
  expect(await send(service, key, "email\n")).toMatchObject({
    status: 503,
    body: { message: expect.stringContaining("The folder for lists cannot be written") },
  });
  expect((await request(`${service.url}/lists/${id}`, { method: "DELETE", headers: bearer(key) })).status).toBe(204);
});

describe.skipIf(!postgres)("on four servers", () => {
  const entries = hasProgram("haproxy") ? ["their addresses", "haproxy"] : ["their addresses"];
  test.each(entries)(
    "20 lists at once end once, are charged once and have the right bytes, though a server is killed: by %s",
    async (entry) => {
      const state = await postgres!.create();
      const folder = temporaryFolder();
      const key = await createKeyIn(state);
      const start = () => serve(temporaryFolder(), "-q", "--state", state, "--lists", folder);
      const servers = await Promise.all([start(), start(), start(), start()]);
      const proxy = entry === "haproxy" && { url: await startHaproxy(servers) };
      const at = (server: number) => proxy || servers[server]!;
      const rows = 8000;
      const row = (list: number, i: number) => `${i},l${list}n${i}@${i % 7 ? "larch-and-oak.com" : "mailinator.com"}\n`;
      const rowsOf = (list: number) => Array.from({ length: rows }, (_, i) => row(list, i));
      const texts = Array.from({ length: 20 }, (_, list) => `n,email\n${rowsOf(list).join("")}`);
      const sent = await Promise.all(texts.map((text, i) => send(at(i % 4), key, text)));
      const ids = sent.map(({ body }) => body.id as string);
      // The first is killed while it works.
      const running = async () =>
        (await Promise.all(ids.map((id) => look(at(1), key, id)))).filter(({ state }) => state === "running").length;
      await expect.poll(running, { interval: 20 }).toBeGreaterThan(3);
      await servers[0]!.kill();
      for (const id of ids) await untilEnd(at(2), key, id, 60_000);
      for (const [i, id] of ids.entries()) {
        expect(await look(at(3), key, id)).toMatchObject({ state: "done", summary: { rows } });
        const home = folderOf({ "list.csv": texts[i]! });
        await idv(["emails", "list.csv", "--offline", "-q", "-o", "out.csv"], { home });
        const bytes = await fetchBytes(`${at(1).url}/lists/${id}/result`, key);
        expect(bytes.equals(readFileSync(join(home, "out.csv")))).toBe(true);
      }
      expect(await jsonOf(["keys", "list", "--state", state])).toMatchObject([{ used: 20 * rows }]);
    },
  );

  test("without a shared folder there are no lists, and the page says how to have some", async () => {
    const state = await postgres!.create();
    const key = await createKeyIn(state);
    const { url } = await serve(temporaryFolder(), "-q", "--state", state);
    expect((await fetch(`${url}/lists`, { headers: bearer(key) })).status).toBe(404);
    const cookie = await signIn(await linkTo(url, ["--state", state]));
    const page = await (await fetch(`${url}/dashboard/lists`, { headers: { cookie } })).text();
    expect(page).toContain("<code>--lists FOLDER</code>");
  });
});
