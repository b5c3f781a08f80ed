// node test/bench/service.mjs [SECONDS [ROUNDS]]
//
// Measures `idv serve` under load: items a second and latency at 1, 100 and 1,000 items a request over 1, 16 and 64 connections,
// with and without an Idempotency-Key, on SQLite and PostgreSQL: one of its own, or the empty database of IDV_BENCH_POSTGRES. The key
// has a limit, so that every request is a durable transaction. The peers are a bare Fastify handler that parses the body and
// echoes a map, and one that gives verdicts besides. All take turns; the figures are medians of ROUNDS: with the CPU time of the server
// a request, which needs Linux and leaves out the database, and its ratio to that of the bare handler.
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import autocannon from "autocannon";
import { withPostgres } from "../support/postgres-server.mjs";
import { median, say } from "./measure.mjs";
import { startIdvServe, startServer } from "./service-process.mjs";

const [seconds = 4, rounds = 3] = process.argv.slice(2).map(Number);
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

/** Returns the CPU time of a process in microseconds, of which Linux counts a hundredth of a second. */
function cpuOf({ pid }) {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

async function load({ url, key, isOnce, child }, items, connections) {
  const requests = bodies(items).map((body) => ({
    method: "POST",
    path: "/emails/validate",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body,
    ...(isOnce && {
      setupRequest: (request) => ({ ...request, headers: { ...request.headers, "idempotency-key": randomUUID() } }),
    }),
  }));
  const before = cpuOf(child);
  const result = await autocannon({ url, requests, connections, duration: seconds });
  const { "2xx": answered, non2xx, errors, latency, duration } = result;
  if (non2xx + errors > 0) throw new Error(`${non2xx} refusals and ${errors} errors`);
  const cpu = (cpuOf(child) - before) / answered;
  return { rate: (answered * items) / duration, p50: latency.p50, p99: latency.p99, cpu };
}

const servers = [];
try {
  await withPostgres(process.env.IDV_BENCH_POSTGRES, compare);
} finally {
  for (const { child } of servers) child.kill();
  rmSync(folder, { recursive: true, force: true });
}

async function compare(database) {
  const bare = await startServer("test/bench/service-bare.mjs");
  const judging = await startServer("test/bench/service-bare.mjs", "verdicts");
  const sqlite = await startIdvServe(state);
  servers.push(bare, judging, sqlite);
  const peers = { bare, "bare, verdicts": judging, SQLite: sqlite, "SQLite, once": { ...sqlite, isOnce: true } };
  if (database) {
    const postgres = await startIdvServe(database.url);
    servers.push(postgres);
    Object.assign(peers, { PostgreSQL: postgres, "PostgreSQL, once": { ...postgres, isOnce: true } });
  }
  say("items/request  connections  server                items/s    p50 ms    p99 ms  of bare    CPU us  of bare");
  for (const items of [1, 100, 1000]) {
    for (const connections of [1, 16, 64]) {
      const results = Object.fromEntries(Object.keys(peers).map((name) => [name, []]));
      for (let round = 0; round < rounds; round++) {
        for (const [name, server] of Object.entries(peers)) {
          results[name].push(await load(server, items, connections));
        }
      }
      const figure = (name, field) => median(results[name].map((result) => result[field]));
      for (const name of Object.keys(peers)) {
        const rate = figure(name, "rate");
        say(
          [
            String(items).padStart(13),
            String(connections).padStart(12),
            `  ${name.padEnd(16)}`,
            Math.round(rate).toLocaleString("en").padStart(12),
            String(figure(name, "p50")).padStart(9),
            String(figure(name, "p99")).padStart(9),
            (rate / figure("bare", "rate")).toFixed(2).padStart(8),
            figure(name, "cpu").toFixed(0).padStart(9),
            (figure(name, "cpu") / figure("bare", "cpu")).toFixed(2).padStart(8),
          ].join(" "),
        );
      }
    }
  }
}
