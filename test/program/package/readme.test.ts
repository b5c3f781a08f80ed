/** Covers the README and the recipes: every command line in them is run, and every output that they show is compared. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { startDnsServer } from "../../support/dns-server.js";
import { pathWithIdv } from "../../support/processes.js";
import { hasProgram } from "../../support/programs.js";
import { finished, fixtures, idv } from "../../support/run-idv.js";
import type { Outcome } from "../../support/run-settings.js";
import { createKey, serve } from "../../support/service.js";
import { folderOf } from "../../support/temporary-folder.js";
import { isFull, some } from "../../support/tier.js";

const readme = readFileSync(new URL("../../../README.md", import.meta.url), "utf8");
const recipes = readFileSync(new URL("../../../src/cli/help/topics/recipes.md", import.meta.url), "utf8");
/** The code blocks: their language, their text, and the last line of text above them. */
const blocksIn = (markdown: string) =>
  Array.from(markdown.matchAll(/([^\n]*)\n\n```(\w*)\n(.*?)```/gs), ([, above, language, text]) => ({
    above: above!,
    language: language!,
    text: text!,
  }));
const blocks = blocksIn(readme);
const linesIn = (shown: typeof blocks) => {
  const scripts = shown.filter(({ language }) => language === "sh").map(({ text }) => text.replace(/\\\n */g, ""));
  return scripts.flatMap((text) => text.trim().split("\n")).filter((line) => !line.startsWith("npm"));
};
const commands = [...linesIn(blocks), ...linesIn(some(blocksIn(recipes), 8))];

const list = "name,email\nAnn,ann@larch-and-oak.com\nBob,x7k2@mailinator.com\n";
let home: string;
let env: Record<string, string>;
let dnsServer: string;
let url: string;

beforeAll(async () => {
  const gzipped = gzipSync(list);
  home = folderOf({
    ...{ "list.csv": list, "2024.csv": list, "2025.csv": list, "export.csv.gz": gzipped, "part-1.csv.gz": gzipped },
    "domains.txt": "mailinator.com\nlarch-and-oak.com\n",
    ...{ "lists/north.csv": list, "lists/south.csv": list },
    "data/users.json": '{"users": [\n  {"email": "grace.lee@gmial.com"}\n]}\n',
    "signups.csv": readFileSync(`${fixtures}signups.csv`, "utf8"),
  });
  await idv(["emails", "list.csv", "-o", "list.xlsx"], { home });
  env = { PATH: pathWithIdv(home), HOME: home, NODE_DISABLE_COMPILE_CACHE: "1" };
  // In a clone, npx finds the program; here it is on the path.
  writeFileSync(join(home, "bin", "npx"), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 });
  symlinkSync(fixtures, join(home, "fixtures"));
  dnsServer = (await startDnsServer()).address;
  if (hasGit) commitTwice(home);
  const serverHome = folderOf({});
  writeFileSync(join(home, "key.txt"), `${await createKey(serverHome)}\n`);
  url = (await serve(serverHome)).url;
});

/** Makes a repository in which the last commit adds a bad row to signups.csv. */
function commitTwice(folder: string): void {
  const git = (...args: readonly string[]) => execFileSync("git", args, { cwd: folder });
  const commit = ["-c", "user.name=a", "-c", "user.email=a@example.net", "commit", "-qm", "a"];
  git("init", "-q");
  git("add", "signups.csv");
  git(...commit);
  appendFileSync(join(folder, "signups.csv"), "9,x@mailinator.com,free\n");
  git(...commit, "-a");
}

const hasGit = hasProgram("git");

describe("the command lines", () => {
  test("number more than fifteen", () => expect(commands.length).toBeGreaterThan(15));

  test.for(commands)("%s", async (line, { skip }) => {
    skip(line.startsWith("git ") && !hasGit, "needs git");
    skip(line.includes("duckdb ") && !hasProgram("duckdb"), "needs duckdb");
    skip(line.startsWith("curl ") && !hasProgram("curl"), "needs curl");
    const isServer = line === "idv serve";
    // Files of the lines before would be kept, which some of them refuse.
    const fresh = line.includes("--split") ? "rm -rf checked; " : "";
    // The service of the test has another key than the one that a line before has made.
    const local = line
      .replace(/https:..validation\.example\.com|http:..127\.0\.0\.1:8787/, url)
      .replace("< demo.txt", "< key.txt");
    const offline = line.includes("login") || line.includes("dry-run") ? {} : { IDV_ENGINE: "offline" };
    // Without a shell, a process shows nothing more.
    const [, words] = /^idv ([\w ,.:=/-]+)$/.exec(line) ?? [];
    if (!isFull && !isServer && words !== undefined) {
      const settings = { home, env: { ...offline, IDV_DNS_SERVER: dnsServer } };
      return check(line, await idv(words.split(" "), settings));
    }
    const child = spawn(
      "bash",
      ["-c", `set -o pipefail; ${fresh}${isServer ? "exec " : ""}${local}${isServer ? " --port 0" : ""}`],
      { cwd: home, env: { ...env, ...offline, IDV_DNS_SERVER: dnsServer } },
    );
    if (isServer) {
      await once(child.stderr!, "data");
      child.kill("SIGTERM");
    }
    return check(line, await finished(child));
  });

  function check(line: string, { code, stderr }: Outcome): void {
    expect([code, stderr]).toEqual([
      /--fail-on [\w,]+(?::2%)? /.test(line) ? 1 : 0,
      expect.not.stringContaining("a bug in idv"),
    ]);
  }
});

test("the first table of the README is the fixture, and the second is its output", async () => {
  const tables = blocks.filter(({ language }) => language === "").map(({ text }) => text);
  const file = `${fixtures}signups.csv`;
  expect(tables[0]).toBe(readFileSync(file, "utf8"));
  expect(tables[1]).toBe((await idv(["emails", file, "--explain"])).stdout);
  expect(tables).toHaveLength(2);
});

test("the library says what the README shows", () => {
  const shown = /classifyEmail\("(.*)"\);\n\/\/ (\{.*\})/.exec(readme)!;
  const sample = `import { classifyEmail } from "idv"; console.log(JSON.stringify(classifyEmail("${shown[1]}")))`;
  const root = new URL("../../..", import.meta.url);
  const printed = execFileSync(process.execPath, ["--input-type=module", "-e", sample], { cwd: root });
  expect(JSON.parse(String(printed))).toEqual(new Function(`return ${shown[2]}`)());
});
