/** Covers `idv allow` and `idv deny`, and own lists at URLs. */
import { existsSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startListServer } from "../../support/list-server.js";
import { idv } from "../../support/run-here.js";
import { folderOf, temporaryFolder } from "../../support/temporary-folder.js";

const stdin = "email\nx@mailinator.com\ny@z.mailinator.com\nann@larch-and-oak.com\n";
const statusesIn = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => line.split(",")[1]);

test("entries are kept in lower case and as A-labels, with their notes, for this user only", async () => {
  const home = temporaryFolder();
  const add = (...args: string[]) => idv(["allow", "add", ...args], { home });
  expect(await add("Mailinator.com", "--note", "our\nshop # 1")).toMatchObject({
    code: 0,
    stderr: "idv: mailinator.com: allowed\n",
  });
  await add("*@Bücher.de", "Ann@Example.net");
  await add("mailinator.com", "--note", "again");
  const path = join(home, ".config/idv/allow.txt");
  expect(readFileSync(path, "utf8")).toBe("xn--bcher-kva.de\nann@example.net\nmailinator.com # again\n");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const { stdout } = await idv(["allow", "list", "--json"], { home });
  expect(
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toContainEqual({ entry: "mailinator.com", note: "again" });
});

test.each([
  [["deny", "add", "gmail.com"], "gmail.com: a public mail provider; all its addresses are now disposable"],
  [["deny", "add", ".localnet"], "localnet: stands for all domains that end in .localnet"],
  [["deny", "add", "*"], "*: stands for all domains"],
  [["deny", "add", ".com"], "com: stands for all domains that end in .com"],
  [["deny", "add", "*.co.uk"], "co.uk: stands for all domains that end in .co.uk"],
])("idv %j says what the entry stands for", async (words, remark) => {
  const { code, stderr } = await idv(words, { home: temporaryFolder() });
  expect([code, stderr]).toEqual([0, expect.stringMatching(/: denied\n/)]);
  expect(stderr).toContain(`idv: ${remark}\n`);
});

test.each([
  [["add", "ann@larch.com", "--note", "our", "neighbour"], "write .neighbour; a --note of several words"],
  [["add", "larch.com", "neighbour"], "neighbour: has no dot; for all domains that end in it, write .neighbour\n"],
  [
    ["add", "a.com", "b", "--note", "x"],
    "b: has no dot; for all domains that end in it, write .b; a --note of several",
  ],
  [["add", "larch.com,elm.com"], "neither a domain nor an address: write larch.com elm.com"],
  [["add", "https://www.larch.com/path"], "neither a domain nor an address: write larch.com"],
  [["add", "<ann@larch.com>"], "neither a domain nor an address: write ann@larch.com"],
  [["add", "mailto:ann@larch.com"], "neither a domain nor an address: write ann@larch.com"],
  [["add", "-"], "standard input is not read; runs take the entries of a file with --deny FILE"],
  [["add", "ann@@larch.com"], "neither a domain nor an address:"],
])("idv deny %j is refused with what to write", async (words, message) => {
  const home = temporaryFolder();
  const { code, stderr } = await idv(["deny", ...words], { home });
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  expect((await idv(["deny", "list", "--json"], { home })).stdout).toBe("");
});

test.each([
  ["domains.txt", "domains.txt: no top-level domain ends it; if a file is meant, runs take its entries with --allow"],
  ["gmail.con", "gmail.con: no top-level domain ends it"],
  ["mailbox@*", undefined],
  ["larch.com", undefined],
])("idv allow add %s notes %j", async (entry, note) => {
  const { code, stderr } = await idv(["allow", "add", entry], { home: temporaryFolder() });
  expect(code).toBe(0);
  expect(stderr).toMatch(`${entry}: allowed\n`);
  expect(stderr.includes("no top-level domain")).toBe(note !== undefined);
  expect(stderr).toContain(note ?? "");
});

test("a public suffix is kept with its dot, which runs need, and removed without or with it", async () => {
  const home = temporaryFolder();
  expect((await idv(["allow", "add", "*.com", ".co.uk"], { home })).code).toBe(0);
  expect(readFileSync(join(home, ".config/idv/allow.txt"), "utf8")).toBe(".com\n.co.uk\n");
  expect((await idv(["emails"], { home, stdin })).code).toBe(0);
  expect((await idv(["allow", "remove", "com", ".co.uk"], { home })).code).toBe(0);
  expect((await idv(["allow", "list"], { home })).stdout).toBe("");
});

test("a file and an entry that is allowed already are no entries to deny", async () => {
  const home = folderOf({ "a.txt": "larch.com\n", "larch.com": "", "corp/x": "" });
  expect((await idv(["deny", "add", ".corp"], { home })).code).toBe(0);
  const stderr = "idv: a.txt: is a file; runs take its entries with --allow FILE\n";
  expect(await idv(["allow", "add", "a.txt"], { home })).toEqual({ code: 2, stdout: "", stderr });
  expect((await idv(["allow", "add", "larch.com"], { home })).code).toBe(0);
  for (const entry of ["larch.com", "shop.larch.com", "ann@shop.larch.com"]) {
    const { code, stderr: said } = await idv(["deny", "add", entry], { home });
    expect([code, said]).toEqual([0, expect.stringContaining(`${entry} is still ok, because larch.com is in`)]);
  }
  expect((await idv(["deny", "add", "oak.com"], { home })).stderr).toBe("idv: oak.com: denied\n");
});

test("runs use the lists, and say how many rows they decide", async () => {
  const home = temporaryFolder();
  await idv(["allow", "add", "mailinator.com"], { home });
  await idv(["deny", "add", "larch-and-oak.com"], { home });
  const run = await idv(["emails"], { home, stdin });
  expect(statusesIn(run.stdout)).toEqual(["ok", "ok", "disposable"]);
  expect(run.stderr).toContain("\n2 rows ok by your allow list\n1 row disposable by your deny list\n");
  // A file for one run comes on top.
  const more = await idv(["emails", "-q", "--deny", "deny"], { home: home, stdin, env: {} }).catch(() => undefined);
  expect(more?.code).toBe(6);
  expect((await idv(["check", "x@mailinator.com"], { home })).stdout).toBe(
    "x@mailinator.com\tok\tallow-list: mailinator.com\n",
  );
  expect((await idv(["allow", "remove", "MAILINATOR.com"], { home })).code).toBe(0);
  expect(statusesIn((await idv(["emails"], { home, stdin })).stdout)).toEqual([
    "disposable",
    "disposable",
    "disposable",
  ]);
});

test("comments and lines of people stay, and two changes at once follow each other", async () => {
  const home = folderOf({ ".config/idv/deny.txt": '# ours\rB.net   # old\n"a b"@larch.com\n' });
  const commands = ["c.net", "d.net"].map((domain) => () => idv(["deny", "add", domain], { home }));
  for (const command of commands) await command();
  expect(readFileSync(join(home, ".config/idv/deny.txt"), "utf8")).toBe(
    '# ours\nB.net   # old\n"a b"@larch.com\nc.net\nd.net\n',
  );
  expect((await idv(["deny", "remove", "b.net"], { home })).code).toBe(0);
  expect(readFileSync(join(home, ".config/idv/deny.txt"), "utf8")).toBe('# ours\n"a b"@larch.com\nc.net\nd.net\n');
  expect(readdirSync(join(home, ".config/idv"))).toEqual(["deny.txt"]);
});

test("a list that is a link stays one", async () => {
  const home = folderOf({ "dotfiles/deny.txt": "a.net\n", ".config/idv/config.json": "{}" });
  symlinkSync("../../dotfiles/deny.txt", join(home, ".config/idv/deny.txt"));
  expect((await idv(["deny", "add", "b.net"], { home })).code).toBe(0);
  expect(readFileSync(join(home, "dotfiles/deny.txt"), "utf8")).toBe("a.net\nb.net\n");
  expect(lstatSync(join(home, ".config/idv/deny.txt")).isSymbolicLink()).toBe(true);
});

test.each([
  [["allow", "add", "web.de", "com"], "com: is a public suffix; if all domains that end in it are meant, write .com"],
  [["deny", "add", "de."], "de.: is a public suffix; if all domains that end in it are meant, write .de."],
  [["deny", "add", "Co.uk"], "Co.uk: is a public suffix; if all domains that end in it are meant, write .Co.uk"],
  [["allow", "add", "a b"], "a b: neither a domain nor an address"],
  [["allow", "add", "info*@larch-and-oak.com"], "* can only stand for a whole local part or a whole domain"],
  [["allow", "add", '"a b"@larch-and-oak.com'], "cannot be kept"],
  [["deny", "remove", "a.net"], "a.net: is not in the list; see idv deny list"],
])("%j is refused", async (args, message) => {
  const home = temporaryFolder();
  expect(await idv(args, { home })).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  expect(existsSync(join(home, ".config/idv/allow.txt"))).toBe(false);
});

test("a list at a URL is fetched if it has changed, and read from its copy if it cannot be had", async () => {
  const home = temporaryFolder();
  const server = await startListServer();
  server.list = "larch-and-oak.com\n";
  const run = (...more: string[]) => idv(["emails", "--deny", `${server.url}?token=s3cret`, ...more], { home, stdin });
  const denied = ["disposable", "disposable", "disposable"];
  expect((await run("--offline")).stderr).toContain("not fetched with --offline, and there is no copy of it\n");
  for (let i = 0; i < 2; i++) expect(statusesIn((await run()).stdout)).toEqual(denied);
  expect(server.requests).toEqual([
    { etag: undefined, status: 200 },
    { etag: '"1"', status: 304 },
  ]);
  const folder = join(home, "state/idv/lists");
  const [copy = ""] = readdirSync(folder);
  expect(copy).toMatch(/^[0-9a-f]{64}$/);
  expect(statSync(join(folder, copy)).mode & 0o777).toBe(0o600);
  Object.assign(server, { list: "", etag: '"2"' });
  expect(statusesIn((await run()).stdout)).toEqual(["disposable", "disposable", "ok"]);
  Object.assign(server, { list: "<html>\n<p>Log in first</p>\n", etag: '"3"' });
  const portal = await run();
  expect(statusesIn(portal.stdout)).toEqual(["disposable", "disposable", "ok"]);
  expect(portal.stderr).toContain("the answer is not a list of domains and addresses; using the copy of");
  Object.assign(server, {
    list: (_: unknown, response: { writeHead: (code: number) => { end: () => void } }) => response.writeHead(500).end(),
  });
  const old = new Date(Date.now() - 3.5 * 86_400_000);
  utimesSync(join(folder, copy), old, old);
  const broken = await run();
  expect(statusesIn(broken.stdout)).toEqual(["disposable", "disposable", "ok"]);
  expect(broken.stderr).toContain(`idv: ${server.url}: answers 500; using the copy of 3 days ago\n`);
  expect(broken.stderr).not.toContain("s3cret");
  expect((await run("--offline")).code).toBe(0);
});

test.each([
  ["http://lists.example.com/x", 2, "a list at a URL has to be at https://, or on this machine"],
  ["http://127.0.0.1:1/x", 5, "http://127.0.0.1:1/x: connection refused, and there is no copy of it"],
])("the list %s is refused", async (url, code, message) => {
  const found = await idv(["emails", "--allow", url], { stdin });
  expect(found.code, found.stderr).toBe(code);
  expect(found.stderr).toContain(message);
});

test("a variable may name URLs beside paths", async () => {
  const server = await startListServer();
  server.list = "larch-and-oak.com\n";
  const home = folderOf({ deny: "b.net\n" });
  const { stdout } = await idv(["emails", "-q"], { home, env: { IDV_DENY: `deny:${server.url}` }, stdin });
  expect(statusesIn(stdout)[2]).toBe("disposable");
});

test("* on the allow list leaves the other entries of the deny list", async () => {
  const home = folderOf({ allow: "*\nann@oak.com\n", deny: "larch.com\noak.com\n*\n" });
  const values = ["x@larch.com", "x@shop.larch.com", "ann@oak.com", "bob@oak.com", "x@mailinator.com"];
  const { stdout } = await idv(["check", "--allow", "allow", "--deny", "deny", ...values], { home });
  const statuses = stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t")[1]);
  expect(statuses).toEqual(["disposable", "disposable", "ok", "disposable", "ok"]);
});
