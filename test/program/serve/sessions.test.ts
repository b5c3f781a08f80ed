/** Covers signing in to the dashboard: links and their sessions, the audit, and proxies that sign people in. */
import { beforeAll, describe, expect, test } from "vitest";
import { linkTo, postForm, signIn as signInWith } from "../../support/dashboard.js";
import { collected } from "../../support/processes.js";
import { idv, startIdv } from "../../support/run-idv.js";
import { type Service, serve } from "../../support/service.js";
import { jsonLines, jsonOf } from "../../support/states.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const home = temporaryFolder();
const run = async (...args: string[]) => idv(args, { home });
const lines = (...args: string[]) => jsonOf(args, { home });

const post = ({ url }: Service, path: string, fields: Record<string, string>, headers: Record<string, string>) =>
  postForm(url, path, new URLSearchParams(fields), headers);
/** Signs somebody in, with a name or without one. */
const signIn = async ({ url }: Service, ...name: string[]) => {
  const args = name.flatMap((each) => ["--name", each]);
  return { cookie: await signInWith(await linkTo(url, args, { home })) };
};
const statusOf = async ({ url }: Service, headers: Record<string, string> = {}) =>
  (await fetch(`${url}/dashboard`, { headers })).status;

const key = (id: string) => ({ id, name: `shop ${id}`, permissions: "emails" });

let service: Service;
beforeAll(async () => {
  service = await serve(home, "-q");
});

describe("links", () => {
  test("sign people in, whose changes the audit names", async () => {
    const [anna, nobody] = [await signIn(service, "anna <x>"), await signIn(service)];
    expect((await post(service, "/keys", key("aaaaaaaa1"), anna)).status).toBe(200);
    expect((await lines("audit"))[0]).toMatchObject({ who: "anna <x>", key: "aaaaaaaa1", what: "created" });
    expect((await post(service, "/keys", key("aaaaaaaa2"), nobody)).status).toBe(200);
    expect((await lines("audit"))[0].who).toMatch(/^session \w{9}$/);
    expect((await lines("audit", "--since", "0s")).length).toBe(0);
  });

  test("leave changes that the audit filters, and follows", async () => {
    const [mia, zoe] = [await signIn(service, "mia"), await signIn(service, "zoe")];
    const followed = startIdv(["audit", "--follow", "--by", "zoe", "--json", "--since", "1m"], { home });
    const said = collected(followed.stdout);
    await post(service, "/keys", key("bbbbbbbb1"), mia);
    await post(service, "/keys", key("bbbbbbbb2"), zoe);
    const made = (key: string, who: string) => expect.objectContaining({ who, what: "created", key });
    expect(await lines("audit", "--by", "mia")).toContainEqual(made("bbbbbbbb1", "mia"));
    expect(await lines("audit", "--key", "bbbbbbbb2")).toEqual([made("bbbbbbbb2", "zoe")]);
    expect(await lines("audit", "--by", "zoe", "--key", "bbbbbbbb1")).toEqual([]);
    await expect.poll(said).toContain("bbbbbbbb2");
    await post(service, "/keys", key("bbbbbbbb3"), zoe);
    await expect.poll(said).toContain("bbbbbbbb3");
    followed.kill();
    const created = jsonLines(said()).filter(({ what }) => what === "created");
    expect(created).toEqual([made("bbbbbbbb2", "zoe"), made("bbbbbbbb3", "zoe")]);
  });

  test("give sessions that a page shows and ends", async () => {
    const [anna, carl] = [await signIn(service, "anna"), await signIn(service, "carl <x>")];
    const page = await (await fetch(`${service.url}/dashboard/sessions`, { headers: anna })).text();
    expect([page.includes("anna (this one)"), page.includes("carl &lt;x> (this one)")]).toEqual([true, false]);
    const [, id = ""] = /carl &lt;x>.*?name="id" value="(\w+)"/s.exec(page)!;
    const left = await (await post(service, "/sessions/end", { id }, anna)).text();
    expect([left.includes("carl"), left.includes("anna")]).toEqual([false, true]);
    expect(await statusOf(service, carl)).toBe(401);
    expect((await lines("audit"))[0]).toMatchObject({ who: "anna", what: `session ended: ${id}` });
    await post(service, "/sessions/end", { id }, anna);
    expect((await lines("audit"))[1]).not.toMatchObject({ what: `session ended: ${id}` });
  });

  test.each(["", " x", "a\u0007b", "x".repeat(101)])("are not made out to %j", async (name) => {
    expect(await run("dashboard", "--name", name)).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("a proxy that signs people in", () => {
  const field = { "x-forwarded-email": "anna@example.com" };
  const serveTrusting = (addresses: string) =>
    serve(home, "-q", "--trust-header", "X-Forwarded-Email", "--trust-from", addresses);

  test("signs them in from its own address", async () => {
    const service = await serveTrusting("127.0.0.1");
    expect(await statusOf(service, field)).toBe(200);
    expect((await post(service, "/keys", key("aaaaaaaa4"), field)).status).toBe(200);
    expect((await lines("audit"))[0]).toMatchObject({ who: "anna@example.com", what: "created" });
    // Pages of others cannot send forms with its help.
    const foreign = await post(service, "/keys", key("aaaaaaaa5"), { ...field, "sec-fetch-site": "cross-site" });
    expect([foreign.status, await statusOf(service)]).toEqual([403, 401]);
    // Signing out without a session ends nobody else's.
    const anna = await signIn(service, "anna");
    expect((await post(service, "/sign-out", {}, field)).status).toBe(200);
    expect(await statusOf(service, anna)).toBe(200);
  });

  test("gets 403 from another address, whatever other fields say", async () => {
    const service = await serveTrusting("10.0.0.0/8");
    const headers = { ...field, "x-forwarded-for": "10.0.0.7", forwarded: "for=10.0.0.7", "x-real-ip": "10.0.0.7" };
    const answer = await fetch(`${service.url}/dashboard`, { headers });
    const reason = expect.stringContaining("was sent from 127.0.0.1, which is not trusted");
    expect([answer.status, await answer.text()]).toEqual([403, reason]);
  });

  test("gets 401 without the option", async () => {
    expect(await statusOf(service, field)).toBe(401);
  });

  test.each([
    ["--trust-from", "10.0.0.0/99"],
    ["--trust-from", "proxy.lan"],
    ["--trust-header", "X Email"],
    ["--trust-header", "X-Email"],
  ])("%s %s is rejected", async (option, value) => {
    expect((await run("serve", option, value)).code).toBe(2);
  });
});
