/** Covers that nothing which changes the state is left out of the audit: each route of the service and the dashboard in turn. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { idv } from "../../support/run-idv.js";
import { serve } from "../../support/service.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const home = temporaryFolder();
const run = async (...args: string[]) => (await idv(args, { home })).stdout.trim();

interface Entry {
  readonly who: string;
  readonly what: string;
  readonly key: string;
}

const entries = async (): Promise<readonly Entry[]> =>
  (await run("audit", "--json"))
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

/** Routes that change something, as the sources write them: the file, and the path in it. */
function routesInSources(): readonly string[] {
  const folder = fileURLToPath(new URL("../../../src/server", import.meta.url));
  const files = ["service", "dashboard"].flatMap((part) =>
    readdirSync(`${folder}/${part}/routes`).map((name) => `${part}/routes/${name}`),
  );
  const found = files.flatMap((file) => {
    const text = readFileSync(`${folder}/${file}`, "utf8");
    return [...text.matchAll(/\.(post|put|patch|delete)\(\s*[`"]([^`"]*)/g)].map(
      ([, method, path]) => `${file.replace("/routes/", " ").replace(".ts", "")}: ${method} ${path}`,
    );
  });
  return found.sort();
}

test("each route that changes something writes who has changed what", async () => {
  const service = await serve(home, "-q");
  const key = await run("keys", "create", "--name", "shop");
  const keyId = JSON.parse(await run("keys", "list", "--json")).id;
  const api = (method: string, path: string, body?: string, headers = {}) =>
    fetch(service.url + path, { method, body, headers: { authorization: `Bearer ${key}`, ...headers } } as RequestInit);
  let cookie = "";
  const form = (path: string, fields: Record<string, string> | FormData) =>
    fetch(`${service.url}/dashboard${path}`, {
      method: "POST",
      redirect: "manual",
      headers: { origin: service.url, "sec-fetch-site": "same-origin", cookie },
      body: fields instanceof FormData ? fields : new URLSearchParams(fields),
    });
  const signIn = async () => {
    const link = await run("dashboard", "--base-url", service.url, "--name", "anna");
    const response = await form("/sign-in", { token: new URL(link).searchParams.get("token")! });
    cookie = response.headers.get("set-cookie")!.split(";")[0]!;
    return response;
  };
  const stateOf = async (id: string) => (await (await api("GET", `/lists/${id}`)).json()).state;
  const made = async (name: string) => {
    const list = "email\nann@larch-and-oak.com\nbob@larch-and-oak.com\n";
    const response = await api("POST", `/lists?name=${name}`, list, { "content-type": "text/csv" });
    return { response, id: ((await response.clone().json()) as { id: string }).id };
  };
  /** Ends with the quota, of which a later run has enough. */
  const ended = async (name: string) => {
    const { used } = JSON.parse(
      (await run("keys", "list", "--json")).split("\n").find((line) => line.includes(keyId))!,
    );
    await run("keys", "set", keyId, "--limit", String(used + 1));
    const { id } = await made(name);
    await expect.poll(() => stateOf(id)).toBe("done");
    await run("keys", "set", keyId, "--limit", "none");
    return id;
  };
  let uploaded = "";

  /** A request for each route, and what the audit has of it; undefined where nothing but units changes, which are the usage. */
  const routes: Record<string, readonly [request: () => Promise<Response>, what: RegExp | undefined, who?: string]> = {
    "service validate: post /${field}/validate": [
      () => api("POST", "/emails/validate", '{"emails":["ann@b.net"]}', { "content-type": "application/json" }),
      undefined,
    ],
    "service warehouses: post /${field}/${name}": [
      () => api("POST", "/emails/bigquery", '{"calls":[["ann@b.net"]]}', { "content-type": "application/json" }),
      undefined,
    ],
    "service lists: post /lists": [async () => (await made("a.csv")).response, /^list made: a\.csv$/, `key ${keyId}`],
    "service lists: delete /lists/:id": [
      async () => api("DELETE", `/lists/${await ended("b.csv")}`),
      /^list removed: b\.csv$/,
      `key ${keyId}`,
    ],
    "service lists: post /lists/:id/run": [
      async () => api("POST", `/lists/${await ended("c.csv")}/run`),
      /^list run again: c\.csv$/,
      `key ${keyId}`,
    ],
    "dashboard sessions: post /sign-in": [signIn, /^signed in$/],
    "dashboard try: post /try": [() => form("/try", { kind: "email", items: "ann@b.net" }), undefined],
    "dashboard keys: post /keys": [
      () => form("/keys", { id: "made11111", name: "m", permissions: "emails" }),
      /^created$/,
    ],
    "dashboard keys: post ${path}/set": [
      () => form("/keys/made11111/set", { name: "n", permissions: "emails", period: "none" }),
      /name/,
    ],
    "dashboard keys: post ${path}/rotate": [
      () => form("/keys/made11111/rotate", { id: "made22222", grace: "24" }),
      /rotated/,
    ],
    "dashboard keys: post ${path}/end": [() => form("/keys/made11111/end", { id: "made11111" }), /secret/],
    "dashboard keys: post ${path}/revoke": [() => form("/keys/made11111/revoke", { name: "n" }), /^revoked$/],
    "dashboard lists: post /lists": [
      async () => {
        const fields = new FormData();
        fields.set("kind", "email");
        fields.set("file", new Blob(["email\ncarla@larch-and-oak.com\n"]), "d.csv");
        const response = await form("/lists", fields);
        uploaded = response.headers.get("location")!.split("/").at(-1)!;
        return response;
      },
      /^list made: d\.csv$/,
    ],
    "dashboard lists: post ${path}/run": [
      async () => {
        const page = () => fetch(`${service.url}/dashboard/lists/${uploaded}`, { headers: { cookie } });
        await expect.poll(async () => (await page()).text()).toContain(`/dashboard/lists/${uploaded}/run`);
        return form(`/lists/${uploaded}/run`, { key: keyId });
      },
      /^charged for the list d\.csv$/,
    ],
    "dashboard lists: post ${path}/rest": [
      async () => form(`/lists/${await ended("e.csv")}/rest`, {}),
      /^list run again: e\.csv$/,
    ],
    "dashboard lists: post ${path}/remove": [() => form(`/lists/${uploaded}/remove`, {}), /^list removed: d\.csv$/],
    "dashboard sessions: post /sessions/end": [
      async () => {
        const own = cookie;
        await signIn();
        const page = await (await fetch(`${service.url}/dashboard/sessions`, { headers: { cookie } })).text();
        const ids = [...page.matchAll(/name="id" value="(\w+)"/g)].map(([, id]) => id!);
        expect(own).not.toBe(cookie);
        return form("/sessions/end", { id: ids.at(-1)! });
      },
      /^session ended/,
    ],
    "dashboard sessions: post /sign-out": [
      async () => {
        await signIn();
        return form("/sign-out", {});
      },
      /^signed out$/,
    ],
  };
  expect(Object.keys(routes).sort()).toEqual(routesInSources());
  for (const [route, [request, what, who = "anna"]] of Object.entries(routes)) {
    const before = (await entries()).length;
    const response = await request();
    const text = await response.text();
    expect([route, response.status < 400 || text]).toEqual([route, true]);
    const [last] = await entries();
    if (what === undefined) expect([route, (await entries()).length]).toEqual([route, before]);
    else expect([route, last]).toMatchObject([route, { who, what: expect.stringMatching(what) }]);
  }
  // Runs under way would write into the folder while it is removed.
  const states = async () => {
    const { lists } = (await (await api("GET", "/lists")).json()) as { lists: { state: string }[] };
    return lists.every(({ state }) => state === "done");
  };
  await expect.poll(states).toBe(true);
});
