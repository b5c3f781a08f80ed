// npm run bench:service [-- SECONDS [ROUNDS]]
//
// Measures `idv serve` under load: items a second and latency at 100 and 1,000 items a request over 1 and 16 connections.
// The key has a limit, so that every request is a durable transaction. The peer is a bare Fastify handler that parses the
// body and echoes a map. The two take turns; the figures are medians of ROUNDS.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import autocannon from "autocannon";
import { startIdvServe, startServer } from "./service-process.mjs";

const [seconds = 4, rounds = 3] = process.argv.slice(2).map(Number);
const say = (line) => process.stdout.write(`${line}\n`);
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const folder = mkdtempSync(join(tmpdir(), "idv-bench-"));
const state = join(folder, "state.db");

const popular = "gmail.com yahoo.com hotmail.com outlook.com icloud.com gmx.de mail.ru qq.com".split(" ");
/** Returns request bodies without common items, so that caching does not help. */
const bodies = (items) =>
  Array.from({ length: 50 }, (_, request) => {
    const emails = Array.from({ length: items }, (_, i) => {
      const n = request * items + i;
      return `ann.lee${n}@${n % 10 < 7 ? popular[n % popular.length] : `company-${n}.com`}`;
    });
    return JSON.stringify({ emails });
  });

async function load(url, key, items, connections) {
  const requests = bodies(items).map((body) => ({
    method: "POST",
    path: "/emails/validate",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body,
  }));
  const result = await autocannon({ url, requests, connections, duration: seconds });
  const { "2xx": answered, non2xx, errors, latency, duration } = result;
  if (non2xx + errors > 0) throw new Error(`${non2xx} refusals and ${errors} errors`);
  return { rate: (answered * items) / duration, p50: latency.p50, p99: latency.p99 };
}

const servers = [];
try {
  const idv = await startIdvServe(state);
  servers.push(idv);
  const bare = await startServer("test/bench/service-bare.mjs");
  servers.push(bare);
  say("items/request  connections  server       items/s    p50 ms    p99 ms  of the bare handler");
  for (const items of [100, 1000]) {
    for (const connections of [1, 16]) {
      const results = { idv: [], bare: [] };
      for (let round = 0; round < rounds; round++) {
        for (const [name, { url }] of Object.entries({ idv, bare })) {
          results[name].push(await load(url, idv.key, items, connections));
        }
      }
      const figure = (name, field) => median(results[name].map((result) => result[field]));
      for (const name of ["idv", "bare"]) {
        const rate = figure(name, "rate");
        say(
          [
            String(items).padStart(13),
            String(connections).padStart(12),
            `  ${name.padEnd(6)}`,
            Math.round(rate).toLocaleString("en").padStart(12),
            String(figure(name, "p50")).padStart(9),
            String(figure(name, "p99")).padStart(9),
            `  ${(rate / figure("bare", "rate")).toFixed(2)}`,
          ].join(" "),
        );
      }
    }
  }
} finally {
  for (const { child } of servers) child.kill();
  rmSync(folder, { recursive: true, force: true });
}
