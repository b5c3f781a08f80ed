/** Covers `idv usage` and the keys that share quotas or are rotated, through the built program and its service. */
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { idv } from "../../support/run-idv.js";
import { post, request, serve } from "../../support/service.js";
import { jsonOf } from "../../support/states.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const emails = (...items: readonly string[]) => ({ emails: items });

test("two keys share a quota, and idv usage says which used what", async () => {
  const home = temporaryFolder();
  const create = async (...args: string[]) =>
    (await idv(["keys", "create", "--quota", "team", ...args], { home })).stdout.trim();
  const a = await create("--name", "shop, north", "--limit", "3", "--period", "month");
  const b = await create("--name", "desk");
  const again = await idv(["keys", "create", "--name", "x", "--quota", "team", "--limit", "9"], { home });
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('there is a quota "team" already')]);
  const { url } = await serve(home, "-q");
  const all = emails("x@mailinator.com", "ann@larch-and-oak.com");
  expect((await post(`${url}/emails/validate`, a, all)).status).toBe(200);
  const { body } = await post(`${url}/domains/validate`, b, { domains: ["mailinator.com", "larch-and-oak.com"] });
  expect(body.domains).toEqual({
    "mailinator.com": { status: "disposable" },
    "larch-and-oak.com": { status: "quota_exceeded" },
  });
  expect((await post(`${url}/emails/validate`, a, emails("b@larch-and-oak.com"))).status).toBe(429);

  const list = () => jsonOf(["keys", "list"], { home });
  // The server stores it some time later.
  await expect.poll(async () => (await list())[1].lastUsed).toMatch(/^\d{4}-/);
  const [first, second] = await list();
  expect(first).toMatchObject({ used: 3, left: 0, quota: "team" });
  expect(first.secrets).toMatchObject([{ hint: `sk_...${a.slice(-4)}`, ends: null }]);
  expect(second).toMatchObject({ used: 3, quota: "team", lastUsed: expect.stringMatching(/^\d{4}-/) });
  expect(second.lastUsed >= second.created).toBe(true);

  const day = new Date().toISOString().slice(0, 10);
  const csv = await idv(["usage", "--csv"], { home });
  const lines = csv.stdout.trim().split("\n");
  expect(lines[0]).toBe("time,key,name,kind,units,ok,alias,disposable,fake,other,quota_exceeded");
  expect(lines.slice(1).sort()).toEqual(
    [`${day},${first.id},"shop, north",email,2,1,0,1,0,0,0`, `${day},${second.id},desk,domain,1,0,0,1,0,0,1`].sort(),
  );
  const statuses = { disposable: 1, quota_exceeded: 1 };
  const time = expect.stringMatching(/T\d\d:00Z$/);
  expect(await jsonOf(["usage", "--by", "hour", "--key", second.id], { home })).toEqual([
    { time, key: second.id, name: "desk", kind: "domain", units: 1, statuses },
  ]);
  const keys: Record<string, string>[] = parse((await idv(["keys", "list", "--csv"], { home })).stdout, {
    columns: true,
  });
  expect(keys.map(({ id, name, permissions, revoked }) => [id, name, permissions, revoked]).sort()).toEqual(
    [first, second].map(({ id, name }) => [id, name, "emails,domains", ""]).sort(),
  );
  const changes: Record<string, string>[] = parse((await idv(["audit", "--csv"], { home })).stdout, { columns: true });
  expect(changes).toContainEqual(expect.objectContaining({ what: "created", key: first.id }));
  const top = await idv(["usage", "--csv", "--top", "1"], { home });
  const start = new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10);
  expect(top.stdout.trim().split("\n").slice(1)).toEqual([
    `${start},${first.id},"shop, north",all,2,1,0,1,0,0,0`,
    `${start},*,all keys,all,3,1,0,2,0,0,1`,
  ]);
  const ofHours = async (query: string, key = a) =>
    request(`${url}/usage?${query}`, { headers: { authorization: `Bearer ${key}` } });
  // A key sees its own usage over HTTP.
  const usage = [{ start: `${day}T00:00:00.000Z`, kind: "domain", units: 1, statuses }];
  expect((await ofHours("", b)).body).toEqual({ units: 1, usage });
  expect((await ofHours(`by=hour&from=${day}&to=${day}T23:59:59Z`)).body.units).toBe(2);
  expect((await ofHours("from=2020-01-01&to=2020-01-31")).body).toEqual({ units: 0, usage: [] });
  for (const query of ["from=x", "from=2020-01-01", "from=2026-11-02&to=2026-11-01", "by=week"]) {
    expect((await ofHours(query)).status).toBe(400);
  }
  expect((await ofHours("", "sk_none")).status).toBe(401);
});

