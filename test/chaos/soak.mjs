// node test/chaos/soak.mjs [--minutes N] [--rows N] [--kills N]
//
// A server under load and harm for a long time: clients that repeat each request until it is answered, lists, idle connections,
// readers that do not read, bombs and the worst bodies that are allowed, over a state with millions of rows of usage, in 512 MB of
// memory and on a disk that is full at times, where root of a Linux can make both, killed in between. Ends with figures: no unit lost or charged twice, the time in which /healthz
// answers, memory over time.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { DatabaseSync } from "@photostructure/sqlite";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    rows: { type: "string", default: "10000000" },
    kills: { type: "string", default: "20" },
  },
});
const program = fileURLToPath(new URL("../../bin/idv.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "idv-soak-"));
const disk = join(folder, "disk");
const state = join(disk, "service.db");
const group = "/sys/fs/cgroup/memory/idv-soak";
const memoryLimit = 536_870_912;
const say = (text) => process.stdout.write(`${text}\n`);
const counts = {};
const count = (what, by = 1) => {
  counts[what] = (counts[what] ?? 0) + by;
};
process.once("exit", () => {
  if (isSmall) execFileSync("umount", ["-l", disk]);
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
});

/** A file system of its own, which can be filled without harm to others; false where there can be none. */
function mountDisk() {
  const image = join(folder, "disk.img");
  mkdirSync(disk);
  try {
    writeFileSync(image, "");
    truncateSync(image, 4 * 1024 ** 3);
    execFileSync("mkfs.ext4", ["-q", "-m", "0", image], { stdio: "ignore" });
    execFileSync("mount", ["-o", "loop", image, disk], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Without it, the first commits of the server would wait for all that is not on the disk yet. */
function syncFile(path) {
  const file = openSync(path, "r+");
  fsyncSync(file);
  closeSync(file);
}

async function idv(...args) {
  const child = spawn(process.execPath, [program, ...args], { env: { PATH: process.env.PATH, HOME: folder } });
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`idv ${args.join(" ")}: ${code}`);
  return text.trim();
}

/** Adds usage of hours of a month, which is summed up while the server runs. */
function fillUsage(rows) {
  const database = new DatabaseSync(state);
  const hour = 3_600_000;
  const now = Date.now() - (Date.now() % hour);
  database.exec(`PRAGMA synchronous = OFF;
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows - 1})
    INSERT INTO usage SELECT 'old' || (i / 700), ${now} - (1 + i % 700) * ${hour}, 'email', 'ok', 1 FROM n`);
  database.close();
  syncFile(state);
}

/** Puts a process into a group of processes with a limit on their memory; false where there are none. */
function limitMemory(pid) {
  try {
    mkdirSync(group, { recursive: true });
    writeFileSync(join(group, "memory.limit_in_bytes"), String(memoryLimit));
    writeFileSync(join(group, "cgroup.procs"), String(pid));
    return true;
  } catch {
    return false;
  }
}

const freePort = async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
};

const isSmall = mountDisk();
say(isSmall ? "disk: 4 GB, full at times" : "disk: this machine has none that could be filled");
say(`${values.minutes} minutes, ${values.rows} rows of usage, ${values.kills} kills`);
const key = await idv("keys", "create", "--name", "soak", "--state", state);
const badKey = await idv("keys", "create", "--name", "attacker", "--state", state);
fillUsage(Number(values.rows));
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
let server;
let isLimited = false;
let startedAt = 0;
async function startServer() {
  const args = ["serve", "-q", "--port", String(port), "--state", state, "--lists", join(disk, "lists")];
  server = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, HOME: folder },
    stdio: ["ignore", "ignore", "inherit"],
  });
  isLimited = limitMemory(server.pid);
  const begun = performance.now();
  for (;;) {
    if (
      await fetch(`${url}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      break;
    await sleep(50);
  }
  startedAt = performance.now();
  count("milliseconds of starts", Math.round(startedAt - begun));
}
await startServer();
say(isLimited ? "memory: 512 MB at most" : "memory: this machine has no limit that could be set");

const end = performance.now() + 60_000 * Number(values.minutes);
const isOn = () => performance.now() < end;
const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
let told = 0;
let nth = 0;

/** Repeats each request until it is answered, as clients with an Idempotency-Key do. */
async function client() {
  while (isOn()) {
    const id = `k${nth++}`;
    const emails = Array.from({ length: 100 }, (_, i) => `${id}-${i}@larch-and-oak.com`);
    const body = JSON.stringify({ emails });
    for (;;) {
      const status = await fetch(`${url}/emails/validate`, {
        method: "POST",
        headers: { ...headers, "idempotency-key": id },
        body,
        signal: AbortSignal.timeout(20_000),
      }).then(
        async (response) => {
          await response.arrayBuffer();
          return response.status;
        },
        () => 0,
      );
      count(`answers ${status}`);
      if (status === 200) break;
      await sleep(100);
    }
    told += emails.length;
  }
}

/** Opens connections that say nothing, and keeps as many as it gets. */
async function idle(most) {
  const open = new Set();
  while (isOn()) {
    for (let i = 0; i < 200 && open.size < most; i++) {
      const socket = connect(port, "127.0.0.1");
      open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => open.delete(socket));
    }
    counts["idle connections at most"] = Math.max(counts["idle connections at most"] ?? 0, open.size);
    await sleep(200);
  }
  for (const socket of open) socket.destroy();
}

/** Asks for large answers and does not read them. */
async function slowReader() {
  while (isOn()) {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    const domains = Array.from({ length: 1000 }, (_, i) => `${"d".repeat(50)}${i}.example-co.com`);
    const body = JSON.stringify({ domains, explain: true });
    socket.pause();
    const request = `POST /domains/validate HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${badKey}\r\n`;
    for (let i = 0; i < 20; i++)
      socket.write(`${request}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    count("slow readers");
    await sleep(3000);
    socket.destroy();
  }
}

/** The worst bodies: deep, long, of many values, and packed lists that grow a thousandfold. */
async function attacker() {
  const bodies = [
    `{"emails":${"[".repeat(60_000)}`,
    JSON.stringify({ emails: Array(100_000).fill("") }),
    JSON.stringify({ emails: [`${"a".repeat(5_000_000)}@b.net`] }),
    JSON.stringify({ emails: Array.from({ length: 1000 }, (_, i) => `${i}${"<".repeat(900)}@${".".repeat(90)}`) }),
  ];
  const bomb = gzipSync(`email,note\n${`a@larch-and-oak.com,${"x".repeat(900)}\n`.repeat(200_000)}`);
  for (let i = 0; isOn(); i++) {
    const isList = i % 10 === 9;
    const path = isList ? "/lists?name=bomb.csv.gz" : "/emails/validate";
    const type = isList ? "application/octet-stream" : "application/json";
    await fetch(url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${badKey}`, "content-type": type },
      body: isList ? bomb : bodies[i % bodies.length],
      signal: AbortSignal.timeout(20_000),
    }).then(
      async (response) => {
        await response.arrayBuffer();
        count(`attacks ${response.status}`);
      },
      () => count("attacks cut off"),
    );
    await sleep(200);
  }
}

const waits = [];
async function probe() {
  while (isOn()) {
    const begun = performance.now();
    const pid = server.pid;
    const isWell = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(10_000) }).then(
      async (response) => {
        await response.text();
        return response.ok;
      },
      () => false,
    );
    // While it is killed and started again nobody answers.
    if (isWell && pid === server.pid) {
      waits.push(performance.now() - begun);
      if (performance.now() - begun > 1000) {
        const wait = Math.round(performance.now() - begun);
        say(`healthz: ${wait} ms, asked ${Math.round(begun - startedAt)} ms after the start of the server`);
      }
    }
    await sleep(100);
  }
}

/** Leaves no byte on the disk for some seconds, four times. */
async function fillDisk() {
  const filler = join(disk, "filler");
  for (let i = 0; i < 4 && isSmall; i++) {
    await sleep((60_000 * Number(values.minutes)) / 5);
    const { bavail, bsize } = statfsSync(disk);
    try {
      execFileSync("fallocate", ["-l", String(Math.max(1, bavail - 1000) * bsize), filler], { stdio: "ignore" });
      for (;;) appendFileSync(filler, Buffer.alloc(65_536));
    } catch {
      count("times without space on the disk");
    }
    await sleep(5000);
    rmSync(filler);
  }
}

const memory = [];
async function watchMemory() {
  while (isOn()) {
    const status = `/proc/${server.pid}/status`;
    const found = existsSync(status) && /^VmRSS:\s+(\d+)/m.exec(readFileSync(status, "utf8"));
    if (found) memory.push(Math.round(Number(found[1]) / 1024));
    await sleep(2000);
  }
}

async function kill() {
  const kills = Number(values.kills);
  for (let i = 0; i < kills && isOn(); i++) {
    await sleep((60_000 * Number(values.minutes)) / (kills + 1));
    if (!isOn()) return;
    server.kill("SIGKILL");
    await once(server, "exit");
    count("kills");
    await startServer();
  }
}

await Promise.all([
  ...Array.from({ length: 4 }, client),
  idle(10_000),
  ...Array.from({ length: 5 }, slowReader),
  attacker(),
  probe(),
  watchMemory(),
  fillDisk(),
  kill(),
]);
const begun = performance.now();
server.kill("SIGTERM");
const [code] = await once(server, "exit");
say(`ended with ${code} in ${Math.round(performance.now() - begun)} ms`);
const keys = (await idv("keys", "list", "--json", "--state", state)).split("\n").map((line) => JSON.parse(line));
const { used } = keys.find(({ name }) => name === "soak");
waits.sort((a, b) => a - b);
const at = (share) => waits[Math.min(waits.length - 1, Math.floor(share * waits.length))]?.toFixed(0);
const third = Math.ceil(memory.length / 3);
const most = [0, 1, 2].map((part) => Math.max(0, ...memory.slice(part * third, (part + 1) * third)));
for (const [what, number] of Object.entries(counts).sort()) say(`${what}: ${number}`);
say(`units: ${told} told, ${used} used`);
say(`healthz: ${waits.length} answers, median ${at(0.5)} ms, 99th percentile ${at(0.99)} ms, most ${at(1)} ms`);
say(`memory: at most ${most.join(", ")} MB in each third of the time`);
if (used !== told || code !== 0) {
  say("FAILED");
  process.exitCode = 1;
}
