/** Covers the dashboard of `idv serve` in a browser: signing in, keys, usage and the try-it box, and attacks on them. */
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSqliteServiceStore } from "../../../src/state/service/database/sqlite.js";
import { expectAccessible, expectFits, startBrowser, wantedBrowser } from "../../support/browser.js";
import { linkTo as linkFor, ownFields, signIn as signInWith, tokenOf } from "../../support/dashboard.js";
import { idv } from "../../support/run-idv.js";
import { type Service, post as send, serve } from "../../support/service.js";
import { createKeyIn, databases, jsonOf } from "../../support/states.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { testFull } from "../../support/tier.js";

const linkTo = ({ url }: Service, state: string) => linkFor(url, ["--state", state]);

describe("without a browser", () => {
  const state = `${temporaryFolder()}/service.db`;
  let service: Service;
  beforeAll(async () => {
    service = await serve(temporaryFolder(), "--state", state);
  });
  const post = (path: string, headers: object, form = "", url = service.url) =>
    fetch(`${url}/dashboard${path}`, {
      ...{ method: "POST", redirect: "manual", headers: { ...headers }, body: new URLSearchParams(form) },
    });
  const get = (cookie: string, path = "", url = service.url) =>
    fetch(`${url}/dashboard${path}`, { headers: { cookie } });
  const own = () => ownFields(service.url);
  const signIn = async () => signInWith(await linkTo(service, state));
  const by = (origin: string, site: string) => ({ origin, "sec-fetch-site": site });

  test("no page is shown to somebody who is not signed in, nor to a guessed session", async () => {
    for (const cookie of ["", "idv-session=guess", "__Secure-idv-session=x"]) {
      for (const path of ["", "/keys", "/usage.csv", "/try"]) {
        const response = await get(cookie, path);
        expect([response.status, await response.text()]).toEqual([
          401,
          expect.stringContaining("You are not signed in"),
        ]);
      }
    }
  });

  test("a sign-in link works once, and is used up by its button, not by opening it", async () => {
    const link = await linkTo(service, state);
    expect((await fetch(link)).headers.get("set-cookie")).toBeNull();
    await signInWith(link);
    const again = await post("/sign-in", own(), String(tokenOf(link)));
    expect([again.status, again.headers.get("set-cookie")]).toEqual([403, null]);
    expect(await again.text()).toContain("The link was used already");
  });

  test("a session is new at each sign-in, and its cookie is out of reach of scripts and other sites", async () => {
    const { headers } = await post("/sign-in", own(), String(tokenOf(await linkTo(service, state))));
    const cookie = headers.get("set-cookie");
    expect(cookie).toMatch(/^idv-session=\w{43}; Max-Age=43200; Path=\/dashboard; HttpOnly; SameSite=Strict$/);
    expect(cookie).not.toContain(await signIn());
    const https = await post("/sign-in", { ...own(), origin: service.url.replace("http:", "https:") }, "token=x");
    expect(https.status).toBe(403);
  });

  test("a change is refused from another site and without a session", async () => {
    const cookie = await signIn();
    const body = "id=abcdefghi&name=shop&permissions=emails";
    const foreign = [
      ...[{}, { origin: service.url }, { "sec-fetch-site": "same-origin" }],
      ...[by("https://evil.example", "cross-site"), by("https://evil.example", "same-origin")],
      ...[by("null", "same-origin"), by(service.url, "same-site")],
    ];
    for (const headers of foreign) expect((await post("/keys", { ...headers, cookie }, body)).status).toBe(403);
    expect((await post("/keys", own(), body)).status).toBe(401);
    expect((await idv(["keys", "list", "--state", state])).stdout).toBe("");
    expect((await post("/keys", { ...own(), cookie }, body)).status).toBe(200);
    expect((await post("/sign-out", { ...own(), cookie })).status).toBe(200);
    expect((await get(cookie)).status).toBe(401);
  });

  test("a refused form tells which of the reasons it was, with its remedy", async () => {
    const base = "https://validation.example.com";
    const proxied = await serve(temporaryFolder(), "-q", "--state", state, "--base-url", base);
    const lan = await serve(temporaryFolder(), "-q", "--state", state, "--base-url", "http://nas.lan:8787");
    const warning = "--base-url has http: links and sessions of the dashboard are sent unencrypted";
    await expect.poll(lan.said).toContain(warning);
    const remedy = "The operator must make the proxy pass Host on, or start idv serve with --base-url";
    const cases: [Service, object, string][] = [
      [service, by(base, "cross-site"), "sent by another site"],
      [service, { origin: "null" }, "sent by another site"],
      [service, {}, "sent by another site"],
      [service, by(base, "same-origin"), `a proxy replaces the Host field. ${remedy} ${base}`],
      [service, { origin: service.url }, `over plain http. Open the dashboard over https`],
      [service, own(), "The link was used already"],
      [proxied, by(base, "same-origin"), "The link was used already"],
      [proxied, by("https://evil.example", "same-origin"), "replaces the Host field"],
      [proxied, by(base, "same-site"), "sent by another site"],
      [lan, { origin: "http://nas.lan:8787" }, "The link was used already"],
      [lan, { origin: "http://evil.lan:8787" }, "replaces the Host field"],
    ];
    for (const [{ url }, headers, text] of cases) {
      const response = await post("/sign-in", headers, "token=x", url);
      expect([response.status, await response.text()]).toEqual([403, expect.stringContaining(text)]);
    }
  });

  test("a new key may share a quota, but not change its limit", async () => {
    const cookie = await signIn();
    const create = async (fields: string) =>
      (await post("/keys", { ...own(), cookie }, `permissions=emails&quota=team&${fields}`)).text();
    expect(await create("id=aaaaaaaa1&name=a&limit=10&period=day")).toContain("is shown only now");
    expect(await create("id=aaaaaaaa2&name=b&limit=20")).toContain("leave the limit empty to share it as it is");
    expect(await create("id=aaaaaaaa3&name=b")).toContain("is shown only now");
    expect(await create("id=aaaaaaaa3&name=b")).toContain("The key was created already");
  });

  test("two keys cannot have one name, in any letter case, unless one is revoked", async () => {
    const cookie = await signIn();
    const create = async (id: string, name: string) => {
      const response = await post("/keys", { ...own(), cookie }, `id=${id}&name=${name}&permissions=emails`);
      return [response.status, /is shown only now|another key has it/.exec(await response.text())?.[0]];
    };
    expect(await create("bbbbbbbb1", "fair")).toEqual([200, "is shown only now"]);
    expect(await create("bbbbbbbb2", "FAIR")).toEqual([400, "another key has it"]);
    expect(await create("bbbbbbbb3", "other")).toEqual([200, "is shown only now"]);
    const renamed = await post("/keys/bbbbbbbb3/set", { ...own(), cookie }, "name=fair&permissions=emails");
    expect([renamed.status, await renamed.text()]).toEqual([400, expect.stringContaining("another key has it")]);
    const created = await idv(["keys", "create", "--name", "fair", "--state", state]);
    expect([created.code, created.stderr]).toEqual([2, expect.stringContaining('a key named "fair" already')]);
    await post("/keys/bbbbbbbb1/revoke", { ...own(), cookie }, "name=fair");
    expect(await create("bbbbbbbb2", "fair")).toEqual([200, "is shown only now"]);
  });

  test("a form changes only what was changed in it, and tells when somebody else has changed the same", async () => {
    const cookie = await signIn();
    await post("/keys", { ...own(), cookie }, "id=eeeeeeeee&name=both&permissions=emails&limit=10&period=day");
    // A time that the form does not show.
    await idv(["keys", "set", "eeeeeeeee", "--expires", "2999-01-31T15:30:00Z", "--state", state]);
    const page = await (await get(cookie, "/keys/eeeeeeeee")).text();
    const was = /name="was" value="([^"]*)"/.exec(page)![1]!.replaceAll("&amp;", "&");
    const save = async (changed: Record<string, string>, before = was) => {
      const form = new URLSearchParams(was);
      for (const [name, value] of Object.entries(changed)) form.set(name, value);
      form.set("was", before);
      const response = await post("/keys/eeeeeeeee/set", { ...own(), cookie }, form.toString());
      const fault = /role="alert">([^<]*)/.exec(await response.clone().text())?.[1];
      return { status: response.status, fault, page: await response.text() };
    };
    const stored = async () =>
      (await jsonOf(["keys", "list", "--state", state])).find(({ id }: { id: string }) => id === "eeeeeeeee");
    expect(await save({ limit: "20" })).toMatchObject({ status: 200 });
    // Of the old page: another field is no conflict, and does not bring the old limit back.
    expect(await save({ name: "renamed" })).toMatchObject({ status: 200 });
    const expires = "2999-01-31T15:30:00.000Z";
    expect(await stored()).toMatchObject({ name: "renamed", limit: 20, period: "day", expires });
    const conflict = await save({ limit: "30" });
    expect([conflict.status, conflict.fault]).toEqual([409, expect.stringContaining("changed it to 20 since")]);
    expect((await stored()).limit).toBe(20);
    const now = /name="was" value="([^"]*)"/.exec(conflict.page)![1]!.replaceAll("&amp;", "&");
    expect(await save({ name: "renamed", limit: "30" }, now)).toMatchObject({ status: 200 });
    expect(await stored()).toMatchObject({ limit: 30, expires });
  });

  test("a form that is sent after the end of a session comes back, and can be sent again", async () => {
    const form = "id=ccccccccc&name=%3Cb%3Elate&permissions=emails";
    const late = await post("/keys", own(), form);
    const page = await late.text();
    expect([late.status, page]).toEqual([401, expect.stringContaining("Send it again")]);
    const fields = [...page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
    expect(fields.map(([, name, value]) => [name, value])).toEqual([
      ["id", "ccccccccc"],
      ["name", "&lt;b>late"],
      ["permissions", "emails"],
    ]);
    expect(/<form method="post" action="([^"]*)" class="box"/.exec(page)?.[1]).toBe("/dashboard/keys");
    expect((await post("/keys", { ...own(), cookie: await signIn() }, form)).status).toBe(200);
    expect(await (await get("", "/keys")).text()).not.toContain("Send it again");
  });

  test("--sign-out-all ends sessions and links", async () => {
    const [cookie, link] = [await signIn(), await linkTo(service, state)];
    expect((await get(cookie)).status).toBe(200);
    expect((await idv(["dashboard", "--sign-out-all", "--state", state])).code).toBe(0);
    expect((await get(cookie)).status).toBe(401);
    expect((await post("/sign-in", own(), String(tokenOf(link)))).status).toBe(403);
  });

  test("pages forbid frames, foreign content and storing; assets may be kept", async () => {
    const page = await get(await signIn());
    const policy = page.headers.get("content-security-policy")!;
    expect(policy).toMatch(/^default-src 'none'; .*frame-ancestors 'none'$/);
    expect(policy).not.toContain("unsafe");
    expect(page.headers.get("cache-control")).toBe("no-store");
    const text = await page.text();
    let size = text.length;
    for (const pattern of [/href="(\S+\.css)"/, /src="(\S+\.js)"/]) {
      const path = service.url + pattern.exec(text)![1];
      const response = await fetch(path);
      expect(response.headers.get("cache-control")).toContain("immutable");
      expect(response.headers.get("content-encoding")).toBe("gzip");
      for (const refused of ["identity", "gzip;q=0", "br, gzip; q=0.0"]) {
        const whole = await fetch(path, { headers: { "accept-encoding": refused } });
        expect([refused, whole.headers.get("content-encoding")]).toEqual([refused, null]);
        expect(whole.headers.get("vary")).toBe("accept-encoding");
      }
      size += (await response.arrayBuffer()).byteLength;
    }
    expect(size).toBeLessThan(30_000);
  });

  test.each([
    ["GET", "/none", "", 404],
    ["GET", "/keys/../../etc/passwd", "", 404],
    ["GET", "/keys/zzzzzzzzz", "", 404],
    ["GET", "/usage?from=x", "", 400],
    ["GET", "/usage?from=2020-01-01&to=2026-01-01", "", 200],
    ["GET", "/usage?by=hour&from=2026-01-01&to=2026-01-31", "", 200],
    ["GET", "/usage?by=hour&from=2020-01-01&to=2020-01-05", "", 200],
    ["GET", "/usage?from=2120-01-01&to=2120-01-05", "", 200],
    ["GET", "/usage?key=nobody", "", 200],
    ["GET", "/usage.csv?key=nobody", "", 400],
    ["GET", "/usage?by=minute", "", 400],
    ["POST", "/keys", "name=x", 400],
    ["POST", "/keys", "id=abcdefghj&name=x&permissions=emails&limit=-1", 400],
    ["POST", "/keys", "id=abcdefghj&name=x&permissions=all", 400],
    ["POST", "/keys", "id=abcdefghj&name=x&permissions=emails&expires=2001-01-01", 400],
    ["POST", "/keys/zzzzzzzzz/revoke", "name=x", 404],
    ["POST", "/try", `items=${"a".repeat(200_000)}`, 413],
  ])("%s %s %.40s is answered with a page and %d", async (method, path, body, status) => {
    const cookie = await signIn();
    const response = await (method === "POST" ? post(path, { ...own(), cookie }, body) : get(cookie, path));
    expect(response.status).toBe(status);
    if (!path.includes("..")) expect(await response.text()).toContain('<p class="fault" role="alert">');
  });

  test("the address of a form leads to its page", async () => {
    const cookie = await signIn();
    for (const [path, page] of [
      ["/keys/abcdefghi/set", "/keys/abcdefghi"],
      ["/lists/abc/run", "/lists/abc"],
      ["/sessions/end", "/sessions"],
    ]) {
      const { status, headers } = await fetch(`${service.url}/dashboard${path}`, {
        headers: { cookie },
        redirect: "manual",
      });
      expect([path, status, headers.get("location")]).toEqual([path, 303, `/dashboard${page}`]);
    }
  });

  test("a change without a form is answered with a page and 415, and is no bug", async () => {
    const headers = { ...own(), cookie: await signIn() };
    for (const path of ["/keys", "/try", "/sign-in", "/lists/abc/run"]) {
      const response = await fetch(`${service.url}/dashboard${path}`, { method: "POST", headers });
      expect([path, response.status]).toEqual([path, 415]);
      expect(await response.text()).toContain("This is not a form.");
    }
    expect(service.log()).not.toContain("a bug in idv");
  });

  test("every page has less than 40 kB with 1,000 keys, which are searched, sorted and paged", async () => {
    const home = temporaryFolder();
    const large = join(home, "large.db");
    const store = await openSqliteServiceStore(large, Date.now);
    const ids: string[] = [];
    for (let i = 0; i < 1000; i++) {
      const { key } = await store.create({ name: `shop ${i}`, limit: 100, period: "month" });
      ids.push(key.id);
      if (i % 3 === 0) await store.revoke(key.id);
    }
    const statuses = ["ok", "alias", "disposable", "fake", "odd", "quota_exceeded"];
    await store.chargeAll(ids.slice(1, 3).map((keyId) => ({ keyId, kind: "email", statuses })));
    await store.close();
    const service = await serve(home, "-q", "--state", large);
    const cookie = await signInWith(await linkTo(service, large));
    const page = async (path: string) => (await get(cookie, path, service.url)).text();
    const usage = ["/usage", "/usage?by=hour", "/usage?key=shop%201&other=shop%202"];
    for (const path of ["", "/keys", `/keys/${ids[1]}`, ...usage]) {
      const text = await page(path);
      expect(text).not.toContain('class="fault"');
      expect([path, text.length < 40_000]).toEqual([path, true]);
    }
    const names = (text: string) => [...text.matchAll(/">(shop \d+)<\/a>/g)].map(([, name]) => name);
    const first = await page("/keys");
    expect(first).toContain("666 keys, page 1 of 27");
    expect(names(first).slice(0, 3)).toEqual(["shop 1", "shop 2", "shop 4"]);
    expect(names(await page("/keys?page=27")).at(-1)).toBe("shop 998");
    expect(names(await page("/keys?page=9999")).at(-1)).toBe("shop 998");
    const mostUsed = names(await page("/keys?sort=used")).slice(0, 2);
    expect(mostUsed.sort()).toEqual(["shop 1", "shop 2"]);
    expect(names(await page("/keys?search=SHOP+99&show=all"))).toHaveLength(11);
    const revoked = [99, 990, 993, 996, 999].map((number) => `shop ${number}`);
    expect(names(await page("/keys?search=SHOP+99&show=ended"))).toEqual(revoked);
    expect(names(await page(`/keys?search=${ids[5]}`))).toEqual(["shop 5"]);
    expect(await page("/keys?search=%3Cb%3E")).toContain("No such keys.");
  });

  test("no token is in the log, and --no-dashboard serves no pages", async () => {
    await fetch(await linkTo(service, state));
    expect(service.log()).toContain("/dashboard/*");
    expect(service.log()).not.toContain("token");
    const without = await serve(temporaryFolder(), "-q", "--no-dashboard", "--state", state);
    expect((await get("", "", without.url)).status).toBe(404);
  });
});