test("each rotation leaves the older secrets their ends, and they are ended one by one", async () => {
  const home = temporaryFolder();
  const first = (await idv(["keys", "create", "--name", "shop"], { home })).stdout.trim();
  const list = async () => (await jsonOf(["keys", "list"], { home }))[0];
  const { id } = await list();
  const { url } = await serve(home, "-q");
  const check = (secret: string) => post(`${url}/emails/validate`, secret, emails("a@larch-and-oak.com"));
  const statusesOf = async (...secrets: string[]) =>
    (await Promise.all(secrets.map(check))).map(({ status }) => status);
  const rotate = async (...args: string[]) => {
    const { stdout, stderr } = await idv(["keys", "rotate", id, ...args], { home });
    return { secret: stdout.trim(), stderr };
  };
  const second = await rotate("--grace", "24h");
  expect(second.stderr).toMatch(/shown only now; the one before works until \d{4}-.*Z\n$/);
  const third = await rotate("--grace", "1h");
  expect(third.stderr).toContain("an older secret still works");
  expect(await statusesOf(first, second.secret, third.secret)).toEqual([200, 200, 200]);
  const fourth = await rotate();
  expect(await statusesOf(third.secret, second.secret, first)).toEqual([401, 200, 200]);
  const hints = [fourth.secret, first, second.secret].map((secret) => `sk_...${secret.slice(-4)}`);
  expect((await list()).secrets.map(({ hint }: { hint: string }) => hint)).toEqual(hints);
  expect((await idv(["keys", "list"], { home })).stdout).toMatch(/sk_\.\.\..{4} until \d{4}-/);

  const ended = await idv(["keys", "revoke", id, "--secret", first.slice(-4)], { home });
  expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining("ended that secret")]);
  expect(await statusesOf(first, second.secret)).toEqual([401, 200]);
  const newest = await idv(["keys", "revoke", id, "--secret", fourth.secret.slice(-4)], { home });
  expect(newest.code).toBe(2);
  expect(await statusesOf(fourth.secret)).toEqual([200]);

  await idv(["keys", "revoke", id], { home });
  const revoked = { code: 2, stdout: "", stderr: expect.stringContaining("is revoked; create another key") };
  expect(await idv(["keys", "rotate", id], { home })).toEqual(revoked);
  const unchanged = await idv(["keys", "set", id], { home });
  expect([unchanged.code, unchanged.stderr]).toEqual([2, expect.stringContaining("keys set needs --name")]);
});

test("a key that is not there is said, and the name of one names its id", async () => {
  const home = temporaryFolder();
  await idv(["keys", "create", "--name", "shop"], { home });
  const [{ id }] = await jsonOf(["keys", "list"], { home });
  for (const command of ["usage --key nobody", "audit --key nobody", "keys revoke nobody"]) {
    const { code, stderr } = await idv(command.split(" "), { home });
    expect([command, code, stderr]).toEqual([command, 2, 'idv: no key "nobody"; run idv keys list to see all keys\n']);
  }
  const named = await idv(["keys", "revoke", "shop"], { home });
  expect([named.code, named.stderr]).toEqual([2, `idv: no key "shop"; that is the name of ${id}\n`]);
  for (const name of ['the "old" shop', "sk_shop"]) await idv(["keys", "create", "--name", name], { home });
  expect((await idv(["keys", "revoke", 'the "old" shop'], { home })).stderr).toContain('shop"; that is the name of ');
  const secret = await idv(["keys", "revoke", "sk_shops"], { home });
  expect(secret.stderr).toBe("idv: that is a secret, not the id of a key; run idv keys list to see all keys\n");
  expect((await idv(["keys", "revoke", id], { home })).stderr).toBe(`idv: revoked key ${id}\n`);
  expect((await idv(["keys", "revoke", id], { home })).stderr).toMatch(/^idv: key \S+ was revoked at \d{4}-/);
  expect((await idv(["keys", "set", id, "--limit", "5"], { home })).stderr).toContain("it is still revoked");
});
