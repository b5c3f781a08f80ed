/** Covers runs of `idv data update`, from a registry on this machine. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { DisposableTable } from "../../src/core/classifier/tables/disposable-table.js";
import { listOfDays, readDays, textOfDays, withDay } from "../../src/engines/data/daily-list.js";
import { compileLists, listPackages, publicList } from "../../src/engines/data/sources.js";
import { suffixPackage } from "../../src/engines/data/suffix-rules.js";
import { readBuilt } from "../../src/package/own-files.js";
import { startListServer } from "../support/list-server.js";
import { startNpmRegistry } from "../support/npm-registry.js";
import { idv } from "../support/run-here.js";
import { suffixText } from "../support/suffixes.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** Lengths of the lists; the others have 400 names. */
const lengths: Readonly<Record<string, number>> = {
  "disposable-domains": 700,
  "disposable-email-domains-js": 50,
  fakefilter: 50,
  "disposable-email-domains": 700,
};

/** Returns the names of a list. Those of lists of doubts and old names have names of their own, which add nothing. */
function namesOf(name: string): string[] {
  const length = lengths[name] ?? 400;
  const start = length === 400 || name === "disposable-email-domains" ? "other" : "throwaway";
  return Array.from({ length }, (_, i) => `${start}-${i}.com`);
}

const { suffixes: builtSuffixes } = new DisposableTable(readBuilt("classifier/disposable.bin"));

/** The table in use: lists as long as those that follow, and the public suffixes that come with idv. */
function tableInUse(publicNames: readonly string[]): Uint8Array {
  const facts = { licence: "MIT", version: "8.0.0", published: "2030-01-01" };
  const packages = listPackages.map(({ name, role }) => ({ ...facts, name, role, list: namesOf(name) }));
  const { name, role } = publicList;
  const last = { ...facts, name, role, version: "2026-08-08", published: "2026-08-08", list: publicNames };
  return compileLists([...packages, last], { suffixes: builtSuffixes }).table;
}

/** A registry, a server for the public list, and the settings of a run that asks both. */
async function registry() {
  const server = await startListServer(700);
  const home = temporaryFolder();
  const installed = join(home, "data/idv/disposable.bin");
  mkdirSync(dirname(installed), { recursive: true });
  const inUse = tableInUse((server.list as string).trim().split("\n"));
  writeFileSync(installed, inUse);
  const isUnchanged = () => readFileSync(installed).equals(inUse);
  const { url, offers } = await startNpmRegistry();
  const publishFile = (name: string, file: string, version: string, data: string, year = 2030) =>
    offers.set(name, { version, file, data, year });
  /** Publishes the list of a package. */
  const publish = (name: string, file: string, version: string, more: readonly string[] = []) =>
    publishFile(name, file, version, JSON.stringify([...namesOf(name), ...more]));
  const remove = (name: string) => offers.delete(name);
  const env = {
    npm_config_registry: url,
    ...{ XDG_DATA_HOME: join(home, "data"), IDV_LIST_URL: server.url, IDV_DAILY_LIST_URL: "none" },
  };
  const publishAll = (version: string) => {
    for (const { name, file } of listPackages) publish(name, file, version);
  };
  const publishSuffixes = (version: string, text = suffixText, year = 2030) =>
    publishFile(suffixPackage.name, suffixPackage.file, version, text, year);
  publishSuffixes("7.0.0");
  return { publish, publishAll, publishSuffixes, remove, server, isUnchanged, run: { home, env } };
}

