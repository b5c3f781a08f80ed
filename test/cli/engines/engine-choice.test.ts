/** Covers the choice of the engine and the reason given for it. */
import { expect, test } from "vitest";
import type { Settings } from "../../../src/cli/config/settings.js";
import { chooseEngine, type ServiceOptions } from "../../../src/cli/engines/engine-choice.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const url = "https://validation.example.com";

interface Given {
  readonly engine?: "auto" | "api" | "offline";
  readonly baseUrl?: string;
  readonly isUntrusted?: true;
  readonly key?: string;
  readonly allowsHttp?: boolean;
  readonly options?: ServiceOptions;
}

function choose({ engine = "auto", baseUrl, isUntrusted, key, allowsHttp = false, options = {} }: Given) {
  const settings = {
    engine: { value: engine, source: "IDV_ENGINE" },
    baseUrl: { value: baseUrl, source: "a file", ...(isUntrusted && { isUntrusted }) },
    allowInsecureHttp: { value: allowsHttp, source: "--set" },
    apiKeyFile: { value: undefined, source: "default" },
  } as Settings;
  const env = { XDG_CONFIG_HOME: temporaryFolder(), ...(key !== undefined && { IDV_API_KEY: key }) };
  return chooseEngine(settings, options, env);
}

const byKey = "api: URL of a file; a key is configured: IDV_API_KEY";
const untrusted = { baseUrl: url, isUntrusted: true } as const;
test.each<[string, Given, string]>([
  ["no key", {}, "offline: no key is configured"],
  ["an empty key and no service", { key: "" }, "offline: no key is configured"],
  ["a key and a base URL", { key: "k", baseUrl: url }, byKey],
  ["the engine api", { engine: "api", key: "k", baseUrl: url }, "api: URL of a file; IDV_ENGINE"],
  ["the engine offline", { engine: "offline", key: "k", baseUrl: url }, "offline: IDV_ENGINE"],
  ["--offline", { key: "k", baseUrl: url, options: { offline: true } }, "offline: --offline"],
  ["--offline and an untrusted URL", { key: "k", ...untrusted, options: { offline: true } }, "offline: --offline"],
  ["plain http to this machine", { key: "k", baseUrl: "http://127.0.0.1:8787" }, byKey],
  ["plain http that is allowed", { key: "k", baseUrl: "http://192.0.2.1", allowsHttp: true }, byKey],
])("chooses an engine and gives the reason for %s", async (_, given, expected) => {
  const { name, reason } = await choose(given);
  expect(`${name}: ${reason}`).toBe(expected);
});

test.each<[string, Given, string, string]>([
  ["the engine api without a key", { engine: "api" }, "AuthorisationError", "no key is configured"],
  ["a service without a key", { baseUrl: url }, "AuthorisationError", `${url} (a file): no key is configured`],
  ["a service of a project", untrusted, "AuthorisationError", `${url} (a file): no key is configured`],
  ["a service with an empty key", { baseUrl: url, key: "" }, "AuthorisationError", "IDV_API_KEY is empty"],
  ["a service with a blank key", { baseUrl: url, key: "  " }, "AuthorisationError", "IDV_API_KEY: holds no key"],
  ["the engine api with an empty key", { engine: "api", key: "" }, "AuthorisationError", "IDV_API_KEY is empty"],
  ["a key in quotes", { key: '"abc"', baseUrl: url }, "AuthorisationError", "IDV_API_KEY: the key is in quotes; leave"],
  ["a key with a name", { key: "IDV_API_KEY=abc", baseUrl: url }, "AuthorisationError", "a name stands before the key"],
  ["a key of two words", { key: "a b", baseUrl: url }, "AuthorisationError", "IDV_API_KEY: holds no key"],
  ["a key without a base URL", { key: "k" }, "UsageError", "no base URL"],
  ["plain http to another host", { key: "k", baseUrl: "http://192.0.2.1" }, "UsageError", "would be sent unencrypted"],
  ["an untrusted base URL with a key", { key: "k", ...untrusted }, "UsageError", "is not trusted"],
  ["an untrusted URL with the engine api", { engine: "api", ...untrusted }, "UsageError", "is not trusted"],
])("rejects %s as a choice of the engine", async (_, given, name, message) => {
  await expect(choose(given)).rejects.toMatchObject({ name, message: expect.stringContaining(message) });
});
