/** Covers --dns through the built program, against a DNS server over loopback. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { type DnsServer, startDnsServer } from "../../support/dns-server.js";
import { endedBy } from "../../support/processes.js";
import { idv, idvProcess, startIdv } from "../../support/run-idv.js";
import { createKey, lastKey, post, type Service, serve } from "../../support/service.js";
import { jsonLines } from "../../support/states.js";
import { folderOf, temporaryFolder } from "../../support/temporary-folder.js";
import { some, times } from "../../support/tier.js";

const server = await startDnsServer();
const asking = ({ address }: DnsServer = server) => ["--dns", "--set", `dnsServer=${address}`];

const list = [
  ...["email", "ann@ok.net", "Ann@OK.net", "ann+news@ok.net", "ann@nx-1.net", "ann@null-1.org", "ann@nodata-1.org"],
  ...["ann@temp-1.org", "ann@servfail-1.org", "ann@gmial.com", "ann.lee77@gmail.com", ""],
].join("\n");
const statuses = "ok ok alias fake fake fake disposable ok fake ok".split(" ");
const rowsOf = (stdout: string) => stdout.trimEnd().split("\n").slice(1);
const columnOf = (stdout: string, column: number) => rowsOf(stdout).map((line) => line.split(",")[column]);

describe("idv emails --dns", () => {
  test("marks domains without mail, and keeps the status of undecided ones", async () => {
    const { code, stdout, stderr } = await idv(["emails", ...asking(), "--explain"], { stdin: list });
    expect(code).toBe(0);
    expect(stdout.split("\n").slice(0, 9)).toEqual([
      "email,status,reason,suggestion,mx",
      "ann@ok.net,ok,,,mail.larch-and-oak.com",
      "Ann@OK.net,ok,,,mail.larch-and-oak.com",
      "ann+news@ok.net,alias,sub-address: +news,,mail.larch-and-oak.com",
      "ann@nx-1.net,fake,no-such-domain: nx-1.net,,",
      "ann@null-1.org,fake,null-mx: null-1.org,,",
      "ann@nodata-1.org,fake,no-mail-server: nodata-1.org,,",
      "ann@temp-1.org,disposable,disposable-mx: dropmail.me,,",
      "ann@servfail-1.org,ok,undecided: SERVFAIL,,",
    ]);
    expect(columnOf(stdout, 1)).toEqual(statuses);
    expect(stderr).toContain("\nDNS: 6 domains asked; 1 domain undecided: 1 SERVFAIL\n");
  });

  test("marks addresses that will bounce: exchanges that are not there, and domains that send no mail", async () => {
    const without = ["mxgone", "mxbare", "mx10", "mx127", "mx0", "at0", "at127", "at192"];
    const stdin = `email\n${[...without, "spf", "mxsecond", "spfmx"].map((name) => `ann@${name}.org\n`).join("")}`;
    const { stdout } = await idv(["emails", "-q", ...asking(), "--explain"], { stdin });
    const reasons = without.map((name) => `no-mail-server: ${name}.org`);
    expect(columnOf(stdout, 2)).toEqual([...reasons, "sends-no-mail: spf.org", "", ""]);
    expect(columnOf(stdout, 4).slice(-2)).toEqual(Array(2).fill("mail.larch-and-oak.com"));
  });

  test("repairs an item only if DNS has no objection to what was meant", async () => {
    const stdin = 'email\n"ann@ok,net"\n"ann@nx-1,net"\n"ann@null-1,org"\n"ann@servfail-1,org"\n';
    const { stdout } = await idv(["emails", "-q", ...asking(), "--fix=all"], { stdin });
    expect(rowsOf(stdout)).toEqual([
      '"ann@ok.net",ok,"ann@ok,net"',
      '"ann@nx-1,net",fake,',
      '"ann@null-1,org",fake,',
      '"ann@servfail-1.org",ok,"ann@servfail-1,org"',
    ]);
  });

  test("with --fix asks about what was meant, and about nothing else that is fake, kept or empty", async () => {
    const own = await startDnsServer();
    const rows = [
      "ann.lee77@gmial.com,",
      "x@mailinator.com,",
      "a@kept-1.net,ok",
      "b@kept-2.net,fake",
      ",",
      '"ann@ok,net",',
      "ann@nx-5.con,",
    ];
    const home = folderOf({ "list.csv": `email,status\n${rows.join("\n")}\n` });
    const args = ["emails", "list.csv", "-q", "--update", "--fix=all", ...asking(own)];
    const { code, stdout, stderr } = await idv(args, { home });
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('"ann@ok.net",ok,');
    expect(stdout).toContain("\nann@nx-5.con,fake,");
    expect(own.asked.some((question) => /mailinator|kept|gmail/.test(question))).toBe(false);
    expect(own.asked.some((question) => question.includes("nx-5.com"))).toBe(true);
  });

  test("says in JSON Lines, too, that a row is undecided, and --update asks about it again", async () => {
    const home = temporaryFolder();
    const stdin = '{"email":"ann@servfail-1.org"}\n{"email":"ann+x@servfail-2.org"}\n{"email":"ann@ok.net"}\n';
    const run = (settings: object, ...more: string[]) =>
      idv(["emails", "-q", "--explain", "--cache=off", ...more], { home, ...settings });
    const first = await run({ stdin }, ...asking());
    expect(jsonLines(first.stdout)).toMatchObject([
      { status: "ok", reason: "undecided: SERVFAIL", mx: "" },
      { status: "alias", reason: "undecided: SERVFAIL" },
      { status: "ok", reason: "" },
    ]);
    const now = await startDnsServer({ isWell: true });
    const again = await run({ stdin: first.stdout }, "--update", ...asking(now));
    expect(jsonLines(again.stdout)).toMatchObject([
      { status: "ok", reason: "", mx: "mail.larch-and-oak.com" },
      { status: "alias", reason: "sub-address: +x" },
      { status: "ok", reason: "", mx: "mail.larch-and-oak.com" },
    ]);
    const asked = new Set(now.asked.filter((question) => question.startsWith("MX")));
    expect(asked).toEqual(new Set(["MX servfail-1.org", "MX servfail-2.org"]));
    // Without DNS, such rows keep what they have.
    expect((await run({ stdin: first.stdout }, "--update")).stdout).toBe(first.stdout);
    const table = `email,status,reason,suggestion,mx\n"a@servfail-1.org",ok,"undecided: timeout",,\nb@ok.net,ok,,,x\n`;
    expect((await run({ stdin: table }, "--update", ...asking(now))).stdout).toBe(
      'email,status,reason,suggestion,mx\n"a@servfail-1.org",ok,,,mail.larch-and-oak.com\nb@ok.net,ok,,,x\n',
    );
  });

  test.each([
    ["--dns=strict", 0],
    ["--dns=strict:20%", 0],
    ["--dns=strict:5%", 5],
    ["--dns=strict:0%", 5],
  ])("%s with one of six domains undecided exits with %i", async (option, code) => {
    const [, ...more] = asking();
    expect((await idv(["emails", "-q", option, ...more], { stdin: list })).code).toBe(code);
  });

  test("gives the same with --set cell=first", async () => {
    const { stdout } = await idv(["emails", "-q", ...asking(), "--set", "cell=first"], { stdin: list });
    expect(columnOf(stdout, 1)).toEqual(statuses);
  });

  test("checks fields with several items, and gives no verdicts beyond the quota", async () => {
    const home = temporaryFolder();
    const stdin = "email,x\nann@ok.net; ann@nx-1.net,1\neve@ok.net,2\nx@mailinator.com,3\n";
    const args = ["emails", ...asking(), "--log", "json"];
    const { stdout } = await idv(args, { home, stdin });
    expect(columnOf(stdout, 2)).toEqual(["fake", "ok", "disposable"]);
    await idv(["quota", "set", "--limit", "0"], { home });
    const left = await idv(args, { home, stdin });
    expect(columnOf(left.stdout, 2)).toEqual(Array(3).fill("quota_exceeded"));
    expect(left.code).toBe(4);
    expect(JSON.parse(left.stderr.split("\n")[0]!)).toMatchObject({ topDomains: [], units: { used: 0 } });
  });

  test("does not look up known providers, items that failed, or allowed domains", async () => {
    const own = await startDnsServer();
    const args = ["emails", "-q", ...asking(own), "--allow", "allow"];
    const { stdout } = await idv(args, { home: folderOf({ allow: "nx-1.net\n" }), stdin: list });
    expect(columnOf(stdout, 1)[3]).toBe("ok");
    expect(own.asked.some((question) => /gmail|gmial|nx-1/.test(question))).toBe(false);
  });

  test("denies by the host that receives the mail, from the cache too, and says when it does not ask", async () => {
    const home = folderOf({ deny: "mx:larch-and-oak.com # also below\n", allow: "ann@ok.net\n" });
    const stdin = "email\nann@ok.net\nbob@ok.net\nbob@ok.org\nann@nx-1.net\n";
    const args = ["emails", "--explain", "--deny", "deny", "--allow", "allow"];
    const expected = [
      "ann@ok.net,ok,allow-list: ann@ok.net,,",
      "bob@ok.net,disposable,deny-list: mx:larch-and-oak.com,,",
      "bob@ok.org,disposable,deny-list: mx:larch-and-oak.com,,",
      "ann@nx-1.net,fake,no-such-domain: nx-1.net,,",
    ];
    for (const cache of ["use", "use", "off"]) {
      const { stdout } = await idv([...args, ...asking(), "--cache", cache], { home, stdin });
      expect(stdout).toMatch(/^email,status,reason,suggestion,mx\n/);
      expect(rowsOf(stdout)).toEqual(expected);
    }
    const plain = await idv(["emails", "--deny", "deny", ...asking()], { home, stdin });
    expect(columnOf(plain.stdout, 1)).toEqual(["disposable", "disposable", "disposable", "fake"]);
    const without = await idv(args, { home, stdin });
    expect(columnOf(without.stdout, 1)).toEqual(["ok", "ok", "ok", "ok"]);
    expect(without.stderr).toContain("the mx: entries of the deny list do nothing without --dns\n");
  });

  test("keeps findings for the next run, under hashes, and asks again what was undecided", async () => {
    const run = { home: temporaryFolder(), stdin: list };
    const own = await startDnsServer();
    await idv(["emails", "-q", ...asking(own)], run);
    own.asked.length = 0;
    const { stdout, stderr } = await idv(["emails", ...asking(own), "--explain"], run);
    expect(columnOf(stdout, 1)).toEqual(statuses);
    expect(columnOf(stdout, 4)[0]).toBe("mail.larch-and-oak.com");
    expect(new Set(own.asked)).toEqual(new Set(["MX servfail-1.org"]));
    expect(stderr).toContain("DNS: 1 domain asked, 5 from the cache; 1 domain undecided");
    const cache = readFileSync(join(run.home, "state/idv/verdicts.db"), "latin1");
    expect(cache).not.toMatch(/ok\.net|nx-1|larch-and-oak/);
    own.asked.length = 0;
    await idv(["emails", "-q", ...asking(own), "--cache=refresh"], run);
    expect(own.asked.length).toBeGreaterThan(5);
  });

  test("leaves no cache with --cache off", async () => {
    const home = temporaryFolder();
    await idv(["emails", "-q", ...asking(), "--cache=off"], { home, stdin: list });
    expect(existsSync(join(home, "state/idv/verdicts.db"))).toBe(false);
  });

  test("several files share what was found", async () => {
    const home = folderOf({ "a.csv": list, "b.csv": list });
    const own = await startDnsServer();
    const { code, stderr } = await idv(["emails", "a.csv", "b.csv", "-I", "--cache=off", ...asking(own)], { home });
    expect(code).toBe(0);
    expect(own.asked.filter((question) => question === "MX ok.net")).toHaveLength(1);
    expect(stderr).toContain("DNS: 0 domains asked\n");
  });

  test("applies to a service's verdicts too, cached or not", async () => {
    const [home, serviceHome] = [temporaryFolder(), temporaryFolder()];
    const service = await serve(serviceHome, "-q");
    const env = { IDV_API_KEY: await createKey(serviceHome), IDV_BASE_URL: service.url };
    for (let run = 0; run < 2; run++) {
      const { stdout } = await idv(["emails", "-q", ...asking()], { home, env, stdin: list });
      expect(columnOf(stdout, 1)).toEqual(statuses);
    }
    // Only what passes the precheck of the syntax is paid for, once.
    expect((await lastKey(serviceHome)).used).toBe(9);
  });

  test("follows a variable, but no project's file, and yields to --offline", async () => {
    const home = temporaryFolder();
    const env = { IDV_DNS: "1", IDV_DNS_SERVER: server.address };
    const stdin = "ann@nx-1.net\n";
    expect((await idv(["emails", "-q"], { home, env, stdin })).stdout).toBe("ann@nx-1.net,fake\n");
    expect((await idv(["emails", "-q", "--offline"], { home, env, stdin })).stdout).toBe("ann@nx-1.net,ok\n");
    writeFileSync(join(home, ".idvrc.json"), JSON.stringify({ dns: true, dnsServer: server.address }));
    const project = await idv(["emails"], { home, stdin });
    expect(project.stdout).toBe("ann@nx-1.net,ok\n");
    expect(project.stderr).toContain("dns, dnsServer: ignored: a project's file may not set these");
  });

  const wrong = ["larch-and-oak.com", "1.2.3", "192.0.2.1:0", "192.0.2.1:99999", "2001:db8::1:53x", ""];
  test.each(wrong)("rejects --set dnsServer=%j", async (address) => {
    const outcome = await idv(["emails", "--dns", "--set", `dnsServer=${address}`], { stdin: list });
    const advice = "It takes IP addresses, such as 192.0.2.1, 192.0.2.1:5353 or [2001:db8::1]:53.";
    expect(outcome).toMatchObject({ code: 2, stderr: expect.stringContaining(advice) });
  });

  test("ends soon after a signal", async () => {
    const silent = await startDnsServer({ drops: () => true });
    const rows = Array.from({ length: 500 }, (_, i) => `a@d${i}.net\n`);
    const home = folderOf({ "l.csv": `email\n${rows.join("")}` });
    const child = startIdv(["emails", "l.csv", "-o", "o.csv", ...asking(silent)], { home });
    await expect.poll(() => silent.asked.length).toBeGreaterThan(0);
    const started = performance.now();
    expect(await endedBy(child, "SIGTERM")).toEqual([143, null]);
    // It would wait for the server for 20 seconds.
    expect(performance.now() - started).toBeLessThan(15_000);
    expect(existsSync(join(home, "o.csv"))).toBe(false);
  });
});

test("the output is the same at any number of queries in flight, also with lost ones", async () => {
  const lossy = await startDnsServer({ drops: (question) => question % 20 === 3 });
  const words = ["ok", "nx", "null", "nodata", "temp", "address", "truncated"];
  const rows = Array.from({ length: times(700, 140) }, (_, i) => `a@${words[i % words.length]}-${i}.net\n`);
  const outputs = await Promise.all(
    some(["1", "8", "64"], 2).map(async (n) => {
      const args = ["emails", "-q", "--cache=off", ...asking(lossy), "--set", `dnsConcurrency=${n}`];
      // Beside the server, which would wait for runs in its process.
      return (await idvProcess(args, { stdin: `email\n${rows.join("")}` })).stdout;
    }),
  );
  expect(columnOf(outputs[0]!, 1).slice(0, 7)).toEqual("ok fake fake fake disposable ok ok".split(" "));
  for (const output of outputs) expect(output).toBe(outputs[0]);
});

test("idv check --dns asks about each value", async () => {
  expect(await idv(["check", ...asking(), "ann@ok.net", "nx-1.net", "ann@gmial.com"])).toMatchObject({
    code: 0,
    stdout: `ann@ok.net\tok\t\t\tmail.larch-and-oak.com
nx-1.net\tfake\tno-such-domain: nx-1.net\nann@gmial.com\tfake\ttypo-domain: gmial.com\n`,
  });
});

// A connection that is refused is tried again for seconds, so these wait together.
describe.concurrent("without a server", () => {
  test("without a network gives the verdicts of the rules and says so; --dns=strict exits with 5", async () => {
    const args = ["emails", "-q", "--set", "dnsServer=127.0.0.1:1", "--cache=off"];
    const loose = await idv([...args, "--dns"], { stdin: list });
    expect(columnOf(loose.stdout, 1)).toEqual("ok ok alias ok ok ok ok ok fake ok".split(" "));
    const advice = "their rows keep their statuses; to test the servers, run: idv doctor --dns";
    const stderr = `idv: DNS gave no usable answer for 6 of 6 domains; ${advice}\n`;
    expect(loose).toMatchObject({ code: 0, stderr });
    expect((await idv([...args, "--dns=strict"], { stdin: list })).code).toBe(5);
  });

  test("idv check --dns=strict exits with 5 if most domains stay undecided", async () => {
    const args = ["check", "--dns=strict", "--set", "dnsServer=127.0.0.1:1", "ann@ok.net"];
    expect(await idv(args)).toEqual({
      code: 5,
      stdout: "ann@ok.net\tok\tundecided: no connection\n",
      stderr: "idv: DNS gave no usable answer for 1 of 1 domain\n",
    });
  });

  test("idv doctor --dns says what each server answers", async () => {
    const answers = expect.stringMatching(/^dns server\t127\.0\.0\.1:\d+\tanswers\t\d+ ms$/m);
    const fault = expect.stringContaining("FAULT\tDNS server 127.0.0.1:1: no connection; name another server");
    expect(await idv(["doctor", ...asking()])).toMatchObject({ code: 0, stdout: answers });
    const broken = await idv(["doctor", "--dns", "--set", `dnsServer=${server.address},127.0.0.1:1`]);
    expect(broken).toMatchObject({ code: 5, stdout: fault });
  });
});

const wrongServers = [
  ["denies every name", [3, 3], "says that gmail.com, outlook.com, iana.org receive no mail"],
  ["knows every name", [0, 0], "says that _no-such-name.com exists, which cannot be"],
] as const;
describe.each(wrongServers)("a server that %s", (_, controlCodes, text) => {
  test.each(["--dns", "--dns=strict"])("ends a run with %s before anything is charged", async (option) => {
    const home = temporaryFolder();
    const wrong = await startDnsServer({ controlCodes });
    const args = ["emails", option, "--set", `dnsServer=${wrong.address}`];
    await idv(["quota", "set", "--limit", "100"], { home });
    const { code, stdout, stderr } = await idv(args, { home, stdin: list });
    expect([code, stdout]).toEqual([5, ""]);
    expect(stderr).toContain(`idv: the DNS server ${wrong.address} ${text}: its answers would give wrong statuses;`);
    expect(wrong.asked).toEqual([]);
    expect((await idv(["quota", "show", "--json"], { home })).stdout).toContain('"used":0');
  });

  test("ends idv check, idv serve and idv doctor with exit code 5", async () => {
    const asked = asking(await startDnsServer({ controlCodes }));
    for (const args of [["check", "ann@ok.net"], ["serve", "--port", "0"], ["doctor"]]) {
      const { code, stdout, stderr } = await idv([...args, ...asked]);
      expect([args[0], code, stdout + stderr]).toEqual([args[0], 5, expect.stringContaining(text)]);
    }
  });
});

test("the control questions are asked once a run", async () => {
  const own = await startDnsServer();
  await idv(["emails", "-q", ...asking(own)], { stdin: list });
  expect(own.controls).toEqual(["MX gmail.com", "MX _no-such-name.com"]);
});

test("--add flags names the service that receives the mail, and parked domains", async () => {
  const stdin = "email\ninfo@parked.org\nann@backupgoogle.org\nann@ok.org\nann@nx-1.org\n";
  const args = ["emails", "-q", "--add", "flags", ...asking()];
  const { stdout } = await idv(args, { stdin });
  expect(columnOf(stdout, 2)).toEqual(["role parked", "mx:google", "", ""]);
  const filtered = await idv([...args, "--drop", "flag:parked,flag:mx:google"], { stdin });
  expect(columnOf(filtered.stdout, 0)).toEqual(["ann@ok.org", "ann@nx-1.org"]);
  const check = await idv(["check", "--flags", ...asking(), "ann@parked.org"]);
  expect(check.stdout).toBe("ann@parked.org\tok\t\t\tpark-mx.above.com\tparked\n");
});

describe("idv serve --dns", () => {
  const home = temporaryFolder();
  let service: Service;
  beforeAll(async () => {
    service = await serve(home, "-q", ...asking());
  });

  test("asks for its clients, and explains on request", async () => {
    const key = await createKey(home, { limit: 6 });
    const emails = ["ann@ok.net", "ann@nx-1.net", "Ann.Lee@gmial.com", "ann+x@ok.net"];
    const plain = await post(`${service.url}/emails/validate`, key, { emails });
    expect(Object.values(plain.body.emails)).toEqual(["ok", "fake", "fake", "alias"].map((status) => ({ status })));
    const { body } = await post(`${service.url}/emails/validate`, key, { emails, explain: true, canonical: true });
    expect(Object.values(body.emails)).toEqual([
      { status: "ok", reason: null, suggestion: null, canonical: "ann@ok.net" },
      { status: "fake", reason: "no-such-domain: nx-1.net", suggestion: null, canonical: "ann@nx-1.net" },
      { status: "quota_exceeded", reason: null, suggestion: null, canonical: "ann.lee@gmial.com" },
      { status: "quota_exceeded", reason: null, suggestion: null, canonical: "ann+x@ok.net" },
    ]);
  });

  test("explains that a domain is undecided", async () => {
    const key = await createKey(home, { limit: 9 });
    const { body } = await post(`${service.url}/domains/validate`, key, { domains: ["servfail-5.org"], explain: true });
    expect(Object.values(body.domains!)).toEqual([{ status: "ok", reason: "undecided: SERVFAIL", suggestion: null }]);
  });

  test("gives flags on request", async () => {
    const key = await createKey(home, { limit: 9 });
    const emails = ["info@parked.org", "ann.keller@gmail.com"];
    const { body } = await post(`${service.url}/emails/validate`, key, { emails, flags: true });
    expect(Object.values(body.emails)).toEqual([
      { status: "ok", flags: ["role", "parked"] },
      { status: "ok", flags: ["free-provider"] },
    ]);
  });
});

test("an ending that DNS knows is not unknown", async () => {
  const stdin = "email\nann@ok.larch\nann@nx-1.larch\nann@servfail-1.larch\nann@ok.con\nann@ok.local\n";
  const { stdout } = await idv(["emails", "-q", "--explain", ...asking()], { stdin });
  expect(stdout.split("\n").slice(1, 6)).toEqual([
    "ann@ok.larch,ok,,,mail.larch-and-oak.com",
    "ann@nx-1.larch,fake,unknown-tld: larch,,",
    "ann@servfail-1.larch,fake,unknown-tld: larch,,",
    "ann@ok.con,fake,unknown-tld: con,ann@ok.com,",
    "ann@ok.local,fake,special-use: local,,",
  ]);
  const { stdout: checked } = await idv(["check", ...asking(), "ann@ok.larch"]);
  expect(checked).toBe("ann@ok.larch\tok\t\t\tmail.larch-and-oak.com\n");
});