test("an update keeps what a list has corrected when the registry no longer has it", async () => {
  const { publish, publishAll, remove, run } = await registry();
  publishAll("9.0.0");
  const entries = expect.stringContaining("; 929 entries, ");
  expect(await idv(["data", "update"], run)).toEqual({ code: 0, stdout: entries, stderr: "" });
  const gone = ["mailchecker", "burner-email-providers"];
  for (const { name, file } of listPackages) {
    if (gone.includes(name)) remove(name);
    else publish(name, file, "9.0.1");
  }
  const { code, stdout, stderr } = await idv(["data", "update"], run);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("; 929 entries, 929 before") });
  expect(stderr, JSON.stringify(stderr)).toMatch(
    /^(?:idv: http:[^ ]+\/[a-z-]+: answers 404; continuing with the names that its last version did not remove\n){2}$/,
  );
  // In the list of doubted names, and cleared by mailchecker.
  expect((await idv(["check", "a@other-1.com"], run)).stdout).toBe("a@other-1.com\tok\n");
  const shown = JSON.parse((await idv(["data", "show", "--json"], run)).stdout);
  for (const name of gone) {
    expect(shown.sources).toContainEqual(expect.objectContaining({ name, version: "9.0.0", missing: true }));
  }
  // Back in the same version, it counts as newer.
  for (const { name, file } of listPackages) if (gone.includes(name)) publish(name, file, "9.0.0");
  expect((await idv(["data", "update"], run)).stdout).toContain("updated: ");
  expect((await idv(["data", "update"], run)).stdout).toContain("up to date: ");
});

test("an update with popular domains is not installed without --force", async () => {
  const { publish, isUnchanged, run } = await registry();
  const popular = ["bbc.co.uk", "mit.edu", "chase.com", "siemens.com", "cnn.com", "wikipedia.org"];
  for (const { name, file } of listPackages) publish(name, file, "9.0.0", name === "fakefilter" ? popular : []);
  const problem = "fakefilter 9.0.0: 6 popular domains would become disposable, such as bbc.co.uk, mit.edu, chase.com";
  expect(await idv(["data", "update"], run)).toEqual({
    ...{ code: 5, stdout: "" },
    stderr: `idv: ${problem}; the data in use is unchanged; if the lists are right, pass --force\n`,
  });
  expect(isUnchanged()).toBe(true);
  const forced = await idv(["data", "update", "--force"], run);
  expect(forced).toMatchObject({ code: 0, stdout: expect.stringMatching(/^updated: /) });
  expect(forced.stderr.startsWith(`idv: ${problem}; going on (--force)\n`), forced.stderr).toBe(true);
  expect(isUnchanged()).toBe(false);
});

const show = async (run: { home: string }) =>
  JSON.parse((await idv(["data", "show", "--json"], run)).stdout).sources.find(
    ({ name }: { name: string }) => name === publicList.name,
  );

