// npm run chaos [-- --minutes N] [--seed S] [--postgres URL]
//
// Runs idv while everything that can be killed is killed, in random order: servers, runs with a service, runs on a shared quota, and
// runs with a quota file, with clocks that may be wrong. Ends with the books: no row lost, no unit charged twice, usage as the
// quotas have counted. On SQLite; also on PostgreSQL if the URL of an empty database is given. A seed repeats the order of
// things, not their timing.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    postgres: { type: "string" },
  },
});
const program = fileURLToPath(new URL("../../bin/idv.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "idv-chaos-"));
const say = (text) => process.stdout.write(`${text}\n`);
const faults = [];
const counts = {};
const count = (what, by = 1) => {
  counts[what] = (counts[what] ?? 0) + by;
};

/** Random numbers from the seed: mulberry32. */
let state = Number(values.seed);
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}
const below = (most) => Math.floor(random() * most);

const children = new Set();
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

/** Starts idv, perhaps with a clock that is wrong by up to a day. */
function start(args, { home, env = {}, isSkewed = false }) {
  const hours = isSkewed ? below(49) - 24 : 0;
  const shift = `const now = Date.now; Date.now = () => now() + ${hours * 3_600_000}`;
  const child = spawn(process.execPath, [program, ...args], {
    cwd: home,
    env: {
      ...{ PATH: process.env.PATH, HOME: home, XDG_STATE_HOME: join(home, "state") },
      NODE_DISABLE_COMPILE_CACHE: "1",
      ...(hours !== 0 && { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(shift)}` }),
      ...env,
    },
  });
  children.add(child);
  child.said = "";
  child.stdin.on("error", () => {});
  child.stdin.end();
  child.stdout.resume();
  child.stderr.on("data", (text) => {
    child.said += text;
  });
  child.ended = new Promise((resolve) =>
    child.once("close", (code, signal) => {
      children.delete(child);
      if (code === 70) faults.push(`exit 70: ${args.join(" ")}: ${child.said}`);
      resolve({ code, signal });
    }),
  );
  return child;
}

/** Runs idv to its end. Returns what it has printed on standard output. */
async function run(args, options) {
  const child = start(args, options);
  let printed = "";
  child.stdout.on("data", (text) => {
    printed += text;
  });
  const { code } = await child.ended;
  if (code !== 0) throw new Error(`${args.join(" ")}: exit ${code}: ${child.said}`);
  return printed;
}

let lists = 0;
/** Writes a list of new addresses to a new home. */
function newList(rows) {
  const name = `l${lists++}`;
  const home = mkdtempSync(join(folder, `${name}-`));
  const lines = Array.from({ length: rows }, (_, i) => `${name}-${i}@larch-and-oak.com`);
  writeFileSync(join(home, "list.csv"), `email\n${lines.join("\n")}\n`);
  return { home, lines };
}

/** Runs a command again and again, and kills it at random, until it succeeds. Returns how often it was killed. */
async function insist(args, options, most) {
  for (let kills = 0; ; ) {
    const child = start(args, options);
    const timer =
      kills < most && random() < 0.7 ? setTimeout(() => child.kill("SIGKILL"), 30 + below(900)) : 0;
    const { code, signal } = await child.ended;
    clearTimeout(timer);
    if (signal === "SIGKILL") {
      kills++;
      count(options.what);
    } else if (code === 0) return kills;
    else if (code === 5 || code === 6) {
      // The server was killed, or its state is locked: what a nightly job would do.
      count("runs that gave up, and were run again");
      await sleep(200);
    } else {
      faults.push(`${args.join(" ")}: exit ${code}: ${child.said}`);
      return kills;
    }
  }
}

/** Compares an output with its list: every row once, in order, and ok. */
function checkRows({ home, lines }) {
  const [, ...rows] = readFileSync(join(home, "out.csv"), "utf8").trimEnd().split("\n");
  const isWhole = rows.length === lines.length && rows.every((row, i) => row === `${lines[i]},ok`);
  if (!isWhole) faults.push(`${home}: ${rows.length} rows for ${lines.length}`);
  count("rows", rows.length);
}

/** Causes chaos around one state, until the time is over. */
async function around(place, end) {
  const admin = mkdtempSync(join(folder, "admin-"));
  const idv = (...args) => run(args, { home: admin, env: { IDV_STATE: place } });
  const key = (await idv("keys", "create", "--name", "chaos")).trim();
  const shared = ["--quota", place, "--quota-name", "runs"];
  await run(["quota", "set", ...shared, "--limit", "none"], { home: admin });
  const ports = [];
  let isOver = false;

  async function keepServer(index) {
    const home = mkdtempSync(join(folder, `server${index}-`));
    while (!isOver) {
      const args = ["serve", "-q", "--no-dashboard", "--port", String(ports[index] ?? 0), "--state", place];
      const child = start(args, { home, isSkewed: false });
      const announced = new Promise((resolve) =>
        child.stderr.on("data", () => {
          const port = /listening on http:\S+:(\d+)\n/.exec(child.said)?.[1];
          if (port) resolve(Number(port));
        }),
      );
      ports[index] = (await Promise.race([announced, child.ended.then(() => undefined)])) ?? ports[index];
      await Promise.race([sleep(300 + below(3000)), child.ended]);
      child.kill(isOver ? "SIGTERM" : "SIGKILL");
      count("servers killed");
      await child.ended;
    }
  }

  let asked = 0;
  async function keepAsking() {
    while (Date.now() < end) {
      const list = newList(50 + below(400));
      const port = ports[below(ports.length)];
      if (port === undefined) {
        await sleep(100);
        continue;
      }
      const args = ["emails", "list.csv", "-o", "out.csv", "-q", "--batch-size", String(5 + below(60))];
      const env = { IDV_API_KEY: key, IDV_BASE_URL: `http://127.0.0.1:${port}`, IDV_RETRY_BUDGET: "20s" };
      await insist(args, { home: list.home, env, what: "runs with a service killed" }, 4);
      checkRows(list);
      asked += list.lines.length;
      rmSync(list.home, { recursive: true });
    }
  }

  let [needed, wasted] = [0, 0];
  async function keepRunning(quota, isSkewed) {
    while (Date.now() < end) {
      const list = newList(2000 + below(60_000));
      const args = ["emails", "list.csv", "-o", "out.csv", "-q", "--engine", "offline", ...quota];
      const kills = await insist(args, { home: list.home, isSkewed, what: "offline runs killed" }, 3);
      checkRows(list);
      needed += list.lines.length;
      wasted += kills * list.lines.length;
      rmSync(list.home, { recursive: true });
    }
  }

  const servers = [0, 1].map(keepServer);
  await Promise.all([keepAsking(), keepAsking(), keepAsking(), keepRunning(shared, true)]);
  isOver = true;
  await Promise.all(servers);

  const keys = JSON.parse(`[${(await idv("keys", "list", "--json")).trim().split("\n").join(",")}]`);
  const { used } = keys.findLast(({ name }) => name === "chaos");
  const usage = (await idv("usage", "--json", "--since", "3d"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const sum = (id) => usage.filter((line) => line.key === id).reduce((total, { units }) => total + units, 0);
  const [line] = usage.filter(({ name }) => name === "chaos");
  const runs = JSON.parse(await run(["quota", "show", "--json", ...shared], { home: admin }));
  say(`${place.startsWith("postgres") ? "PostgreSQL" : "SQLite"}:`);
  say(`  with a service: ${used} units charged for ${asked} items, usage ${sum(line?.key)}`);
  say(
    `  shared quota:   ${runs.used} units charged for ${needed} items and at most ${wasted} of killed runs, usage ${sum("quota:runs")}`,
  );
  if (used !== asked || used !== sum(line?.key)) faults.push("the books of the service do not agree");
  if (runs.used < needed || runs.used > needed + wasted || runs.used !== sum("quota:runs")) {
    faults.push("the books of the shared quota do not agree");
  }
}

const end = Date.now() + Number(values.minutes) * 60_000;
say(`seed ${values.seed}, ${values.minutes} minutes`);
const places = [join(folder, "service.db"), ...(values.postgres ? [values.postgres] : [])];
try {
  await Promise.all(places.map((place) => around(place, end)));
} catch (error) {
  say(`FAULT ${error.message}`);
  // What goes on around the other state would never end.
  process.exit(1);
} finally {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}
for (const [what, number] of Object.entries(counts)) say(`  ${what}: ${number}`);
for (const fault of faults) say(`FAULT ${fault}`);
say(faults.length === 0 ? "the books agree" : `${faults.length} faults`);
process.exitCode = faults.length === 0 ? 0 : 1;