describe.skipIf(wantedBrowser() === undefined).each(await databases())("in a browser, on %s", (_, newState) => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let service: Service;
  let state: string;
  const faults: string[] = [];
  const name = "<img src=x onerror=alert(1)>";
  beforeAll(async () => {
    state = await newState();
    [browser, service] = await Promise.all([startBrowser(), serve(temporaryFolder(), "-q", "--state", state)]);
    context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
    page = await context.newPage();
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("dialog", (dialog) => faults.push(`dialog: ${dialog.message()}`));
  });
  afterAll(() => browser.close());
  const visit = (path: string) => page.goto(`${service.url}/dashboard${path}`);
  const press = (button: string) => page.getByRole("button", { name: button, exact: true }).click();

  test("a person signs in, creates a key, uses it, sees the usage, rotates, revokes and signs out", async () => {
    await page.goto(await linkTo(service, state));
    await press("Sign in");
    expect(await page.textContent("h1")).toBe("Overview");
    expect(await page.textContent("main")).toContain("No keys yet");
    await page.getByRole("link", { name: "create one" }).click();
    await page.locator("#create [name=name]").fill(name);
    await page.getByLabel("Limit").fill("12");
    await page.locator("#create [name=expires]").fill("2020-01-01");
    await press("Create API key");
    // The form keeps its text, and the fault is at its field.
    expect(await page.textContent(".at-field")).toBe("Expires: give a day in the future.");
    expect(await page.locator("#create [name=name]").inputValue()).toBe(name);
    await page.locator("#create [name=expires]").fill("");
    await press("Create API key");
    const secret = (await page.textContent(".secret code"))!;
    expect(secret).toMatch(/^sk_\w{43}$/);
    await page.getByRole("button", { name: "Copy" }).first().click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
    await page.reload();
    expect(await page.textContent(".fault")).toContain("was created already");
    expect(await page.content()).not.toContain(secret);
    const validate = async (bearer: string, count = 1) => {
      const emails = Array.from({ length: count }, (_, i) => `a${i}-${Math.random()}@larch-and-oak.com`);
      return (await send(`${service.url}/emails/validate`, bearer, { emails })).status;
    };
    expect([await validate(secret, 10), await validate(secret, 3), await validate(secret)]).toEqual([200, 200, 429]);
    await visit("");
    const overview = await page.textContent("main");
    const cards = [
      "12units today",
      "1items not checked",
      "1requests refused",
      `12units in 30 days by the busiest key, ${name}`,
    ];
    for (const words of [...cards, "at most for 95 of 100 checks", `${name}: created (session `]) {
      expect(overview).toContain(words);
    }
    await page.getByRole("link", { name }).first().click();
    expect(await page.textContent("main")).toContain("12 of 12");
    await press("Rotate");
    const next = (await page.textContent(".secret code"))!;
    await page.reload();
    expect(await page.textContent(".fault")).toContain("was given this secret already");
    // The quota is spent: a secret that works gets 429.
    expect([await validate(secret), await validate(next)]).toEqual([429, 429]);
    await press("Rotate");
    const third = (await page.textContent(".secret code"))!;
    await page.getByRole("link", { name: "To the key" }).click();
    await page.getByRole("button", { name: `End now: secret sk_...${next.slice(-4)}` }).click();
    expect(await page.textContent(".good")).toContain("Ended");
    expect([await validate(secret), await validate(next), await validate(third)]).toEqual([429, 401, 429]);
    await page.getByLabel("Limit").fill("100");
    await press("Save");
    expect([await validate(secret), await validate(third)]).toEqual([200, 200]);
    await page.getByLabel("Name of the key").fill("another name");
    await press("Revoke");
    expect(await page.textContent(".fault")).toContain("it was not revoked");
    await page.getByLabel("Name of the key").fill(name);
    await press("Revoke");
    expect(await page.textContent(".good")).toContain("Revoked");
    expect(await validate(third)).toBe(401);
    await visit("/usage?by=hour");
    expect(await page.textContent("h2")).toBe("All keys: 14 units");
    expect(await page.textContent("main")).toContain("The quotas have counted 14 units");
    // The values of a column show with the arrow keys, and under the pointer.
    await visit("/usage");
    await page.locator("[data-chart] svg").first().focus();
    expect(await page.textContent(".said")).toMatch(/UTC: 14 units, ok 14, not checked 1$/);
    await page.keyboard.press("ArrowLeft");
    expect(await page.textContent(".said")).toMatch(/UTC: 0 units$/);
    await page.locator(".hits rect").last().hover();
    expect(await page.textContent(".said")).toMatch(/UTC: 14 units/);
    const encoded = encodeURIComponent(name);
    await visit(`/usage?key=${encoded}&other=nobody`);
    expect(await page.textContent(".fault")).toContain('There is no key "nobody"');
    await visit(`/usage?key=${encoded}&other=${encoded}`);
    expect(await page.locator("h2").allTextContents()).toEqual([`${name}: 14 units`, `${name}: 14 units`]);
    const csv = await context.request.get(`${service.url}/dashboard/usage.csv`);
    expect(await csv.text()).toMatch(/^time,units,ok,.*\r\n[\s\S]*,14,14,0,0,0,0,1\r\n$/);
    await visit("/try");
    await page.getByLabel("Items, one a line").fill(`ann.lee@gmial.com\n${name}@x.com`);
    await press("Check");
    expect(await page.textContent("tbody")).toContain("ann.lee@gmail.com");
    expect(await page.textContent("tbody")).toContain(name);
    await page.getByLabel("Items, one a line").fill("anna@nordlicht-verlag.de\n\tx@mailinator.com\n");
    for (const _ of ["first", "second"]) {
      await press("Check");
      const rows = await page.locator("tbody tr").allTextContents();
      expect(rows.map((row) => row.replaceAll(/\s+/g, " "))).toEqual([
        expect.stringMatching(/^ ?anna@nordlicht-verlag\.de ?ok/),
        expect.stringMatching(/^ ?x@mailinator\.com ?disposable/),
      ]);
    }
    expect(await jsonOf(["keys", "list", "--state", state])).toMatchObject([{ used: 14 }]);
    await press("Sign out");
    await visit("/keys");
    expect(await page.textContent("main")).toContain("You are not signed in");
    // The answer with 401 above is the only thing that a browser may report.
    expect(faults.filter((text) => !/40[01]/.test(text))).toEqual([]);
  });

  testFull("all pages have labels, contrast and headings, and fit a phone, light and dark", async () => {
    await page.goto(await linkTo(service, state));
    await press("Sign in");
    await visit("/keys?show=ended");
    const key = (await page.getByRole("link", { name }).getAttribute("href"))!.slice("/dashboard".length);
    await createKeyIn(state, "--name", "rotated");
    await visit("/keys");
    const href = (await page.getByRole("link", { name: "rotated" }).getAttribute("href"))!;
    await idv(["keys", "rotate", href.split("/").at(-1)!, "--grace", "1h", "--state", state]);
    const rotated = href.slice("/dashboard".length);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      for (const path of ["", "/keys", key, rotated, "/usage", "/try", "/sessions", "/none"]) {
        for (const width of [1280, 390]) {
          await page.setViewportSize({ width, height: 900 });
          await visit(path);
          await expectFits(page);
        }
        // The checker is a script of another origin.
        const checked = await browser.newContext({ bypassCSP: true, storageState: await context.storageState() });
        const other = await checked.newPage();
        await other.emulateMedia({ colorScheme });
        await other.goto(`${service.url}/dashboard${path}`);
        await expectAccessible(other);
        await checked.close();
      }
    }
  });

  testFull("a key is created by keyboard alone, from the link in the menu to the secret", async () => {
    await page.goto(await linkTo(service, state));
    await press("Sign in");
    /** Goes on with Tab until an element has the focus, which the page has to show. */
    const tabTo = async (selector: string) => {
      for (let tabs = 0; tabs < 40; tabs++) {
        await page.keyboard.press("Tab");
        const isThere = await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector);
        if (!isThere) continue;
        const outline = await page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle);
        expect([selector, outline]).toEqual([selector, "solid"]);
        return;
      }
      throw new Error(`${selector} is out of reach`);
    };
    await tabTo('nav a[href="/dashboard/keys"]');
    await page.keyboard.press("Enter");
    await page.waitForURL(/keys$/);
    await tabTo('a[href="#create"]');
    await page.keyboard.press("Enter");
    await tabTo("#create [name=name]");
    await page.keyboard.type("by keyboard");
    await tabTo("#create select[name=period]");
    await page.keyboard.press("ArrowUp");
    await tabTo("#create button");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".secret code");
    expect(await jsonOf(["keys", "list", "--state", state])).toContainEqual(
      expect.objectContaining({ name: "by keyboard", period: "day" }),
    );
  });

  testFull("on a slow network, a list that is sent shows how far it is, and a broken connection says so", async () => {
    const slow = await browser.newContext({ storageState: await context.storageState() });
    const other = await slow.newPage();
    const network = await slow.newCDPSession(other);
    await other.goto(`${service.url}/dashboard/lists`);
    // A lists page needs a folder, which SQLite has beside it.
    const input = other.locator("input[type=file]");
    if ((await input.count()) === 0) return;
    const throughput = 200_000;
    const conditions = { offline: false, latency: 200, downloadThroughput: throughput, uploadThroughput: throughput };
    await network.send("Network.emulateNetworkConditions", conditions);
    const rows = Buffer.from("ann@larch-and-oak.com\n".repeat(30_000));
    // Dropped anywhere: the browser would open the file.
    const isHandled = await other.evaluate(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["x"], "dropped.txt"));
      const event = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
      return !document.querySelector("footer, body")!.dispatchEvent(event);
    });
    const nameOf = () => input.evaluate((each) => (each as HTMLInputElement).files?.[0]?.name);
    expect([isHandled, await nameOf()]).toEqual([true, "dropped.txt"]);
    await input.setInputFiles({ name: "slow.txt", mimeType: "text/plain", buffer: rows });
    await other.getByRole("button", { name: "Send" }).click();
    await expect.poll(() => other.textContent("form output")).toMatch(/^\d+ % sent$|^Reading/);
    await network.send("Network.emulateNetworkConditions", { ...conditions, offline: true });
    await expect.poll(() => other.textContent("form output")).toBe("The connection broke: try again.");
    await network.send("Network.emulateNetworkConditions", conditions);
    await other.getByRole("button", { name: "Send" }).click();
    await other.waitForURL(/lists\/\w+$/);
    expect(await other.textContent("h1")).toBe("slow.txt");
    await other.getByRole("button", { name: "Remove the list" }).click();
    await other.waitForURL(/lists$/);
    await slow.close();
  });

  testFull("the pages work without a script", async () => {
    const plain = await browser.newContext({ javaScriptEnabled: false });
    const still = await plain.newPage();
    await still.goto(await linkTo(service, state));
    await still.getByRole("button", { name: "Sign in" }).click();
    await still.goto(`${service.url}/dashboard/keys`);
    await still.locator("#create [name=name]").fill("plain");
    await still.getByRole("button", { name: "Create API key" }).click();
    expect(await still.textContent(".secret code")).toMatch(/^sk_/);
    expect(await still.getByRole("button", { name: "Copy" }).count()).toBe(0);
    await plain.close();
  });
});
