/** Covers the function of `idv help machines` for data frames, in Dask: with a worker that is killed, each row has its status and is paid once. */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { finished } from "../support/run-idv.js";
import { areInstalled, homeWithQuota } from "./tools.js";

const topic = readFileSync(new URL("../../src/cli/help/topics/machines.md", import.meta.url), "utf8");
/** The function as it is printed. */
const [, recipe = ""] = /```\n(import io[\s\S]*?)```/.exec(topic) ?? [];

const count = 400_000;
/** Kills a worker when the first partition is paid, and prints how the frame came back. */
const script = `${recipe}
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
    parts = dd.from_pandas(frame, npartitions=8)
    checked = parts.map_partitions(idv, run="tonight", meta=parts._meta.assign(status="")).compute()
    statuses = checked.pop("status")
    pd.testing.assert_frame_equal(checked, frame)
    empty = idv(frame[:0])
    print(statuses.value_counts().to_dict(), statuses[5], statuses[6], list(empty.columns), flush=True)
    os._exit(0)
`;

test.skipIf(
  !areInstalled({
    '/usr/bin/python3 -c "import distributed"': "python3-distributed",
    '/usr/bin/python3 -c "import pandas"': "python3-pandas",
  }),
)("partitions of a data frame are paid once, though a worker of Dask is killed", async () => {
  const { home, env, used } = await homeWithQuota(count - 1);
  writeFileSync(join(home, "frames.py"), script);
  const { stdout, stderr } = await finished(
    spawn("/usr/bin/python3", ["frames.py"], { cwd: home, env: { ...env, IDV_ENGINE: "offline" } }),
  );
  expect(stdout, stderr).toBe(
    `{'ok': ${count - 2}, '': 1, 'fake': 1}  fake ['id', 'email', 'note', 'share', 'status']\n`,
  );
  expect(await used()).toBe(count - 1);
});
