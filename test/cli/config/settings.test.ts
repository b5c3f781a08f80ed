/** Covers the precedence of settings and which of them a project's file may set. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { resolveSettings } from "../../../src/cli/config/resolve-settings.js";
import {
  type SettingName,
  type SettingOptions,
  setSetting,
  settingNames,
  settingOf,
  showSetting,
  variableOf,
} from "../../../src/cli/config/settings.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

interface Given {
  readonly options?: SettingOptions;
  readonly env?: Readonly<Record<string, string>>;
  readonly project?: object;
  readonly user?: object;
  readonly login?: string;
}

/** Resolves the settings of a home with these files. */
async function resolve({ options = {}, env = {}, project, user, login }: Given) {
  const home = temporaryFolder();
  const write = (path: string, content: object | undefined) => {
    if (content === undefined) return;
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), JSON.stringify(content));
  };
  write("project/.idvrc.json", project ?? {});
  write("config/idv/config.json", user);
  write("config/idv/credentials.json", login === undefined ? undefined : { baseUrl: login, key: "sk_1" });
  const all = { XDG_CONFIG_HOME: join(home, "config"), ...env };
  const resolved = await resolveSettings(options, all, join(home, "project"), () => {});
  return { resolved, source: (name: SettingName) => resolved[name].source.replace(`${home}/`, "") };
}

const ofProject = "project/.idvrc.json";
test.each<[string, Given, number, string]>([
  ["the default", {}, 100, "default"],
  ["the user's file before the default", { user: { batchSize: 2 } }, 2, "config/idv/config.json"],
  ["the project's file before the user's", { user: { batchSize: 2 }, project: { batchSize: 3 } }, 3, ofProject],
  ["a variable before the files", { project: { batchSize: 3 }, env: { IDV_BATCH_SIZE: "4" } }, 4, "IDV_BATCH_SIZE"],
  ["--set before all others", { env: { IDV_BATCH_SIZE: "4" }, options: { set: [["batchSize", 5]] } }, 5, "--set"],
  ["the default if a variable is empty", { env: { IDV_BATCH_SIZE: "" } }, 100, "default"],
])("resolves a setting from %s", async (_, given, value, source) => {
  const { resolved, source: sourceOf } = await resolve(given);
  expect({ value: resolved.batchSize.value, source: sourceOf("batchSize") }).toEqual({ value, source });
});

const origin = "https://a.example.com";
const [url, other] = [`${origin}/v1`, "https://b.example.com"];
test.each<[string, Given, boolean]>([
  ["no other source", { project: { baseUrl: url } }, true],
  ["the user's file names another service", { project: { baseUrl: url }, user: { baseUrl: other } }, true],
  ["idv login is for another service", { project: { baseUrl: url }, login: other }, true],
  ["the user's file names the same origin", { project: { baseUrl: url }, user: { baseUrl: origin } }, false],
  ["idv login is for the same origin", { project: { baseUrl: url }, login: url }, false],
  ["only the user's file names it", { user: { baseUrl: url } }, false],
  ["a variable names it", { project: { baseUrl: other }, env: { IDV_BASE_URL: url } }, false],
])("marks a base URL as untrusted if only the project names it: %s", async (_, given, isUntrusted) => {
  const { resolved } = await resolve(given);
  expect(resolved.baseUrl.isUntrusted ?? false).toBe(isUntrusted);
});

test.each<[string, Given, boolean]>([
  ["api", { project: { engine: "api" } }, true],
  ["auto", { project: { engine: "auto" } }, true],
  ["offline", { project: { engine: "offline" } }, false],
  ["api with a service of the user's", { project: { engine: "api", baseUrl: url }, user: { baseUrl: url } }, false],
])("distrusts a project's engine that sends to an unknown service: %s", async (_, given, isUntrusted) => {
  const { resolved } = await resolve(given);
  expect(resolved.engine.isUntrusted ?? false).toBe(isUntrusted);
});

