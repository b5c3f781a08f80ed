/** Covers the people of the dashboard: links made out to them, roles, the audit, and proxies that sign people in. */
import { beforeAll, describe, expect, test } from "vitest";
import { idv } from "../../support/run-idv.js";
import { type Service, serve } from "../../support/service.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const home = temporaryFolder();
const run = async (...args: string[]) => idv(args, { home });
const lines = async (...args: string[]) =>
  (await run(...args, "--json")).stdout
    .trim()
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));

const own = ({ url }: Service) => ({ origin: url, "sec-fetch-site": "same-origin" });

function post(
  service: Service,
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string>,
) {
  return fetch(`${service.url}/dashboard${path}`, {
    method: "POST",
    redirect: "manual",
    headers: { ...own(service), ...headers },
    body: new URLSearchParams(fields),
  });
}

async function signIn(service: Service, link: string): Promise<{ readonly cookie: string }> {
  const token = new URL(link.trim()).searchParams.get("token")!;
  const response = await post(service, "/sign-in", { token }, {});
  return { cookie: response.headers.get("set-cookie")!.split(";")[0]! };
}

const key = (id: string) => ({ id, name: "shop", permissions: "emails" });

describe("people with links", () => {
  let service: Service;
  beforeAll(async () => {
    service = await serve(home, "-q");
    expect(await run("people", "add", "anna")).toMatchObject({
      code: 0,
      stderr: "idv: added anna; a link to sign in: idv dashboard --person anna\n",
    });
    await run("people", "add", "ben", "--role", "viewer");
  });

  test("change keys under their names, if they are no viewers", async () => {
    const anna = await signIn(
      service,
      (await run("dashboard", "--person", "Anna", "--base-url", service.url)).stdout,
    );
    const ben = await signIn(
      service,
      (await run("dashboard", "--person", "ben", "--base-url", service.url)).stdout,
    );
    expect((await post(service, "/keys", key("aaaaaaaa1"), anna)).status).toBe(200);
    const refused = await post(service, "/keys", key("aaaaaaaa2"), ben);
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining("You may look")]);
    for (const path of ["", "/keys", "/keys/aaaaaaaa1", "/usage", "/lists", "/people", "/try"]) {
      const page = await fetch(`${service.url}/dashboard${path}`, { headers: ben });
      expect([path, page.status]).toEqual([path, 200]);
      expect(await page.text()).toContain('<body class="viewer">');
    }
    expect((await post(service, "/try", { kind: "email", items: "a@b.net" }, ben)).status).toBe(200);
    expect((await lines("audit"))[0]).toMatchObject({ who: "anna", what: "created", key: "aaaaaaaa1" });
    expect((await lines("audit", "--since", "0s")).length).toBe(0);
    expect((await lines("people", "sessions")).map(({ person }) => person).sort()).toEqual(["anna", "ben"]);
  });

  test("join, become viewers and leave on a page, and their sessions end", async () => {
    const anna = await signIn(
      service,
      (await run("dashboard", "--person", "anna", "--base-url", service.url)).stdout,
    );
    const text = async (path: string, fields: Record<string, string>) =>
      (await post(service, path, fields, anna)).text();
    expect(await text("/people", { name: "carl <x>", role: "admin" })).toContain("carl &lt;x>");
    expect(await text("/people", { name: "CARL <x>", role: "admin" })).toContain("there is a person");
    expect(await text("/people", { name: "", role: "admin" })).toContain("Name: give 1 to 100 characters.");
    const made = await text("/people/link", { name: "carl <x>" });
    const link = /<code>(http:[^<]+)<\/code>/.exec(made)![1]!;
    const carl = await signIn(service, link);
    expect(await text("/people/role", { name: "carl <x>", role: "viewer" })).toContain("Make admin: carl");
    expect((await post(service, "/keys", key("aaaaaaaa3"), carl)).status).toBe(403);
    const { id } = (await lines("people", "sessions")).find(({ person }) => person === "carl <x>");
    await text("/people/end-session", { id });
    expect((await fetch(`${service.url}/dashboard`, { headers: carl })).status).toBe(401);
    await text("/people/remove", { name: "carl <x>" });
    expect((await lines("people", "list")).map(({ name }) => name)).toEqual(["anna", "ben"]);
    expect((await lines("audit")).slice(0, 3).map(({ who, what }) => `${who} ${what}`)).toEqual([
      "anna person removed: carl <x>",
      `anna session ended: ${id}`,
      "anna role changed: carl <x>",
    ]);
  });

  test.each<[string[], string]>([
    [["add", "anna"], 'there is a person "anna" already'],
    [["add", " x"], "NAME must have 1 to 100 characters, without control characters or blanks around it"],
    [["set", "anna"], "people set needs --role ROLE"],
    [["set", "none", "--role", "admin"], 'there is no person "none"; run idv people list to see all'],
    [["remove", "none"], 'there is no person "none"; run idv people list to see all'],
    [["end", "none"], 'there is no session "none"; run idv people sessions to see all'],
  ])("people %j is rejected", async (args, message) => {
    expect(await run("people", ...args)).toMatchObject({ code: 2, stdout: "", stderr: `idv: ${message}\n` });
  });

  test("a link is made out to a known person only", async () => {
    expect(await run("dashboard", "--person", "none")).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("a proxy that signs people in", () => {
  const field = { "x-forwarded-email": "anna@example.com" };
  beforeAll(async () => {
    await run("people", "add", "Anna@example.com");
  });

  test("signs them in from its own address", async () => {
    const service = await serve(
      home,
      "-q",
      "--trust-header",
      "X-Forwarded-Email",
      "--trust-from",
      "127.0.0.1",
    );
    expect((await fetch(`${service.url}/dashboard`, { headers: field })).status).toBe(200);
    expect((await post(service, "/keys", key("aaaaaaaa4"), field)).status).toBe(200);
    expect((await lines("audit"))[0]).toMatchObject({ who: "Anna@example.com", what: "created" });
    // Pages of others cannot send forms with its help.
    const foreign = await post(service, "/keys", key("aaaaaaaa5"), {
      ...field,
      "sec-fetch-site": "cross-site",
    });
    expect(foreign.status).toBe(403);
    const unknown = await fetch(`${service.url}/dashboard`, {
      headers: { "x-forwarded-email": "<eve>@x.net" },
    });
    expect([unknown.status, await unknown.text()]).toEqual([
      403,
      expect.stringContaining("&lt;eve>@x.net is not known here"),
    ]);
    expect((await fetch(`${service.url}/dashboard`)).status).toBe(401);
    // Signing out without a session ends nobody else's.
    const link = (await run("dashboard", "--person", "anna", "--base-url", service.url)).stdout;
    const anna = await signIn(service, link);
    expect((await post(service, "/sign-out", {}, field)).status).toBe(200);
    expect((await fetch(`${service.url}/dashboard`, { headers: anna })).status).toBe(200);
  });

  test("gets 403 from another address, whatever other fields say", async () => {
    const service = await serve(
      home,
      "-q",
      "--trust-header",
      "X-Forwarded-Email",
      "--trust-from",
      "10.0.0.0/8",
    );
    const headers = {
      ...field,
      "x-forwarded-for": "10.0.0.7",
      forwarded: "for=10.0.0.7",
      "x-real-ip": "10.0.0.7",
    };
    const answer = await fetch(`${service.url}/dashboard`, { headers });
    expect([answer.status, await answer.text()]).toEqual([
      403,
      expect.stringContaining("was sent from 127.0.0.1, which is not trusted"),
    ]);
  });

  test("gets 401 without the option", async () => {
    const service = await serve(home, "-q");
    expect((await fetch(`${service.url}/dashboard`, { headers: field })).status).toBe(401);
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
