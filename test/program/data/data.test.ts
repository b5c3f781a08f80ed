/** Covers idv data show and idv data update; test/data/update-over-time.test.ts has more updates. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { suffixPackage } from "../../../src/engines/data/suffix-rules.js";
import { startListServer } from "../../support/list-server.js";
import { type Offer, sha512, startNpmRegistry } from "../../support/npm-registry.js";
import { idv, shellCommand } from "../../support/run-idv.js";
import { listen } from "../../support/scripted-server.js";
import { jsonOf } from "../../support/states.js";
import { suffixText } from "../../support/suffixes.js";
import { folderOf, temporaryFolder } from "../../support/temporary-folder.js";
import { testFull } from "../../support/tier.js";

const packages = [
  ["disposable-domains", "index.json", 70_000],
  ["disposable-email-domains-js", "dist/dict/disposable_email_blocklist.json", 5000],
  ["fakefilter", "json/data.json", 5000],
  ["@emailalias/disposable-email-detector", "data/disposable-domains.json", 40_000],
  ["mailchecker", "platform/node/index.js", 40_000],
  ["burner-email-providers", "emails.txt", 40_000],
  ["disposable-email-domains", "index.json", 70_000],
] as const;

/** Returns the packages of an honest registry, with names that are in no other list. */
function honest(): Map<string, Offer> {
  const offers = packages.map(([name, file, count]): [string, Offer] => {
    // The lists of doubts and old names have other names, which add nothing.
    const word = count === 40_000 || name.endsWith("mail-domains") ? "other" : "throwaway";
    const names = Array.from({ length: count }, (_, i) => `${word}-${i}.com`);
    return [name, { version: "9.0.0", file, data: JSON.stringify(names) }];
  });
  return new Map(offers);
}

const registry = await startNpmRegistry();
/** Publishes the packages of an honest registry. */
function publish(): Map<string, Offer> {
  registry.offers = honest().set(suffixPackage.name, { version: "1.0.0", file: suffixPackage.file, data: suffixText });
  return registry.offers;
}
const publicList = await startListServer(70_000);

function settings(home: string) {
  writeFileSync(join(home, ".npmrc"), `registry=${registry.url}\n`);
  const lists = { IDV_LIST_URL: publicList.url, IDV_DAILY_LIST_URL: "none" };
  // No npm is needed.
  return { home, env: { PATH: "/nowhere", XDG_DATA_HOME: join(home, "data"), ...lists } };
}
const installed = (home: string) => join(home, "data/idv/disposable.bin");
const all = [...packages.map(([name]) => `${name} 9.0.0`), "disposable/disposable-email-domains 2026-11-02"].join(", ");
/** The public suffixes of the registry are older than those in use. */
const upToDate = all.replace(", disposable/", `, ${suffixPackage.name} 1.0.0, disposable/`);

test("idv data show names the sources", async () => {
  const { code, stdout } = await idv(["data", "show"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^disposable-domains\taged\t[\d.]+\t2026-04-13\t\d+\t[\d,]+\t[\d,]+\tMIT\ndisposable-email-domains-js\tlist\t[\d.]+\t\d{4}-\d\d-\d\d\t\d+\t[\d,]+\t[\d,]+\tCC0-1.0\n(?:\S+\t\w+\t[\d.-]+\t\d{4}-\d\d-\d\d\t\d+\t[\d,]+\t[\d,]+\t\S+\n){7}public suffixes: [\d,]+ rules, tldts [\d.]+, \d{4}-\d\d-\d\d, \d+ days old\n[\d,]+ entries, came with idv; the newest list is \d+ days? old\n$/,
  );
});

test("idv data update fetches, compiles and installs new data once", async () => {
  publish();
  const run = settings(temporaryFolder());
  const updated = expect.stringMatching(new RegExp(`^updated: ${all}; 76,633 entries, [\\d,]+ before\n$`));
  expect(await idv(["data", "update"], run)).toMatchObject({ stdout: updated, stderr: "" });
  const checked = await idv(["check", "a@throwaway-69999.com"], run);
  expect(checked.stdout).toBe("a@throwaway-69999.com\tdisposable\tdisposable-domain: throwaway-69999.com\n");
  const judged = await idv(["emails", "-q"], { ...run, stdin: "a@throwaway-1.com\n" });
  expect(judged.stdout).toBe("a@throwaway-1.com,disposable\n");
  const first = { name: "disposable-domains", version: "9.0.0", published: "2030-01-02", domains: 70_000 };
  const sources = [first, ...Array.from({ length: 8 }, () => ({}))];
  expect(await jsonOf(["data", "show"], run)).toMatchObject([{ file: installed(run.home), entries: 76_633, sources }]);
  expect((await idv(["data", "update"], run)).stdout).toBe(`up to date: ${upToDate}\n`);
});

testFull("idv data update, run twice at once, fetches the data once", async () => {
  publish();
  const run = settings(temporaryFolder());
  const found = await Promise.all([idv(["data", "update"], run), idv(["data", "update"], run)]);
  const [first, second] = found.map(({ stdout }) => stdout).sort();
  expect(first).toBe(`up to date: ${upToDate}\n`);
  expect(second).toMatch(/^updated: /);
  expect(found.map(({ code, stderr }) => ({ code, stderr }))).toEqual(Array(2).fill({ code: 0, stderr: "" }));
});

testFull.each([
  ["the home folder does not exist", "no-such-folder", "."],
  ["the working folder has been removed", ".", "removed"],
])("idv data update works where %s", async (_, homeFolder, workingFolder) => {
  publish();
  const { home, env } = settings(temporaryFolder());
  const npmrc = join(home, ".npmrc");
  const code = `cd "$1" && { [ "$1" = . ] || rmdir "../$1"; } && exec ${shellCommand} data update`;
  if (workingFolder !== ".") mkdirSync(join(home, workingFolder));
  const update = promisify(execFile)("sh", ["-c", code, "sh", workingFolder], {
    cwd: home,
    env: { ...env, PATH: process.env["PATH"], HOME: join(home, homeFolder), NPM_CONFIG_USERCONFIG: npmrc },
  });
  expect(await update).toEqual({ stdout: expect.stringMatching(/^updated: /), stderr: "" });
});

testFull("idv data update goes on without a package that the registry does not have", async () => {
  const offers = publish();
  const run = settings(temporaryFolder());
  expect((await idv(["data", "update"], run)).code).toBe(0);
  offers.delete("@emailalias/disposable-email-detector");
  for (const [name, offer] of offers) if (name !== suffixPackage.name) offer.version = "9.0.1";
  const { code, stdout, stderr } = await idv(["data", "update"], run);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("76,633 entries, 76,633 before") });
  expect(stderr).toMatch(
    /^idv: http:\S+\/@emailalias%2fdisposable-email-detector: answers 404; continuing with its names in the data in use\n$/,
  );
});