const unknown = 'config.json: "colour" is not a known setting; see idv help settings';
test.each<[string, Given, string]>([
  ["a value of a variable", { env: { IDV_CONCURRENCY: "0" } }, 'IDV_CONCURRENCY: "0" is invalid.'],
  ["a value of a file", { project: { timeout: "soon" } }, '.idvrc.json: timeout: "soon" is invalid.'],
  ["a key in a file", { user: { apiKey: "sk_1" } }, "config.json: a key does not belong here"],
  ["an unknown setting", { user: { colour: 1 } }, unknown],
  ["null in a file", { project: { emptyValues: null } }, ".idvrc.json: emptyValues: takes text, a number"],
  ["an object in a file", { user: { cell: {} } }, "config.json: cell: takes text, a number"],
  [
    "a password, which is not shown",
    { env: { IDV_BASE_URL: "https://u:p@x.net" } },
    "IDV_BASE_URL: the URL is invalid.",
  ],
])("rejects %s", (_, given, message) => expect(resolve(given)).rejects.toThrow(message));

test.each<[string, (path: string) => void, string]>([
  ["a folder", (path) => mkdirSync(path), "not a regular file"],
  ["a loop of links", (path) => symlinkSync("config.json", path), "its links lead in a circle"],
])("explains what to do if the user's file is %s", async (_, make, reason) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "idv"));
  const path = join(folder, "idv/config.json");
  make(path);
  await expect(resolveSettings({}, { XDG_CONFIG_HOME: folder }, undefined, () => {})).rejects.toThrow(
    `${path}: cannot be read: ${reason}; make it readable, or set XDG_CONFIG_HOME to another folder`,
  );
});

test.each<[SettingName, unknown, string]>([
  ["timeout", 30_000, "30s"],
  ["retryBudget", 90_000, "90s"],
  ["cacheTtl", 2_592_000_000, "30d"],
  ["rate", { items: 50, milliseconds: 60_000 }, "50/m"],
  ["rate", undefined, "none"],
  ["batchSize", 100, "100"],
])("shows %s in the form that its option accepts", (name, value, text) => expect(showSetting(name, value)).toBe(text));

test("every setting has a variable and a valid default", () => {
  for (const name of settingNames) {
    const { flags = "--x <N>", parse, fallback } = settingOf(name);
    expect(flags).toMatch(/^--[a-z-]+ (<|\[=)/);
    expect(variableOf(name)).toMatch(/^IDV_[A-Z_]+$/);
    if (fallback !== undefined) expect(() => parse(fallback)).not.toThrow();
  }
});

test.each([
  ["baseUrl=https://u:secret@x.net", "--set baseUrl: the URL is invalid. It must have no user"],
  ["apiKey=secret", '--set: "apiKey" is not a known setting'],
  ["sk_secret", "--set: takes NAME=VALUE, as in timeout=1m"],
  ["timeout=soon", '--set timeout: "soon" is invalid.'],
])("rejects --set %s and shows no secret in the message", (text, message) => {
  expect(() => setSetting(text, "--set")).toThrow(message);
  expect(() => setSetting(text, "--set")).not.toThrow("secret");
});

test.each([
  ["IDV_TIMEOUTT", "IDV_TIMEOUTT: idv has no such variable (did you mean IDV_TIMEOUT?)"],
  ["IDV_ALLOW", undefined],
  ["IDV_SERVICE_PORT_HTTP", undefined],
  ["IDV_PORT_8787_TCP", undefined],
  ["IDV_BATCH_SIZE", undefined],
  ["IDVX", undefined],
  ["IDV_LIMIT", "IDV_LIMIT: idv has no such variable"],
])("a variable that would be ignored is named: %s", async (name, note) => {
  const notes: string[] = [];
  await resolveSettings({}, { XDG_CONFIG_HOME: temporaryFolder(), [name]: "1" }, undefined, (text) => notes.push(text));
  expect(notes).toEqual(note === undefined ? [] : [note]);
});

test.each(["1", "true", "0"])("IDV_OFFLINE=%s promises what only another variable does", async (value) => {
  const resolving = resolveSettings(
    {},
    { XDG_CONFIG_HOME: temporaryFolder(), IDV_OFFLINE: value },
    undefined,
    () => {},
  );
  await expect(resolving).rejects.toThrow("IDV_OFFLINE: idv has no such variable; use IDV_ENGINE=offline or --offline");
});
