// Time of --dns for 10,000 domains against a server over loopback, by queries in flight, without and with lost packets.
// Beside it, a bare loop over node:dns with the same number of queries in flight. Usage: node test/bench/dns.mjs [ROUNDS]
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { median } from "./measure.mjs";

const execute = promisify(execFile);
const rounds = Number(process.argv[2] ?? 3);
const program = fileURLToPath(new URL("../../bin/idv.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "idv-bench-"));
const names = Array.from({ length: 10_000 }, (_, i) => `${i % 10 === 0 ? "nx" : "ok"}-${i}.net`);
writeFileSync(join(folder, "domains"), `domain\n${names.join("\n")}\n`);
const bareLoop = `
  const { Resolver } = require("node:dns").promises;
  const names = require("node:fs").readFileSync("domains", "utf8").split("\\n").slice(1, -1);
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  resolver.setServers([process.argv[1]]);
  let next = 0;
  const work = async () => { while (next < names.length) await resolver.resolveMx(names[next++]).catch(() => {}); };
  Promise.all(Array.from({ length: Number(process.argv[2]) }, work));
`;

async function startServer(percentage) {
  const child = spawn(process.execPath, [fileURLToPath(new URL("dns-server.mjs", import.meta.url)), percentage]);
  const [port] = await once(child.stdout, "data");
  return { address: `127.0.0.1:${String(port).trim()}`, child, end: () => child.kill() };
}

async function seconds(args) {
  const started = performance.now();
  await execute(process.execPath, args, { cwd: folder, env: { PATH: process.env.PATH, HOME: folder } });
  return (performance.now() - started) / 1000;
}

/** Returns the number of questions that a server got since it was asked last. */
async function questionsTo(child, before = 0) {
  child.kill("SIGUSR2");
  const [count] = await once(child.stdout, "data");
  return Number(count) - before;
}

const print = (line) => process.stdout.write(`${line}\n`);
const digests = new Set();
print("in flight  lost   idv s  domains/s  bare loop s  idv / bare  fake");
for (const percentage of ["0", "5"]) {
  for (const concurrency of ["1", "8", "32", "64"]) {
    // One query at a time waits for every lost one; that says nothing about the others.
    if (percentage === "5" && concurrency === "1") continue;
    const server = await startServer(percentage);
    const [ours, bare] = [[], []];
    for (let round = 0; round < rounds; round++) {
      const dns = [
        "--dns",
        "--set",
        `dnsServer=${server.address}`,
        "--set",
        `dnsConcurrency=${concurrency}`,
        "--cache=off",
      ];
      ours.push(await seconds([program, "domains", "domains", "-q", "-o", "out", ...dns]));
      if (percentage === "0") bare.push(await seconds(["-e", bareLoop, server.address, concurrency]));
    }
    server.end();
    const output = readFileSync(join(folder, "out"), "utf8");
    digests.add(createHash("sha256").update(output).digest("hex"));
    const [idv, peer] = [median(ours), bare.length > 0 ? median(bare) : undefined];
    print(
      [
        concurrency.padStart(9),
        `${percentage} %`.padStart(5),
        idv.toFixed(2).padStart(7),
        Math.round(names.length / idv)
          .toLocaleString("en")
          .padStart(10),
        (peer?.toFixed(2) ?? "-").padStart(12),
        (peer ? (idv / peer).toFixed(2) : "-").padStart(11),
        String(output.match(/,fake$/gm)?.length ?? 0).padStart(5),
      ].join(" "),
    );
  }
}
print("\n1,020 domains, 20 of which fail after 400 ms (SERVFAIL); queries, and seconds");
{
  const list = Array.from({ length: 1020 }, (_, i) => `${i % 51 === 0 ? "late" : "ok"}-${i}.net`);
  writeFileSync(join(folder, "domains"), `domain\n${list.join("\n")}\n`);
  const server = await startServer("0");
  const dns = ["--dns", "--set", `dnsServer=${server.address}`, "--cache=off"];
  const idv = await seconds([program, "domains", "domains", "-q", "-o", "late", ...dns]);
  const asked = await questionsTo(server.child);
  const bare = await seconds(["-e", bareLoop, server.address, "64"]);
  const bareAsked = await questionsTo(server.child, asked);
  server.end();
  print(`idv ${asked} in ${idv.toFixed(2)} s; bare loop ${bareAsked} in ${bare.toFixed(2)} s`);
}
print(digests.size === 1 ? "the output was the same in all runs" : "THE OUTPUTS DIFFER");
rmSync(folder, { recursive: true });
