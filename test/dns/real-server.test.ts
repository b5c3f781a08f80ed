/**
 * Covers the findings from a real DNS server, BIND, over loopback. Debian's package `bind9` installs it; without it the test
 * is skipped and says so.
 */
import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DistinctItems } from "../../src/core/run/distinct-items.js";
import { DnsClient } from "../../src/engines/dns/dns-client.js";
import { createMailDomains } from "../../src/engines/dns/mail-domains.js";
import { createMailHosts } from "../../src/engines/dns/mail-hosts.js";
import { bindBoth } from "../support/dns-server.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const named = ["/usr/sbin/named", "/usr/local/sbin/named"].find((path) => existsSync(path));
if (named === undefined) process.stderr.write("skipped: no BIND is installed (Debian: bind9)\n");

const zone = `$TTL 60
@ SOA ns host 1 60 60 60 60
@ NS ns
ns A 9.9.9.1
host MX 10 mail
mail A 9.9.9.2
null MX 0 .
bare A 9.9.9.7
bare6 AAAA 2620:fe::7
empty TXT "no mail"
alias CNAME host
loop CNAME loop2
loop2 CNAME loop
temp MX 10 in.dropmail.me.
number MX 10 9.9.9.7.
gone MX 10 absent
noaddress MX 10 empty
inside MX 10 at10
at10 A 10.0.0.1
here A 127.0.0.1
spf A 9.9.9.7
spf TXT "v=spf1 -all"
second MX 10 absent
second MX 20 mail
*.wild MX 10 mail
gonealias CNAME absent
${Array.from({ length: 100 }, (_, i) => `many MX ${i} m${i}`).join("\n")}
m0 A 9.9.9.3
`;

/** Returns a port that is free for UDP and TCP now. */
async function freePort(): Promise<number> {
  const [udp, tcp] = [createSocket("udp4"), createServer()];
  const port = await bindBoth(udp, tcp);
  udp.close();
  await new Promise((resolve) => tcp.close(resolve));
  return port;
}

test.skipIf(named === undefined)(
  "BIND's answers give the same findings as those of the tests' own server",
  async () => {
    const folder = temporaryFolder();
    const port = await freePort();
    writeFileSync(join(folder, "zone"), zone);
    writeFileSync(
      join(folder, "named.conf"),
      `options { directory "${folder}"; pid-file "${folder}/pid"; session-keyfile "${folder}/key"; recursion no;
      listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; managed-keys-directory "${folder}"; };
    controls { };
    zone "larch.test" { type primary; file "${folder}/zone"; };`,
    );
    const server = spawn(named!, ["-g", "-c", join(folder, "named.conf")], { stdio: ["ignore", "ignore", "pipe"] });
    try {
      let said = "";
      server.stderr.on("data", (chunk: Buffer) => {
        said += chunk.toString();
      });
      await expect.poll(() => said).toMatch(/ running$/m);
      const client = new DnsClient({ servers: [`127.0.0.1:${port}`], concurrency: 8 });
      const domains = createMailDomains(client, () => undefined, createMailHosts(client, false), new DistinctItems(), {
        wantsExchanges: true,
      });
      const names =
        "host null bare bare6 empty alias temp number many absent loop gone noaddress inside here spf second x.wild gonealias".split(
          " ",
        );
      await domains.ask([...names.map((name) => `${name}.larch.test`), "elsewhere.net"]);
      const found = Object.fromEntries(names.map((name) => [name, domains.find(`${name}.larch.test`)]));
      expect(found).toMatchObject({
        host: { kind: "mail", exchange: "mail.larch.test" },
        null: { kind: "null-mx" },
        bare: { kind: "mail" },
        bare6: { kind: "mail" },
        empty: { kind: "no-mail-server" },
        alias: { kind: "mail", exchange: "mail.larch.test" },
        temp: { kind: "disposable-mx", suffix: "dropmail.me" },
        number: { kind: "no-mail-server" },
        many: { kind: "mail", exchange: "m0.larch.test" },
        absent: { kind: "no-such-domain" },
        gone: { kind: "no-mail-server" },
        noaddress: { kind: "no-mail-server" },
        inside: { kind: "no-mail-server" },
        here: { kind: "no-mail-server" },
        spf: { kind: "sends-no-mail" },
        second: { kind: "mail", exchange: "mail.larch.test" },
        "x.wild": { kind: "mail", exchange: "mail.larch.test" },
        gonealias: { kind: "no-such-domain" },
      });
      expect(["undecided", "no-mail-server"]).toContain(found["loop"]?.kind);
      expect(domains.find("elsewhere.net")).toEqual({ kind: "undecided", cause: "REFUSED" });
    } finally {
      server.kill("SIGKILL");
    }
  },
);
