/** Covers `idv usage` and the keys that share quotas or are rotated, through the built program and its service. */
import { expect, test } from "vitest";
import { idv } from "../support/run-idv.js";
import { post, serve } from "../support/service.js";
import { temporaryFolder } from "../support/temporary-folder.js";

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
  expect(
    (await post(`${url}/emails/validate`, a, emails("x@mailinator.com", "ann@larch-and-oak.com"))).status,
  ).toBe(200);
  const { body } = await post(`${url}/domains/validate`, b, {
    domains: ["mailinator.com", "larch-and-oak.com"],
  });
  expect(body.domains).toEqual({
    "mailinator.com": { status: "disposable" },
    "larch-and-oak.com": { status: "quota_exceeded" },
  });
  expect((await post(`${url}/emails/validate`, a, emails("b@larch-and-oak.com"))).status).toBe(429);

  const keys = (await idv(["keys", "list", "--json"], { home })).stdout.trim().split("\n");
  const [first, second] = keys.map((line) => JSON.parse(line));
  expect(first).toMatchObject({ used: 3, left: 0, quota: "team", hint: `sk_...${a.slice(-4)}` });
  expect(second).toMatchObject({ used: 3, quota: "team", lastUsed: expect.stringMatching(/:00:00\.000Z$/) });

  const day = new Date().toISOString().slice(0, 10);
  const csv = await idv(["usage", "--csv"], { home });
  const lines = csv.stdout.trim().split("\n");
  expect(lines[0]).toBe("time,key,name,kind,units,ok,alias,disposable,fake,quota_exceeded");
  expect(lines.slice(1).sort()).toEqual(
    [
      `${day},${first.id},"shop, north",email,2,1,0,1,0,0`,
      `${day},${second.id},desk,domain,1,0,0,1,0,1`,
    ].sort(),
  );
  const json = await idv(["usage", "--json", "--by", "hour", "--key", second.id], { home });
  expect(JSON.parse(json.stdout)).toEqual({
    ...{ time: expect.stringMatching(/T\d\d:00Z$/), key: second.id, name: "desk", kind: "domain", units: 1 },
    statuses: { disposable: 1, quota_exceeded: 1 },
  });
});

test("a rotated key works with both secrets until the grace ends; a revoked one is not rotated", async () => {
  const home = temporaryFolder();
  const old = (await idv(["keys", "create", "--name", "shop"], { home })).stdout.trim();
  const { id } = JSON.parse((await idv(["keys", "list", "--json"], { home })).stdout);
  const { url } = await serve(home, "-q");
  const statusOf = async (secret: string) =>
    (await post(`${url}/emails/validate`, secret, emails("a@larch-and-oak.com"))).status;
  const rotated = await idv(["keys", "rotate", id, "--grace", "1h"], { home });
  expect(rotated.stderr).toMatch(/the old one works until \d{4}-/);
  expect([await statusOf(old), await statusOf(rotated.stdout.trim())]).toEqual([200, 200]);
  await idv(["keys", "rotate", id], { home });
  expect([await statusOf(old), await statusOf(rotated.stdout.trim())]).toEqual([401, 401]);
  await idv(["keys", "revoke", id], { home });
  const refused = await idv(["keys", "rotate", id], { home });
  expect([refused.code, refused.stdout]).toEqual([2, ""]);
  expect(refused.stderr).toContain("is revoked; create another key");
  const unchanged = await idv(["keys", "set", id], { home });
  expect([unchanged.code, unchanged.stderr]).toEqual([2, expect.stringContaining("keys set needs --name")]);
});
