/**
 * Covers the functions of `idv help machines` for data frames: in Dask with a worker that is killed, in Ray, and called as Spark does, each
 * row has its status and is paid once.
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { finished } from "../support/run-idv.js";
import { areInstalled, homeWithQuota, recipe } from "./tools.js";

/** Runs a script beside the functions. */
async function run(home: string, env: NodeJS.ProcessEnv, script: string, python = "/usr/bin/python3") {
  writeFileSync(join(home, "idv_pandas.py"), recipe("idv_pandas.py"));
  writeFileSync(join(home, "script.py"), script);
  return finished(spawn(python, ["script.py"], { cwd: home, env }));
}

const count = 400_000;
/** Kills a worker when the first partition is paid, and prints how the frame came back. */
const dask = `from idv_pandas import idv, idv_dask
import os, pandas as pd
import dask.dataframe as dd, signal, sqlite3, threading, time
from dask.distributed import Client, LocalCluster

def used(path):
    try:
        return sqlite3.connect(path, timeout=10).execute("SELECT used FROM quota").fetchone()[0]
    except sqlite3.Error:
        return 0

def kill(cluster):
    while used(os.environ["XDG_STATE_HOME"] + "/idv/quota.db") == 0:
        time.sleep(0.02)
    os.kill(cluster.workers[0].pid, signal.SIGKILL)

if __name__ == "__main__":
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    client = Client(cluster)
    frame = pd.DataFrame({"id": range(${count}), "email": [f"user{i}@larch-and-oak.com" for i in range(${count})]})
    frame.loc[5, "email"] = None
    frame.loc[6, "email"] = "a,b\\n\\"c\\"@larch-and-oak.com"
    frame["note"] = None
    frame["share"] = 0.5
    threading.Thread(target=kill, args=(cluster,)).start()
    checked = idv_dask(dd.from_pandas(frame, npartitions=8), "tonight").compute()
    statuses = checked.pop("status")
    pd.testing.assert_frame_equal(checked, frame)
    empty = idv(frame[:0], "tonight")
    print(statuses.value_counts().to_dict(), statuses[5], statuses[6], list(empty.columns), flush=True)
    os._exit(0)
`;

const hasPandas = { '/usr/bin/python3 -c "import pandas"': "python3-pandas" };
const hasDask = { '/usr/bin/python3 -c "import distributed"': "python3-distributed" };

test.skipIf(!areInstalled({ ...hasDask, ...hasPandas }))(
  "partitions of a data frame are paid once, though a worker of Dask is killed",
  async () => {
    const { home, env, used } = await homeWithQuota(count - 1);
    const { stdout, stderr } = await run(home, env, dask);
    expect(stdout, stderr).toBe(
      `{'ok': ${count - 2}, '': 1, 'fake': 1}  fake ['id', 'email', 'note', 'share', 'status']\n`,
    );
    expect(await used()).toBe(count - 1);
  },
);

/** mapInPandas() gives the function an iterator of batches for each partition, and takes its batches. */
const spark = `from idv_pandas import idv_batches
import pandas as pd, sys
partitions, size, broken = map(int, sys.argv[1:])
rows = 24000 // partitions
for partition in range(partitions):
    emails = [f"user{partition * rows + i}@larch-and-oak.com" for i in range(rows)]
    batches = (pd.DataFrame({"email": emails[i:i + size]}) for i in range(0, rows, size))
    done = idv_batches(batches, "tonight")
    if partition == broken:
        next(done)
        continue
    statuses = pd.concat(done)["status"]
    assert list(statuses) == ["ok"] * rows
`;

test.skipIf(!areInstalled(hasPandas))(
  "batches are paid once, called as Spark does, and again where a partition has other items",
  async () => {
    const { home, env, used } = await homeWithQuota(100_000);
    await run(home, env, spark);
    const call = (...args: number[]) =>
      finished(spawn("/usr/bin/python3", ["script.py", ...args.map(String)], { cwd: home, env }));
    // A task fails after its first batch; it, and all of them, are tried again.
    for (const [broken, units] of [
      [2, 21_000],
      [-1, 24_000],
      [-1, 24_000],
    ] as const) {
      expect((await call(4, 3000, broken)).stderr).toBe("");
      expect(await used()).toBe(units);
    }
    // Half as many partitions of the same batches, and batches of another size.
    await call(2, 3000, -1);
    expect(await used()).toBe(24_000);
    await call(2, 2000, -1);
    expect(await used()).toBe(48_000);
  },
);

const ray = `from idv_pandas import idv_ray
import ray
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
rows = ray.data.from_items([{"email": f"user{i}@larch-and-oak.com"} for i in range(10000)]).repartition(4).materialize()
for _ in range(2):
    print(sum(row["status"] == "ok" for row in idv_ray(rows, "tonight").iter_rows()))
`;

test.skipIf(!areInstalled({ 'python3 -c "import ray.data"': "(with pip) 'ray[data]' pandas" }))(
  "blocks of Ray are paid once",
  async () => {
    const { home, env, used } = await homeWithQuota(10_000);
    const { stdout, stderr } = await run(home, env, ray, "python3");
    expect(stdout, stderr).toBe("10000\n10000\n");
    expect(await used()).toBe(10_000);
  },
);
