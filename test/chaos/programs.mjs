// Starts idv as chaos does: with wrong clocks and full disks, killed at random, and again until it succeeds. Keeps the counts
// and the faults.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { below, random } from "./random.mjs";

const program = fileURLToPath(new URL("../../bin/idv.js", import.meta.url));

/** Violations found, as text. */
export const faults = [];
/** How often each thing has happened. */
export const counts = {};
export const count = (what, by = 1) => {
  counts[what] = (counts[what] ?? 0) + by;
};

const children = new Set();
export const killAll = () => {
  for (const child of children) child.kill("SIGKILL");
};
process.on("exit", killAll);
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

/** Returns options of Node.js for a clock that is wrong by up to a day, perhaps only after a while. */
function wrongClock() {
  const hours = below(49) - 24;
  const from = random() < 0.5 ? 0 : below(2000);
  const shift = `const now = Date.now; Date.now = () => now() + (performance.now() < ${from} ? 0 : ${hours * 3_600_000})`;
  count(from === 0 ? "clocks wrong" : "clocks that jump");
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(shift)}` };
}

/**
 * Starts idv.
 *
 * @param settings `isSkewed` for a wrong clock; `fileKilobytes` for the largest size of a file, as on a full disk
 */
export function start(args, { home, env = {}, isSkewed = false, fileKilobytes }) {
  const command = [process.execPath, program, ...args];
  const limited = fileKilobytes === undefined ? command : ["bash", "-c", limit, String(fileKilobytes), ...command];
  const child = spawn(limited[0], limited.slice(1), {
    cwd: home,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      XDG_STATE_HOME: join(home, "state"),
      NODE_DISABLE_COMPILE_CACHE: "1",
      ...(isSkewed && wrongClock()),
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
const limit = 'ulimit -f "$0"; exec "$@"';

/** Runs idv to its end. Returns what it has printed on standard output. */
export async function run(args, options) {
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
/** Writes a list of new addresses to a new home in a folder. */
export function newList(folder, rows) {
  const name = `l${lists++}`;
  const home = mkdtempSync(join(folder, `${name}-`));
  const lines = Array.from({ length: rows }, (_, i) => `${name}-${i}@larch-and-oak.com`);
  writeFileSync(join(home, "list.csv"), `email\n${lines.join("\n")}\n`);
  return { home, lines };
}

/**
 * Cleans a list again and again, killed at random and sometimes with a full disk, until it succeeds.
 *
 * @param most how often it is killed or finds its disk full
 * @param between is called after an attempt that failed
 * @returns how many attempts failed, and how many of them when their output was in place
 */
export async function insist(args, list, { what, most, between, ...options }) {
  for (let [failures, late] = [0, 0]; ; failures++) {
    const isHard = failures < most;
    const fileKilobytes = isHard && random() < 0.2 ? 4 + below(400) : undefined;
    if (fileKilobytes !== undefined) count("runs with a full disk");
    const child = start(args, { home: list.home, fileKilobytes, ...options });
    const isHasty = isHard && random() < 0.7;
    // On a full disk, a run may try for two minutes to reach its quota.
    const life = isHasty ? 30 + below(900) : fileKilobytes === undefined ? 180_000 : 10_000;
    const timer = setTimeout(() => {
      if (life === 180_000) faults.push(`${args.join(" ")}: did not end: ${child.said}`);
      child.kill("SIGKILL");
    }, life);
    const { code, signal } = await child.ended;
    clearTimeout(timer);
    if (signal === "SIGKILL") count(`${what} killed`);
    else if (code === 0) {
      checkRows(list);
      return { failures, late };
    } else if (code === 5 || code === 6) {
      // The server was killed, or its state is locked, or the disk is full: a nightly job would run it again.
      count(`${what} that gave up`);
      await sleep(200);
    } else {
      faults.push(`${args.join(" ")}: exit ${code ?? signal}: ${child.said}`);
      return { failures, late };
    }
    const output = join(list.home, "out.csv");
    if (existsSync(output)) {
      checkRows(list, "after a failure: ");
      rmSync(output);
      late++;
    }
    between?.(list);
  }
}

/** Compares an output with its list: every row once, in order, and ok; and nothing is left beside it. */
export function checkRows({ home, lines }, when = "") {
  const [, ...rows] = readFileSync(join(home, "out.csv"), "utf8").trimEnd().split("\n");
  const isWhole = rows.length === lines.length && rows.every((row, i) => row === `${lines[i]},ok`);
  if (!isWhole) faults.push(`${when}${home}: ${rows.length} rows for ${lines.length}`);
  if (when !== "") return;
  count("rows in", lines.length);
  count("rows out", rows.length);
  const left = readdirSync(home).filter((name) => name.startsWith(".idv-"));
  if (left.length > 0) faults.push(`${home}: ${left.join(", ")} left`);
}
