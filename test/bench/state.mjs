// node test/bench/state.mjs [SECONDS]
//
// Measures reservations of 100 units a second on one key in PostgreSQL: with group commit, as the service makes them, at 1, 8
// and 32 waiting, and from four processes with 8 each. The peer is a statement each over the same pool, in turns. The database is
// one of its own, or the empty one of IDV_BENCH_POSTGRES.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { GroupCommit } from "../../dist/state/group-commit.js";
import { openPostgresServiceStore } from "../../dist/state/service/database/postgres.js";
import { withPostgres } from "../support/postgres-server.mjs";

const seconds = Number(process.argv[2] ?? 3);
const statuses = Array.from({ length: 100 }, () => "ok");

/** Keeps `waiting` calls under way for some seconds. Returns the number of calls a second. */
async function rateOf(call, waiting) {
  const end = performance.now() + 1000 * seconds;
  let count = 0;
  const loop = async () => {
    while (performance.now() < end) {
      await call();
      count++;
    }
  };
  await Promise.all(Array.from({ length: waiting }, loop));
  return count / seconds;
}

async function open(url, keyId) {
  const store = await openPostgresServiceStore(url);
  const groups = new GroupCommit((group) => store.chargeAll(group));
  const pool = new pg.Pool({ connectionString: url, max: 8 });
  // The database may end before its connections.
  pool.on("error", () => {});
  return {
    grouped: () => groups.add({ keyId, kind: "email", statuses }),
    single: () =>
      pool.query(
        `UPDATE idv_quota SET used = used + 100 WHERE id = (SELECT quota_id FROM idv_key WHERE id = $1)
        AND (unit_limit IS NULL OR used + 100 <= unit_limit)`,
        [keyId],
      ),
    close: async () => {
      await store.close();
      await pool.end();
    },
  };
}

if (process.send) {
  const [, , , url, keyId, way] = process.argv;
  const ways = await open(url, keyId);
  process.send("ready");
  await new Promise((resolve) => process.once("message", resolve));
  process.send(await rateOf(ways[way], 8));
  await ways.close();
  process.disconnect();
} else {
  await withPostgres(process.env.IDV_BENCH_POSTGRES, (database) => {
    if (!database) throw new Error("set IDV_BENCH_POSTGRES to the URL of an empty database");
    return compare(database.url);
  });
}

async function compare(url) {
  const store = await openPostgresServiceStore(url);
  const { key } = await store.create({ name: "bench" });
  await store.close();
  const say = (line) => process.stdout.write(`${line}\n`);
  const show = (what, grouped, single) =>
    say(
      `${what.padEnd(24)}${Math.round(grouped).toLocaleString("en").padStart(10)}/s${Math.round(single).toLocaleString("en").padStart(10)}/s${(grouped / single).toFixed(1).padStart(8)}`,
    );
  say("waiting                   group commit  a statement each   ratio");
  const ways = await open(url, key.id);
  for (const waiting of [1, 8, 32]) {
    show(`1 process, ${waiting}`, await rateOf(ways.grouped, waiting), await rateOf(ways.single, waiting));
  }
  await ways.close();
  const rates = {};
  for (const way of ["grouped", "single"]) {
    const children = Array.from({ length: 4 }, () =>
      fork(fileURLToPath(import.meta.url), [String(seconds), url, key.id, way]),
    );
    await Promise.all(children.map((child) => new Promise((resolve) => child.once("message", resolve))));
    const answers = children.map((child) => new Promise((resolve) => child.once("message", resolve)));
    for (const child of children) child.send("go");
    rates[way] = (await Promise.all(answers)).reduce((sum, rate) => sum + rate, 0);
  }
  show("4 processes, 8 each", rates.grouped, rates.single);
}
