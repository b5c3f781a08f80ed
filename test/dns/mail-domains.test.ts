/** Covers what is found out about domains from a real server over loopback. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { DistinctItems } from "../../src/core/run/distinct-items.js";
import { DnsClient, type DnsClientOptions } from "../../src/engines/dns/dns-client.js";
import type { Finding } from "../../src/engines/dns/finding.js";
import { createMailDomains, type FindingCache } from "../../src/engines/dns/mail-domains.js";
import { createMailHosts } from "../../src/engines/dns/mail-hosts.js";
import { type DnsServer, startDnsServer } from "../support/dns-server.js";
import { some, testFull, times } from "../support/tier.js";

const findDisposable = (host: string) => (host === "mx.mailinator.com" ? "mailinator.com" : undefined);

function domainsAt(
  server: Pick<DnsServer, "address">,
  options: Partial<DnsClientOptions> & { cache?: FindingCache; wantsExchanges?: true } = {},
) {
  const { cache, wantsExchanges, ...ofClient } = options;
  const client = new DnsClient({ servers: [server.address], concurrency: 64, ...ofClient });
  const settings = { ...(cache && { cache }), ...(wantsExchanges && { wantsExchanges }) };
  const hosts = createMailHosts(client, client.isInside);
  return { client, domains: createMailDomains(client, findDisposable, hosts, new DistinctItems(), settings) };
}

const server = await startDnsServer();

const none = (word: string): [string, Finding] => [`${word}.net`, { kind: "no-mail-server" }];

test.each<[string, Finding]>([
  ["ok.net", { kind: "mail", exchange: "mail.larch-and-oak.com" }],
  ["address.net", { kind: "mail" }],
  ["address6.net", { kind: "mail" }],
  ["truncated.net", { kind: "mail", exchange: "mail.larch-and-oak.com" }],
  ["many.net", { kind: "mail", exchange: "m0.larch-and-oak.com" }],
  ["control.net", { kind: "mail" }],
  ["nx.net", { kind: "no-such-domain" }],
  ["null.net", { kind: "null-mx" }],
  ["listed.net", { kind: "disposable-mx", suffix: "mailinator.com" }],
  ["temp.net", { kind: "disposable-mx", suffix: "dropmail.me" }],
  ["servfail.net", { kind: "undecided", cause: "SERVFAIL" }],
  ["refused.net", { kind: "undecided", cause: "REFUSED" }],
  // No records, no names of hosts, exchanges that do not exist, and addresses that do not lead to another machine.
  ...["nodata", "number", "localhost", "text", "at0", "at127", "at192", "mxgone", "mxbare", "mx10", "mx127"].map(none),
  ...["mx0", "mx6private", "mx224", "mxdoc", "mxdoc6", "mxshared", "mxdead"].map(none),
  ["lame.net", { kind: "undecided", cause: "lame delegation" }],
  ["mxsecond.net", { kind: "mail", exchange: "mail.larch-and-oak.com" }],
  ["mxopen.net", { kind: "undecided", cause: "SERVFAIL" }],
  ["mxopensecond.net", { kind: "mail", exchange: "mail.larch-and-oak.com" }],
  ["alias.net", { kind: "mail", exchange: "mail.larch-and-oak.com" }],
  ["aliasgone.net", { kind: "no-such-domain" }],
  ["backup.net", { kind: "disposable-mx", suffix: "dropmail.me" }],
  ["nullbeside.net", { kind: "mail", exchange: "mail.larch-and-oak.com" }],
  ["parked.net", { kind: "mail", exchange: "park-mx.above.com" }],
  // Domains without MX records.
  ["spf.net", { kind: "sends-no-mail" }],
  ["spfsoft.net", { kind: "mail" }],
  ["spfopen.net", { kind: "mail" }],
  ["spfmx.net", { kind: "mail", exchange: "mail.larch-and-oak.com" }],
  // A half of the answers is missing.
  ["halfopen.net", { kind: "mail" }],
  ["nohalf.net", { kind: "undecided", cause: "SERVFAIL" }],
  ["textopen.net", { kind: "undecided", cause: "SERVFAIL" }],
  ["xn--bcher-kva.net", { kind: "mail", exchange: "mail.larch-and-oak.com" }],
])("looks up how %s receives mail", async (domain, finding) => {
  const { domains } = domainsAt(server, { wantsExchanges: true });
  await domains.ask([domain]);
  expect(domains.find(domain)).toEqual(finding);
});

// c-ares accepts records of another name, and a CNAME loop without a record.
test.each(["other.net", "loop.net"])("an odd answer on %s still gives a known finding", async (domain) => {
  const { domains } = domainsAt(server);
  await domains.ask([domain]);
  expect(["mail", "undecided", "no-mail-server"]).toContain(domains.find(domain)?.kind);
});

test("each domain is queried once, however often it occurs", async () => {
  const own = await startDnsServer({ delay: 20 });
  const { domains } = domainsAt(own);
  await Promise.all([domains.ask(["a.net", "b.net", "a.net"]), domains.ask(["a.net", "c.net"])]);
  await domains.ask(["a.net"]);
  expect(own.asked.toSorted()).toEqual(["A mail.larch-and-oak.com", "MX a.net", "MX b.net", "MX c.net"]);
  expect(domains.statistics).toEqual({ asked: 3, cached: 0, undecided: 0, causes: {} });
});

test.each([1, 8, 64])("at most %i queries are in flight", async (concurrency) => {
  const client = new DnsClient({ servers: [server.address], concurrency });
  let [inFlight, most] = [0, 0];
  // No server: the client gives up a query that is answered late, while it is still in flight.
  const query = async () => {
    most = Math.max(most, ++inFlight);
    await nextTurn();
    inFlight--;
    return [];
  };
  await Promise.all(Array.from({ length: 3 * concurrency }, () => client.ask(query)));
  expect(most).toBe(concurrency);
});

test("lost queries are sent again, and change no finding", async () => {
  const lossy = await startDnsServer({ drops: (question) => question % 20 === 7 });
  const { domains } = domainsAt(lossy);
  const names = Array.from({ length: 1000 }, (_, i) => `${["ok", "null", "nx"][i % 3]}-${i}.net`);
  await domains.ask(names);
  const kinds = names.map((name) => domains.find(name)?.kind);
  expect(kinds).toEqual(names.map((_, i) => ["mail", "null-mx", "no-such-domain"][i % 3]));
});

test("cancelling ends the queries in flight", async () => {
  const { client, domains } = domainsAt(await startDnsServer({ drops: () => true }));
  const asking = domains.ask(Array.from({ length: 100 }, (_, i) => `d${i}.net`));
  setTimeout(() => client.cancel(), 50);
  const started = performance.now();
  await asking;
  // It would wait for the server for 20 seconds.
  expect(performance.now() - started).toBeLessThan(15_000);
  expect(domains.find("d0.net")).toEqual({ kind: "undecided", cause: "not asked" });
});

test("a rate spreads the queries over time", async () => {
  const own = await startDnsServer();
  const { domains } = domainsAt(own, { rate: { items: 100, milliseconds: 1000 } });
  const started = performance.now();
  await domains.ask(Array.from({ length: 30 }, (_, i) => `d${i}.net`));
  expect(performance.now() - started).toBeGreaterThan(250);
});

test("cached findings are used, with their exchanges, and nothing is asked again", async () => {
  const stored = new Map<string, Finding>([
    ["old.net", { kind: "mail", exchange: "mx.old.net" }],
    ["gone.net", { kind: "no-such-domain" }],
  ]);
  const cache: FindingCache = {
    load: async (names) => names.map((name) => stored.get(name)),
    store: async (findings) => {
      for (const [name, finding] of findings) stored.set(name, finding);
    },
  };
  const first = domainsAt(server, { cache });
  await first.domains.ask(["old.net", "gone.net", "null.net", "ok.net", "servfail.net"]);
  expect(first.domains.statistics).toMatchObject({ asked: 3, cached: 2, undecided: 1 });
  expect([...stored.keys()]).toEqual(["old.net", "gone.net", "null.net", "ok.net"]);
  const second = domainsAt(server, { cache, wantsExchanges: true });
  await second.domains.ask([...stored.keys()]);
  expect(second.domains.statistics).toMatchObject({ asked: 0, cached: 4 });
  expect(second.domains.find("old.net")).toEqual({ kind: "mail", exchange: "mx.old.net" });
  expect(second.domains.find("ok.net")).toEqual({ kind: "mail", exchange: "mail.larch-and-oak.com" });
});

// These wait for answers that do not come, so they wait together.
describe.concurrent("slow and missing answers", () => {
  test.each(["silence.net", "nonsense.net", "cut.net"])("%s stays undecided", async (domain) => {
    const { domains } = domainsAt(server);
    await domains.ask([domain]);
    expect(domains.find(domain)?.kind).toBe("undecided");
    expect(domains.statistics).toMatchObject({ asked: 1, undecided: 1 });
  });

  test("another server is queried if one is silent or refuses", async () => {
    const silent = await startDnsServer({ drops: () => true });
    const { domains } = domainsAt(server, { servers: [silent.address, server.address] });
    await domains.ask(["ok.net", "nx.net"]);
    expect([domains.find("ok.net")?.kind, domains.find("nx.net")?.kind]).toEqual(["mail", "no-such-domain"]);
    const none = domainsAt(server, { servers: ["127.0.0.1:1", server.address] });
    await none.domains.ask(["ok.net"]);
    expect(none.domains.find("ok.net")?.kind).toBe("mail");
  });

  test("without any server, all domains stay undecided, and most are not queried", async () => {
    const { domains } = domainsAt({ address: "127.0.0.1:1" });
    await domains.ask(Array.from({ length: 2000 }, (_, i) => `d${i}.net`));
    const { asked, undecided, causes } = domains.statistics;
    expect([asked, undecided]).toEqual([2000, 2000]);
    expect(causes["no connection"]).toBeLessThan(500);
    expect(causes["not asked"]).toBeGreaterThan(1500);
  });

  test("a server that limits its queries leaves no domain undecided", async () => {
    let [balance, second] = [50, Math.floor(performance.now() / 1000)];
    const limited = await startDnsServer({
      drops: () => {
        const now = Math.floor(performance.now() / 1000);
        balance = Math.min(50, balance + 50 * (now - second));
        second = now;
        return balance-- <= 0;
      },
    });
    const { domains } = domainsAt(limited);
    await domains.ask(Array.from({ length: times(200, 110) }, (_, i) => `null-${i}.net`));
    expect(domains.statistics).toMatchObject({ asked: times(200, 110), undecided: 0 });
  });

  test.each(some([3300, 7000], 1))("an outage of %i ms leaves no domain undecided", async (milliseconds) => {
    let isSilent = false;
    const restarted = await startDnsServer({ drops: () => isSilent });
    const { domains } = domainsAt(restarted);
    await domains.ask(["ok-1.net"]);
    isSilent = true;
    const waiting = domains.ask(Array.from({ length: 400 }, (_, i) => `null-${i}.net`));
    setTimeout(() => {
      isSilent = false;
    }, milliseconds);
    await waiting;
    expect(domains.statistics.undecided).toBe(0);
  });

  testFull("a server that stops answering for good is waited for once, for 20 seconds", async () => {
    let isSilent = false;
    const stopped = await startDnsServer({ drops: () => isSilent });
    const { domains } = domainsAt(stopped);
    await domains.ask(["ok-1.net"]);
    isSilent = true;
    const started = performance.now();
    await domains.ask(Array.from({ length: 400 }, (_, i) => `null-${i}.net`));
    expect(domains.statistics.undecided).toBe(400);
    expect(performance.now() - started).toBeGreaterThan(19_000);
    const asked = stopped.asked.length;
    await domains.ask(["null-400.net", "null-401.net", "null-402.net"]);
    expect(stopped.asked.length - asked).toBeLessThanOrEqual(6);
  });

  test("a silent server is queried again until it answers", async () => {
    let isSilent = true;
    const restarted = await startDnsServer({ drops: () => isSilent });
    const { domains } = domainsAt(restarted, { concurrency: 4 });
    const waiting = domains.ask(["ok-1.net", "ok-2.net", "nx-3.net"]);
    setTimeout(() => {
      isSilent = false;
    }, 1000);
    await waiting;
    expect(domains.find("nx-3.net")?.kind).toBe("no-such-domain");
  });

  test.each([1, 64])("slow answers among fast ones are used, with %i queries in flight", async (concurrency) => {
    const slow = await startDnsServer({ delayOf: (name) => (name.startsWith("nx") ? 900 : 0) });
    const { domains } = domainsAt(slow, { concurrency });
    await domains.ask([...Array.from({ length: 40 }, (_, i) => `ok-${i}.net`), "nx-1.net", "ok-x.net", "nx-2.net"]);
    for (const name of ["nx-1.net", "nx-2.net"]) expect(domains.find(name)?.kind).toBe("no-such-domain");
  });
});
