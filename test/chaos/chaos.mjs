// node test/chaos/chaos.mjs [--minutes N] [--seed S] [--postgres URL]
//
// Runs idv while everything goes wrong that can be made to go wrong, in random order. Servers, runs and the database are killed;
// a proxy loses, cuts and delays answers; disks are full, files of the cache torn, clocks wrong. Ends with the books: no row
// lost, no unit charged twice, usage as the quotas have counted. On SQLite and on PostgreSQL: one of its own, or an empty
// database whose URL is given, which is not killed. A seed repeats the order of things, not their timing.
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { withPostgres } from "../support/postgres-server.mjs";
import { startProxy } from "./faulty-proxy.mjs";
import { checkRows, count, counts, faults, insist, killAll, newList, run, start } from "./programs.mjs";
import { below, random, seed } from "./random.mjs";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    postgres: { type: "string" },
  },
});
const folder = mkdtempSync(join(tmpdir(), "idv-chaos-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
const say = (text) => process.stdout.write(`${text}\n`);

/** Cuts a file of the cache short, as a power cut may. */
function tearCache({ home }) {
  const cache = join(home, "state/idv");
  if (random() < 0.5 || !existsSync(cache)) return;
  const names = readdirSync(cache);
  if (names.length === 0) return;
  const file = join(cache, names[below(names.length)]);
  truncateSync(file, below(statSync(file).size + 1));
  count("files of a cache torn");
}

/**
 * Cleans lists while it is on, each of which is paid once, or again with each attempt. Returns the units that were needed, and those that may have been charged more.
 *
 * @param usedNow returns the units used, if nobody else uses the quota: a list without failures has to cost its items
 */
async function keepCleaning(isOn, rows, args, options, isPaidOnce = false, usedNow = undefined) {
  let [needed, wasted] = [0, 0];
  let used = await usedNow?.();
  while (isOn()) {
    const list = newList(folder, rows());
    const { failures, late } = await insist(["emails", "list.csv", "-o", "out.csv", "-q", ...args()], list, options());
    if (usedNow) {
      const cost = (await usedNow()) - used;
      used += cost;
      if (failures === 0) count("lists without a failure");
      // A run that is killed just before its end, when its file is there, has paid or is free.
      if (cost % list.lines.length !== 0 || cost < list.lines.length || cost > (1 + late) * list.lines.length) {
        faults.push(`${cost} units for ${list.lines.length} items and ${failures} failures, ${late} of them late`);
      }
    }
    needed += list.lines.length;
    wasted += (isPaidOnce ? late : failures) * list.lines.length;
    rmSync(list.home, { recursive: true });
  }
  return { needed, wasted };
}

/** The same without a service, with a quota. */
const keepRunning = (isOn, quota, env = {}, usedNow = undefined) =>
  keepCleaning(
    isOn,
    () => 2000 + below(60_000),
    () => ["--set", "engine=offline", ...quota],
    () => ({ env, isSkewed: random() < 0.5, what: "offline runs", most: 3 }),
    true,
    usedNow,
  );

/**
 * Sends lists to a service while it is on, each until it is taken, checked and fetched. Returns the units that were needed.
 *
 * @param url returns the address of the lists of one of the servers, which may be killed
 */
async function keepSending(isOn, key, url) {
  let needed = 0;
  const ask = async (path, init = {}) => {
    const headers = { authorization: `Bearer ${key}`, ...init.headers };
    const answer = await fetch(`${url()}${path}`, { ...init, headers }).catch(() => undefined);
    const text = await answer?.text().catch(() => undefined);
    return text === undefined ? { status: 0, text: "" } : { status: answer.status, text };
  };
  /** Asks again until an answer has a wanted status. */
  const askUntil = async (wanted, path, init) => {
    for (const end = Date.now() + 300_000; ; await sleep(150)) {
      const { status, text } = await ask(path, init);
      if (wanted.includes(status)) return { status, text };
      // 409: an upload that was cut off is still there for a while.
      if (![0, 409, 503].includes(status)) faults.push(`${init?.method ?? "GET"} ${path}: ${status} ${text}`);
      if (Date.now() > end) throw new Error(`${path}: no answer but ${status} ${text}`);
    }
  };
  while (isOn()) {
    const list = newList(folder, 2000 + below(60_000));
    const headers = { "content-type": "text/csv", "idempotency-key": list.home };
    const body = readFileSync(join(list.home, "list.csv"));
    const { id } = JSON.parse((await askUntil([202], "", { method: "POST", headers, body })).text);
    for (;;) {
      const { state, fault } = JSON.parse((await askUntil([200], `/${id}`)).text);
      if (state === "done") break;
      if (state === "failed") {
        count(`lists that failed: ${fault}`);
        await askUntil([202, 409], `/${id}/run`, { method: "POST" });
      }
      await sleep(100);
    }
    const result = await askUntil([200], `/${id}/result`);
    writeFileSync(join(list.home, "out.csv"), result.text);
    checkRows(list);
    await askUntil([204, 404], `/${id}`, { method: "DELETE" });
    needed += list.lines.length;
    count("lists sent to the service");
    rmSync(list.home, { recursive: true });
  }
  return { needed, wasted: 0 };
}

/** Causes chaos around the state in one place, until the time is over, and checks its books once all is well. */
async function around(place, end, isWell, onReady = () => {}) {
  const isOn = () => Date.now() < end;
  const isPostgres = place.startsWith("postgres");
  const admin = mkdtempSync(join(folder, "admin-"));
  const idv = (...args) => run(args, { home: admin, env: { IDV_STATE: place } });
  const linesOf = async (...args) =>
    (await idv(...args))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  const exact = (await idv("keys", "create", "--name", "exact")).trim();
  const torn = (await idv("keys", "create", "--name", "torn")).trim();
  const listed = (await idv("keys", "create", "--name", "listed")).trim();
  const lists = mkdtempSync(join(folder, "lists-"));
  const shared = ["--quota", `${place}#runs`];
  await run(["quota", "set", ...shared, "--limit", "none"], { home: admin });
  onReady();
  const ports = [];
  let isOver = false;

  async function keepServer(index) {
    const home = mkdtempSync(join(folder, `server${index}-`));
    while (!isOver) {
      const own = ["--port", String(ports[index] ?? 0), "--state", place, "--lists", lists];
      const args = ["serve", "-q", "--no-dashboard", ...own];
      // On PostgreSQL, the database's clock decides.
      const child = start(args, { home, isSkewed: isPostgres && random() < 0.5 });
      const announced = new Promise((resolve) =>
        child.stderr.on("data", () => {
          const port = /listening on http:\S+:(\d+)\n/.exec(child.said)?.[1];
          if (port) resolve(Number(port));
        }),
      );
      ports[index] = (await Promise.race([announced, child.ended.then(() => undefined)])) ?? ports[index];
      await Promise.race([sleep(300 + below(3000)), child.ended]);
      // Once the time is over, it lives until all runs have ended.
      while (!isOn() && !isOver && child.exitCode === null) await sleep(50);
      if (child.kill(isOver ? "SIGTERM" : "SIGKILL") && !isOver) count("servers killed");
      await child.ended;
    }
  }

  /** Returns the units used of the shared quota, once the database can be asked. */
  async function usedByRuns() {
    for (;;) {
      const printed = await run(["quota", "show", "--json", ...shared], { home: admin }).catch(() => undefined);
      if (printed !== undefined) return JSON.parse(printed).used;
      await sleep(200);
    }
  }

  const proxy = await startProxy(() => ports[below(2)], isOn);
  const keepAsking = (key, between) =>
    keepCleaning(
      isOn,
      () => 50 + below(400),
      () => ["--set", `batchSize=${5 + below(60)}`],
      () => ({
        env: { IDV_API_KEY: key, IDV_BASE_URL: proxy.url, IDV_RETRY_BUDGET: "20s", IDV_TIMEOUT: "5s" },
        what: "runs with a service",
        most: 4,
        between,
      }),
    );
  const servers = [0, 1].map(keepServer);
  const [one, other, bounded, offline, sent] = await Promise.all([
    keepAsking(exact),
    keepAsking(exact),
    keepAsking(torn, tearCache),
    keepRunning(isOn, shared, {}, usedByRuns),
    keepSending(isOn, listed, () => `http://127.0.0.1:${ports[below(2)]}/lists`),
  ]);
  isOver = true;
  await Promise.all(servers);
  proxy.close();
  await isWell;

  const usage = await linesOf("usage", "--json", "--since", "3d");
  const unitsOf = (of) => usage.filter(of).reduce((total, { units }) => total + units, 0);
  const keys = await linesOf("keys", "list", "--json");
  say(isPostgres ? "PostgreSQL:" : "SQLite:");
  const balanceKey = (what, wanted, books) => {
    const { used } = keys.find(({ name }) => name === wanted);
    balance(
      what,
      used,
      books,
      unitsOf(({ name }) => name === wanted),
    );
  };
  balanceKey("with a service", "exact", { needed: one.needed + other.needed, wasted: 0 });
  balanceKey("the same, with torn caches", "torn", bounded);
  balanceKey("lists sent to the service", "listed", sent);
  balance(
    "offline, on the shared quota",
    await usedByRuns(),
    offline,
    unitsOf(({ key }) => key === "quota:runs"),
  );
}

/** Cleans lists on a quota file that two runs share, until the time is over, and checks its books. */
async function onQuotaFile(end) {
  const env = { XDG_STATE_HOME: join(folder, "quota") };
  const runs = await Promise.all([0, 1].map(() => keepRunning(() => Date.now() < end, [], env)));
  const [needed, wasted] = ["needed", "wasted"].map((name) => runs[0][name] + runs[1][name]);
  const { used } = JSON.parse(await run(["quota", "show", "--json"], { home: folder, env }));
  say("a quota file:");
  balance("offline", used, { needed, wasted });
}

/** Says what was charged, and whether that is right. */
function balance(what, used, { needed, wasted }, usage = used) {
  const more = wasted === 0 ? "" : `, and at most ${wasted} of attempts that failed`;
  say(`  ${what}: ${used} units charged for ${needed} items${more}`);
  if (used < needed || used > needed + wasted || usage !== used) {
    faults.push(`the books do not agree: ${what}, usage ${usage}`);
  }
}

/** Kills a database and starts it again, until the time is over. */
async function keepKilling({ kill, restart }, end) {
  while (Date.now() < end) {
    await sleep(Math.min(3000 + below(9000), Math.max(0, end - Date.now())));
    await kill();
    count("database killed");
    await sleep(below(2000));
    await restart();
  }
}

seed(Number(values.seed));
say(`seed ${values.seed}, ${values.minutes} minutes`);
try {
  await withPostgres(values.postgres, async (database) => {
    const end = Date.now() + Number(values.minutes) * 60_000;
    let onReady;
    const isReady = new Promise((resolve) => {
      onReady = resolve;
    });
    // Keys and quotas are created before.
    const isWell = database?.kill && isReady.then(() => keepKilling(database, end));
    await Promise.all([
      around(join(folder, "service.db"), end),
      onQuotaFile(end),
      database && around(database.url, end, isWell, onReady),
      isWell,
    ]);
  });
} catch (error) {
  say(`FAULT ${error.message}`);
  // The other loops would never end.
  process.exit(1);
} finally {
  killAll();
}
for (const what of Object.keys(counts).sort()) say(`  ${what}: ${counts[what]}`);
for (const fault of faults) say(`FAULT ${fault}`);
say(faults.length === 0 ? "the books agree" : `${faults.length} faults`);
process.exitCode = faults.length === 0 ? 0 : 1;