describe("idv data update installs nothing", () => {
  testFull("given a download with another checksum", async () => {
    publish().get("disposable-domains")!.integrity = () => sha512(Buffer.of());
    const run = settings(temporaryFolder());
    const fault = /^idv: disposable-domains 9\.0\.0: the download does not have the sha512 sum .*\n$/;
    const stderr = expect.stringMatching(fault);
    expect(await idv(["data", "update"], run)).toEqual({ code: 5, stdout: "", stderr });
    expect(existsSync(installed(run.home))).toBe(false);
  });

  testFull("without a list or the registry", async () => {
    const offers = publish();
    for (const [name] of packages) if (name !== "disposable-domains") offers.delete(name);
    const run = settings(temporaryFolder());
    const missing = /^idv: \S+\/disposable-email-domains-js: answers 404; the data in use is unchanged\n$/;
    expect(await idv(["data", "update"], run)).toMatchObject({ code: 5, stderr: expect.stringMatching(missing) });
    writeFileSync(join(run.home, ".npmrc"), "registry=http://user:secret@127.0.0.1:1/\n");
    const { code, stderr } = await idv(["data", "update"], run);
    expect([code, stderr]).toEqual([5, expect.not.stringContaining("secret")]);
    expect(stderr).toMatch(/^idv: http:\S+\/disposable-[a-z-]+: connection refused; .*\n$/);
  });

  testFull("from a registry that never answers", async () => {
    const silent = await listen(createServer(() => {}));
    const home = folderOf({ ".npmrc": `registry=${silent}/\n` });
    const advice = "the data in use is unchanged; check the connection and the proxy";
    const stderr = `idv: the npm registry has not answered within 20 s; ${advice}\n`;
    expect(await idv(["data", "update", "--list-url", "none"], { home })).toEqual({ code: 5, stdout: "", stderr });
  });
});

testFull("idv data update sends its credentials to the registry alone, and follows it elsewhere", async () => {
  const elsewhere = await startNpmRegistry();
  const inside = await startNpmRegistry(elsewhere.url.slice(0, -1));
  inside.offers = publish();
  elsewhere.offers = inside.offers;
  const run = settings(temporaryFolder());
  const at = inside.url.replace(/^http:/, "");
  writeFileSync(
    join(run.home, ".npmrc"),
    `; ours\nregistry = ${inside.url}\n${at}:_authToken=\${TOKEN}\n${elsewhere.url.slice(5)}:_authToken=other\n`,
  );
  const { code, stdout } = await idv(["data", "update"], { ...run, env: { ...run.env, TOKEN: "s3cret" } });
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^updated: /) });
  const sent = (requests: typeof inside.requests) => [...new Set(requests.map(({ headers }) => headers.authorization))];
  expect([sent(inside.requests), sent(elsewhere.requests)]).toEqual([["Bearer s3cret"], [undefined]]);
});

test("a broken table is reported, and the built-in data is used", async () => {
  const run = settings(temporaryFolder());
  const whole = readFileSync(new URL("../../../dist/classifier/disposable.bin", import.meta.url));
  mkdirSync(join(run.home, "data/idv"), { recursive: true });
  writeFileSync(installed(run.home), whole.subarray(0, 5000));
  const outcome = await idv(["emails", "-q"], { ...run, stdin: "a@mailinator.com\n" });
  const advice = "using the data that came with idv; to replace the table, run: idv data update";
  const stderr = `idv: ${installed(run.home)}: not a table of disposable domains of this format; ${advice}\n`;
  expect(outcome).toEqual({ code: 0, stdout: "a@mailinator.com,disposable\n", stderr });
});
