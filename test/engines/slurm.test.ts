/** Covers the array job of `idv help machines` in Slurm: tasks that are requeued, and one whose run is killed, give every row once and are paid once. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { addresses, areInstalled, homeWithQuota, killed, recipe, rowsOf, runsWith, writeList } from "./tools.js";

const isInstalled = areInstalled({
  "command -v slurmctld": "slurm-wlm",
  "command -v slurmd": "slurm-wlm",
  "command -v munged": "munge",
  "pgrep -V": "procps",
  '[ "$(id -u)" = 0 ]': "sudo",
});

/** Starts a cluster of this machine alone. Returns how to run one of its commands. */
async function startSlurm(home: string, env: NodeJS.ProcessEnv) {
  const at = (name: string) => join(home, "slurm", name);
  for (const name of ["state", "spool", "run"]) mkdirSync(at(name), { recursive: true });
  writeFileSync(at("munge.key"), randomBytes(128), { mode: 0o400 });
  const node = hostname().split(".")[0];
  const configuration = {
    ClusterName: "idv",
    SlurmctldHost: `${node}(127.0.0.1)`,
    SlurmctldPort: 26_817,
    SlurmdPort: 26_818,
    AuthType: "auth/munge",
    AuthInfo: `socket=${at("run/munge.socket")}`,
    CredType: "cred/munge",
    SlurmUser: "root",
    SlurmdUser: "root",
    ProctrackType: "proctrack/pgid",
    TaskPlugin: "task/none",
    SelectType: "select/cons_tres",
    SelectTypeParameters: "CR_CPU",
    ReturnToService: 2,
    StateSaveLocation: at("state"),
    SlurmdSpoolDir: at("spool"),
    MpiDefault: "none",
    SlurmctldPidFile: at("run/slurmctld.pid"),
    SlurmdPidFile: at("run/slurmd.pid"),
    SlurmctldLogFile: at("run/slurmctld.log"),
    SlurmdLogFile: at("run/slurmd.log"),
    // A requeued task waits twice this time, in seconds. Tasks end with 137 if their run is killed.
    ...{ KillWait: 1, RequeueExit: 137, SchedulerParameters: "batch_sched_delay=0,sched_interval=1" },
  };
  writeFileSync(
    at("slurm.conf"),
    `${Object.entries(configuration)
      .map(([name, value]) => `${name}=${value}\n`)
      .join("")}NodeName=${node} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:2\n`,
  );
  const settings = { env: { ...env, SLURM_CONF: at("slurm.conf") }, cwd: home };
  const daemons: ChildProcess[] = [];
  onTestFinished(async () => {
    for (const daemon of daemons.reverse()) daemon.kill("SIGKILL");
  });
  const start = (command: string, ...args: string[]) =>
    daemons.push(spawn(command, args, { ...settings, stdio: "ignore" }));
  const munge = { socket: "run/munge.socket", "key-file": "munge.key", "pid-file": "run/munged.pid" };
  const places = { ...munge, "log-file": "run/munged.log", "seed-file": "run/munged.seed" };
  start(
    "munged",
    ...["--force", "--foreground"],
    ...Object.entries(places).map(([name, path]) => `--${name}=${at(path)}`),
  );
  await sleep(500);
  start("slurmctld", "-D");
  start("slurmd", "-D", "-N", node!);
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { ...settings, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const isIdle = () => {
    try {
      return run("sinfo", "-h", "-o", "%t").trim() === "idle";
    } catch {
      return false;
    }
  };
  await expect.poll(isIdle).toBe(true);
  return run;
}

test.skipIf(!isInstalled)("an array job of Slurm is paid once, though its tasks are requeued", async () => {
  const count = 3_000_000;
  const { home, env, used } = await homeWithQuota(count);
  writeList(join(home, "list.csv"), addresses("user", count));
  writeFileSync(join(home, "job.sh"), recipe("slurm.sh"));
  const run = await startSlurm(home, env);
  const [job] = /\d+/.exec(run("sbatch", "job.sh"))!;
  const isRunning = () => run("squeue", "-h").trim() !== "";
  let [kills, requeues] = [0, 0];
  while (isRunning()) {
    await sleep(20);
    if ((await used()) === 0) continue;
    // Each once, as soon as it has begun: the second task is requeued, the third one is killed.
    if (kills === 0 && killed(runsWith("shard 3/8")[0])) kills++;
    if (requeues === 0 && runsWith("shard 2/8").length > 0) {
      run("scontrol", "requeue", `${job}_2`);
      requeues++;
    }
  }
  expect(kills + requeues).toBeGreaterThan(0);
  const parts = [1, 2, 3, 4, 5, 6, 7, 8].map((part) => rowsOf(join(home, `part-${part}.csv`)));
  // Only the first part has a header.
  const rows = [...parts[0]!, ...parts.slice(1).flatMap((part, i) => [firstRow(home, i + 2), ...part])];
  expect(rows.sort()).toEqual(
    addresses("user", count)
      .map((address) => `${address},ok`)
      .sort(),
  );
  expect(await used()).toBe(count);
});

const firstRow = (home: string, part: number): string =>
  execFileSync("head", ["-n", "1", join(home, `part-${part}.csv`)], { encoding: "utf8" }).trim();
