/** Covers what a run says of its engine, its key and its settings. */
import { describe, expect, test } from "vitest";
import { idv } from "../../support/run-here.js";
import { folderOf } from "../../support/temporary-folder.js";

describe("the choice of engine and key", () => {
  const file = { "list.csv": "email\nann@larch-and-oak.com\n" };
  const homeWith = (files: Readonly<Record<string, string>>) => folderOf(files, 0o600);
  const service = { IDV_BASE_URL: "https://x.net" };
  const noKey = "idv: no key is configured: run idv login, set IDV_API_KEY, or use --offline\n";
  const noBaseUrl =
    "idv: no base URL: a key is configured (IDV_API_KEY), so name its service with --base-url or IDV_BASE_URL, or use --offline\n";
  const plainHttp =
    "idv: http://192.0.2.1 (--base-url): the key would be sent unencrypted; use https, or --set allowInsecureHttp=true\n";
  const invalidUrl = 'idv: IDV_BASE_URL: "ftp://x" is invalid. It takes a URL such as https://example.com/v1.\n';
  const holdsNone = "holds no key; a key is one word of ASCII characters\n";
  const commandFailed = "idv: IDV_API_KEY_COMMAND: the command failed: exit code 7\n";
  const otherEngine = "idv: --quota is for the offline engine; add --offline\n";
  test.each<[string, string[], Record<string, string>, number, string]>([
    ["no key", [], {}, 0, "offline engine (no key is configured)"],
    ["an empty key", [], { IDV_API_KEY: "", IDV_ENGINE: "" }, 0, "offline engine (no key is configured)"],
    ["--offline with a key", ["--offline"], { IDV_API_KEY: "sk_1" }, 0, "offline engine (--offline)"],
    [
      "a mistyped variable",
      [],
      { IDV_APIKEY: "sk_1" },
      2,
      "IDV_APIKEY: idv has no such variable; did you mean IDV_API_KEY?",
    ],
    ["one of the service", [], { IDV_BASEURL: "https://b.net" }, 2, "did you mean IDV_BASE_URL?"],
    ["--offline with one", ["--offline"], { IDV_APIKEY: "sk_1" }, 0, "offline engine (--offline)"],
    ["IDV_ENGINE", [], { IDV_API_KEY: "sk_1", IDV_ENGINE: "offline" }, 0, "offline engine (IDV_ENGINE)"],
    ["--set engine=api without a key", ["--set", "engine=api"], {}, 3, noKey],
    ["a key without a base URL", [], { IDV_API_KEY: "sk_1" }, 2, noBaseUrl],
    ["plain http to another host", ["--base-url", "http://192.0.2.1"], { IDV_API_KEY: "sk_1" }, 2, plainHttp],
    ["an invalid base URL", [], { IDV_API_KEY: "sk_1", IDV_BASE_URL: "ftp://x" }, 2, invalidUrl],
    ["a key of two words", [], { IDV_API_KEY: "sk_1 sk_2", ...service }, 3, `idv: IDV_API_KEY: ${holdsNone}`],
    ["a command that fails", [], { IDV_API_KEY_COMMAND: "exit 7", ...service }, 3, commandFailed],
    [
      "a command that prints nothing",
      [],
      { IDV_API_KEY_COMMAND: "true", ...service },
      3,
      "idv: IDV_API_KEY_COMMAND: the command printed no key",
    ],
    ["a missing key file", ["--set", "apiKeyFile=none"], {}, 6, "idv: none: the key cannot be read: no such file\n"],
    ["an option of the other engine", ["--quota", "q"], { IDV_API_KEY: "sk_1", ...service }, 2, otherEngine],
  ])("comes with its reason for %s", async (_, args, env, code, message) => {
    const outcome = await idv(["emails", "list.csv", ...args], { home: homeWith(file), env });
    expect(outcome).toMatchObject({ code, stderr: expect.stringContaining(message) });
  });

  test.each([
    ["{", ".idvrc.json:1:2: not JSON from here on"],
    ['{"a": "1m",\n "b": position 77}', ".idvrc.json: not JSON"],
    ['{"a": 1,\n  "b" 2}', ".idvrc.json:2:7: not JSON from here on"],
    ["[]", "not a JSON object"],
    ['{"apiKey":"sk_1"}', "a key does not belong here; idv login keeps it in a file of its own"],
    ['{"colour":1}', '"colour" is not a known setting; see idv help settings'],
  ])("fails with a project's file that is wrong: %s", async (text, message) => {
    const home = homeWith({ ...file, ".idvrc.json": text });
    const { code, stderr } = await idv(["emails", "list.csv"], { home });
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });
});