test("the public list is fetched when it has changed, and its names are disposable", async () => {
  const { publishAll, server, run } = await registry();
  publishAll("9.0.0");
  server.list += "new-service.com\nwikipedia.org\nx.rf.gd\n";
  const changed = expect.stringContaining(`, ${publicList.name} 2026-11-02; 931 entries, `);
  expect(await idv(["data", "update"], run)).toEqual({ code: 0, stdout: changed, stderr: "" });
  expect(await show(run)).toMatchObject({ published: "2026-11-02", etag: '"1"', domains: 703, onlyHere: 2 });
  // A popular name of a list that nobody curates is not disposable.
  expect((await idv(["check", "a@new-service.com", "a@wikipedia.org"], run)).stdout).toBe(
    "a@new-service.com\tdisposable\tdisposable-domain: new-service.com\na@wikipedia.org\tok\n",
  );
  const same = expect.stringMatching(/^up to date: .* 2026-11-02\n$/);
  expect(await idv(["data", "update"], run)).toEqual({ code: 0, stdout: same, stderr: "" });
  // It is needed whole if another list is newer.
  publishAll("9.0.1");
  expect((await idv(["data", "update"], run)).stdout).toContain("931 entries, 931 before");
  Object.assign(server, { list: `${server.list}newer-service.com\n`, etag: undefined });
  expect((await idv(["data", "update"], run)).stdout).toContain("932 entries, 931 before");
  // Without an ETag, the list tells by itself that it is the same.
  expect((await idv(["data", "update"], run)).stdout).toMatch(/^up to date: /);
  expect(server.requests).toEqual([
    { etag: undefined, status: 200 },
    { etag: '"1"', status: 304 },
    { etag: '"1"', status: 304 },
    { etag: undefined, status: 200 },
    { etag: '"1"', status: 200 },
    { etag: expect.stringMatching(/^"sha256-/), status: 200 },
  ]);
});

type Server = Awaited<ReturnType<typeof startListServer>>;
const answers =
  (list: Exclude<Server["list"], string>) =>
  (server: Server): void =>
    void Object.assign(server, { list });
const broken: [string, (server: Server) => void, RegExp][] = [
  ["is refused", answers((_, response) => response.writeHead(403).end()), /answers 403/],
  ["is elsewhere", answers((_, response) => response.writeHead(302, { location: "/x" }).end()), /answers 302/],
  [
    "is cut off",
    answers((request, response) =>
      response.writeHead(200, { "content-length": "9" }).write("a", () => request.socket.destroy()),
    ),
    /the connection was (?:closed|reset)|other side closed|terminated|aborted/,
  ],
  [
    "is over 8 MiB",
    (server) => Object.assign(server, { list: "a.com\n".repeat(1_500_000), etag: '"2"' }),
    /the list is over 8 MiB/,
  ],
];

test.each(broken)("a public list that %s leaves its names in the table", async (_, change, fault) => {
  const { publishAll, server, run } = await registry();
  publishAll("9.0.0");
  server.list += "new-service.com\n";
  expect((await idv(["data", "update"], run)).code).toBe(0);
  const { list, etag } = server;
  change(server);
  const same = await idv(["data", "update"], run);
  expect(same).toMatchObject({ code: 0, stdout: expect.stringMatching(/^up to date: /) });
  expect(same.stderr).toMatch(fault);
  expect(same.stderr).toMatch(/^idv: http:.*; continuing with its names in the data in use\n$/);
  publishAll("9.0.1");
  expect((await idv(["data", "update"], run)).stdout).toContain("930 entries, 930 before");
  expect((await idv(["check", "a@new-service.com"], run)).stdout).toContain("disposable");
  expect(await show(run)).toMatchObject({ missing: true, onlyHere: 1 });
  Object.assign(server, { list, etag });
  expect((await idv(["data", "update"], run)).stdout).toContain("updated: ");
  expect(await show(run)).not.toHaveProperty("missing");
});

const wrong = [
  ["no names", "<html>Not found</html>", "contains no list of domains"],
  [
    "far more names than before",
    Array.from({ length: 950 }, (_, i) => `x-${i}.com\n`).join(""),
    "its list grows from 700 domains to 950, more than 1.25 times",
  ],
  ["far fewer names than before", "a.com\n".repeat(300), "its list shrinks from 700 domains to 300, less than half"],
] as const;

test.each(wrong)("a public list with %s is not installed", async (_, list, fault) => {
  const { publishAll, server, isUnchanged, run } = await registry();
  publishAll("9.0.0");
  server.list = list;
  const stderr = expect.stringContaining(fault);
  expect(await idv(["data", "update"], run)).toEqual({ code: 5, stdout: "", stderr });
  expect(isUnchanged()).toBe(true);
});

test("without a public list, its names stay as they came with idv", async () => {
  const { publishAll, server, run } = await registry();
  publishAll("9.0.0");
  const { code, stderr } = await idv(["data", "update", "--list-url", "none", "--force"], run);
  expect(code, stderr).toBe(0);
  expect(await show(run)).toMatchObject({ published: "2026-08-08", missing: true });
  expect(server.requests).toEqual([]);
});

const urls = ["http://lists.example.com/x", "ftp://127.0.0.1/x", "domains.txt"];
test.each(urls)("a public list at %s is refused", async (url) => {
  const stderr = expect.stringContaining("It takes an https URL, or none.");
  expect(await idv(["data", "update", "--list-url", url])).toMatchObject({ code: 2, stderr });
});

/** The list with another ending: `larch` in place of `xerox`. */
const newerSuffixes = suffixText.replace("xerox", "larch");

test("newer public suffixes are fetched, and an ending that is delegated since is known to all threads", async () => {
  const { publishAll, publishSuffixes, run } = await registry();
  publishAll("9.0.0");
  expect((await idv(["data", "update"], run)).code).toBe(0);
  const stdin = `email\n${Array.from({ length: 30_000 }, (_, i) => `ann${i}@firm${i % 7}.larch\n`).join("")}`;
  const statusesOf = async () => {
    const { stdout } = await idv(["emails", "-q"], { ...run, stdin });
    const [, ...rows] = stdout.trimEnd().split("\n");
    return [...new Set(rows.map((line) => line.split(",")[1]))];
  };
  expect(await statusesOf()).toEqual(["fake"]);
  publishSuffixes("99.0.0", newerSuffixes);
  expect(await idv(["data", "update"], run)).toMatchObject({ stdout: expect.stringContaining("tldts 99.0.0; ") });
  expect(await statusesOf()).toEqual(["ok"]);
  const shown = await idv(["data", "show"], run);
  expect(shown.stdout).toMatch(/^public suffixes: [\d,]+ rules, tldts 99\.0\.0, 2030-01-02, 0 days old$/m);
  expect((await idv(["data", "update"], run)).stdout).toMatch(/^up to date: .*, tldts 99\.0\.0, /);
  // They stay when only a list is newer.
  publishAll("9.0.1");
  expect((await idv(["data", "update"], run)).stdout).toContain("updated: ");
  expect(await statusesOf()).toEqual(["ok"]);
});

const suffixTexts: [string, string, boolean, RegExp][] = [
  [
    "no graph",
    "module.exports = {}",
    true,
    /tldts 99\.0\.0: the suffixes have no nodeFlags; going on with the public suffixes of 20/,
  ],
  [
    "a graph that runs in circles",
    suffixText.replace(/(edgeChild = new Uint16Array\(\[)([\d, ]*)/, (_, start: string, numbers: string) => {
      const [, root = ""] = /rulesRoot = (\d+)/.exec(suffixText) ?? [];
      return start + numbers.replace(/\d+/g, root);
    }),
    true,
    /tldts 99\.0\.0: the suffixes are no tree of names; going on/,
  ],
  [
    "no com",
    suffixText.replace(/labelText = "[^"]*"/, (labels) => labels.replaceAll("com", "cxm")),
    false,
    /tldts 99\.0\.0: its public suffixes lack com; the data in use is unchanged; if/,
  ],
  ["code", `${suffixText}\nrequire("node:fs").writeFileSync("/tmp/idv-was-run", "x");`, true, /^$/],
];

test.each(suffixTexts)("public suffixes with %s", async (_, text, isUpdated, notice) => {
  const { publishAll, publishSuffixes, run } = await registry();
  publishAll("9.0.0");
  publishSuffixes("99.0.0", text);
  const { code, stderr } = await idv(["data", "update"], run);
  expect({ code, stderr }).toEqual({ code: isUpdated ? 0 : 5, stderr: expect.stringMatching(notice) });
  expect(existsSync("/tmp/idv-was-run")).toBe(false);
});

test("with old public suffixes, a run tells which rows are fake for their ending alone", async () => {
  const { publishAll, publishSuffixes, run } = await registry();
  publishAll("9.0.0");
  publishSuffixes("99.0.0", suffixText, 2020);
  expect((await idv(["data", "update"], run)).code).toBe(0);
  const stdin = "email\na@b.larch\nc@d.larch\ne@f.oak\ng@h.con\ni@j.local\nk@larch-and-oak.com\n";
  expect((await idv(["emails"], { ...run, stdin })).stderr).toContain(
    "idv: standard input: 3 rows are fake only because their endings are not in the list of 2020-01-02 (.larch 2, .oak 1); for a newer one, run: idv data update\n",
  );
  expect((await idv(["emails"], { home: run.home, stdin })).stderr).not.toContain("only because");
});

/** Serves a list of the day, and returns the variable that names it. */
async function dailyList(list: string) {
  const server = await startListServer();
  server.list = list;
  return { IDV_DAILY_LIST_URL: server.url };
}

test("the list of the day is added to the days before, and its names stay for a year", async () => {
  const { publishAll, run } = await registry();
  publishAll("9.0.0");
  const env = { ...run.env, ...(await dailyList("new-today.com\nwww.elm-and-oak.com\ncock.li\n")) };
  // The days that come with idv are many times those of the table in use.
  const stdout = expect.stringContaining("castle/disposable-email-domains 2026-11-02");
  expect(await idv(["data", "update", "--force"], { ...run, env })).toMatchObject({ code: 0, stdout });
  const statuses = async (...items: string[]) => {
    const { stdout } = await idv(["check", ...items], run);
    return stdout
      .trim()
      .split("\n")
      .map((line) => line.split("\t")[1]);
  };
  // A host of a company in one list on one day, and a provider.
  expect(await statuses("new-today.com", "www.elm-and-oak.com", "cock.li")).toEqual(["disposable", "ok", "ok"]);
  expect((await idv(["data", "update"], { ...run, env })).stdout).toMatch(/^up to date: .* 2026-11-02\n$/);
  // Without the list, its names stay.
  publishAll("9.0.1");
  expect((await idv(["data", "update"], run)).stdout).toMatch(/^updated: /);
  expect(await statuses("new-today.com")).toEqual(["disposable"]);
});

test.each([
  ["no list", "<html>", "contains no list of domains"],
  ["far too long", Array.from({ length: 5001 }, (_, i) => `day-${i}.com\n`).join(""), "5,001 names on one day"],
])("a list of the day that is %s is refused", async (_, list, message) => {
  const { publishAll, isUnchanged, run } = await registry();
  publishAll("9.0.0");
  const env = { ...run.env, ...(await dailyList(list)) };
  const stderr = expect.stringContaining(message);
  expect(await idv(["data", "update"], { ...run, env })).toMatchObject({ code: 5, stderr });
  expect(isUnchanged()).toBe(true);
});

test("days are merged, and names go a year after they were last seen", () => {
  const days = readDays(
    "domain\tfirst seen\tlast seen\na.com\t2026-01-01\t2026-01-02\nb.com\t2026-06-01\t2026-06-01\n",
  );
  const later = withDay(days, ["B.com ", "c.com"], "2027-01-03");
  expect(textOfDays(later)).toBe(
    "domain\tfirst seen\tlast seen\nb.com\t2026-06-01\t2027-01-03\nc.com\t2027-01-03\t2027-01-03\n",
  );
  expect(listOfDays(later)).toEqual({ list: ["b.com", "c.com"], again: new Set(["b.com"]) });
});

test("two lists that cannot be fetched keep the names that both have", async () => {
  const { publishAll, server, run } = await registry();
  publishAll("9.0.0");
  server.list += "of-both.com\n";
  const both = { ...run.env, ...(await dailyList("of-both.com\n")) };
  expect((await idv(["data", "update", "--force"], { ...run, env: both })).code).toBe(0);
  publishAll("9.0.1");
  const none = { ...run.env, IDV_LIST_URL: "none" };
  expect(await idv(["data", "update"], { ...run, env: none })).toMatchObject({ code: 0, stderr: "" });
  expect((await idv(["check", "of-both.com"], run)).stdout).toContain("\tdisposable\t");
});
