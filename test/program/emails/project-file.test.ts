/** Covers the trust in a project's `.idvrc.json`: keys are sent only to services that the user has named. */
import { chmodSync, chownSync, existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { idv } from "../../support/run-idv.js";
import { respond, scriptedServer } from "../../support/scripted-server.js";
import { folderOf } from "../../support/temporary-folder.js";

/** Creates a home with a project whose `.idvrc.json` holds `settings`. */
function homeWith(settings: object, files: Readonly<Record<string, string>> = {}): string {
  const project = {
    ".idvrc.json": JSON.stringify(settings),
    "list.csv": "email\nann@larch-and-oak.com\n",
    key: "sk_file",
  };
  const below = Object.entries(project).map(([name, text]) => [`project/${name}`, text]);
  return folderOf({ ...Object.fromEntries(below), ...files }, 0o600);
}

/** The file of `idv login`. */
const loginFor = (baseUrl: string) => ({
  ".config/idv/credentials.json": JSON.stringify({ baseUrl, key: "sk_login" }),
});

const inProject = (home: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  idv(["emails", "-q", "list.csv", ...args], { home: join(home, "project"), env: { ...env, HOME: home } });

describe("a base URL set only by a project's file", () => {
  test.each<[string, string[], Record<string, string>]>([
    ["a key from the environment", [], { IDV_API_KEY: "sk_1" }],
    ["a key from a command", [], { IDV_API_KEY_COMMAND: "touch asked; echo sk_1" }],
    ["a key from a file", ["--set", "apiKeyFile=key"], {}],
    ["--set engine=api and no key", ["--set", "engine=api"], {}],
    ["the user's base URL for another service", [], { IDV_API_KEY: "sk_1", USERS_URL: "https://a.net" }],
  ])("gets no request and no key with %s", async (_, args, { USERS_URL: usersUrl, ...env }) => {
    const server = await scriptedServer(respond());
    const own = usersUrl === undefined ? {} : { ".config/idv/config.json": `{"baseUrl":"${usersUrl}"}` };
    const home = homeWith({ baseUrl: server.url }, own);
    const { code, stdout, stderr } = await inProject(home, args, env);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toBe(
      `idv: ${join(home, "project/.idvrc.json")}: baseUrl ${server.url} is not trusted, since your key would be sent there; ` +
        `if it is right, run idv login --base-url ${server.url}, or pass --base-url ${server.url}; --offline ignores it\n`,
    );
    expect(server.seen).toEqual([]);
    expect(existsSync(join(home, "project/asked"))).toBe(false);
  });

  test("gets no key stored by idv login for another service", async () => {
    const server = await scriptedServer(respond());
    const home = homeWith({ baseUrl: server.url }, loginFor("https://a.net"));
    expect((await inProject(home, [])).code).toBe(2);
    expect(server.seen).toEqual([]);
  });

  test.each<[string, string[], Record<string, string>]>([
    ["--offline", ["--offline"], { IDV_API_KEY: "sk_1" }],
    ["IDV_ENGINE=offline", [], { IDV_API_KEY: "sk_1", IDV_ENGINE: "offline" }],
  ])("does not stop a run that sends nothing: %s", async (_, args, env) => {
    const server = await scriptedServer(respond());
    expect(await inProject(homeWith({ baseUrl: server.url }), args, env)).toMatchObject({ code: 0, stderr: "" });
    expect(server.seen).toEqual([]);
  });

  test("counts as a service that was named: without a key, no other engine takes its place", async () => {
    const server = await scriptedServer(respond());
    const outcome = await inProject(homeWith({ baseUrl: server.url }), ["-q"], { IDV_API_KEY: "" });
    expect(outcome).toMatchObject({ code: 3, stderr: expect.stringContaining("IDV_API_KEY is empty") });
    expect(server.seen).toEqual([]);
  });

  test("makes idv doctor fail", async () => {
    const home = homeWith({ baseUrl: "https://b.net" });
    const env = { HOME: home, IDV_API_KEY: "sk_1" };
    const stdout = expect.stringContaining("baseUrl https://b.net is not trusted");
    expect(await idv(["doctor"], { home: join(home, "project"), env })).toMatchObject({ code: 2, stdout });
  });
});

describe("a base URL set by a project's file and by the user", () => {
  test.each<[string, (url: string) => string[], (url: string) => Record<string, string>, string]>([
    ["an option", (url) => ["--base-url", url], () => ({}), ""],
    ["a variable", () => [], (url) => ({ IDV_BASE_URL: url }), ""],
    ["the user's file, with another path", () => [], () => ({}), ".config/idv/config.json"],
  ])("gets the key with %s", async (_, args, env, file) => {
    const server = await scriptedServer(respond());
    const own = file === "" ? {} : { [file]: JSON.stringify({ baseUrl: `${server.url}/v2` }) };
    const home = homeWith({ baseUrl: server.url, batchSize: 7 }, own);
    const outcome = await inProject(home, args(server.url), { IDV_API_KEY: "sk_1", ...env(server.url) });
    expect(outcome).toMatchObject({ code: 0, stderr: "" });
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(["Bearer sk_1"]);
  });

  test("gets the key of idv login", async () => {
    const server = await scriptedServer(respond());
    expect((await inProject(homeWith({ baseUrl: server.url }, loginFor(server.url)), [])).code).toBe(0);
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(["Bearer sk_login"]);
  });
});

test("a project's file cannot set engine api unless the user names the service", async () => {
  const stderr = expect.stringContaining(
    ".idvrc.json: the engine of a project's file that names no service of yours is not trusted",
  );
  expect(await inProject(homeWith({ engine: "api" }), [], { IDV_API_KEY: "sk_1" })).toMatchObject({ code: 2, stderr });
});

test.skipIf(process.getuid?.() !== 0)("a project's file of another user is not read, and that is said", async () => {
  const home = folderOf({ ".idvrc.json": '{"batchSize": "nonsense"}' });
  const path = join(home, ".idvrc.json");
  const run = (uid?: number) =>
    idv(["emails"], { home, stdin: "ann@larch-and-oak.com\n", ...(uid !== undefined && { uid }) });
  const passedOver = { code: 0, stderr: expect.stringContaining("it belongs to another user") };
  chownSync(path, 12_345, 12_345);
  expect(await run()).toMatchObject(passedOver);
  chownSync(path, 0, 0);
  const own = expect.stringContaining('batchSize: "nonsense" is invalid');
  expect(await run()).toMatchObject({ code: 2, stderr: own });
  chmodSync(home, 0o777);
  chmodSync(path, 0o600);
  // Root's files count for everybody, so one that cannot be read is a fault.
  const advice = "make it readable, or run idv in another folder";
  const stderr = `idv: ${path}: cannot be read: permission denied; ${advice}\n`;
  expect(await run(65_534)).toMatchObject({ code: 6, stderr });
  chownSync(path, 12_345, 12_345);
  expect(await run(65_534)).toMatchObject(passedOver);
});
