/** Covers the lines of `idv help machines` that join the statuses of distinct addresses: as printed, with DuckDB and with pandas. */
import { spawn } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { finished } from "../support/run-idv.js";
import { areInstalled, homeWithQuota, leaveOut } from "./tools.js";

const help = readFileSync(new URL("../../src/cli/help/topics/machines.md", import.meta.url), "utf8");

/** Returns the block of the help that starts with a text. */
const linesOf = (start: string): string =>
  Array.from(help.matchAll(/```\n([\s\S]*?)```/g), ([, lines]) => lines!).find((lines) => lines.startsWith(start))!;

const checked = [
  "id,email,share,status",
  "1,ann@larch-and-oak.com,,ok",
  "2,x@mailinator.com,0.5,disposable",
  "3,ann@larch-and-oak.com,1.5,ok",
  "4,,2.5,",
  "",
].join("\n");

/** Path of DuckDB's package, which bench:table uses, too; undefined if it is not installed. */
function duckdb(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve("@duckdb/node-api");
  } catch {
    leaveOut("a test", "npm install --no-save @duckdb/node-api");
    return undefined;
  }
}
const api = duckdb();

test.skipIf(api === undefined)("DuckDB joins statuses to a Parquet file", async () => {
  const { home, env, used } = await homeWithQuota(3);
  // What the command does with -c.
  const command = `#!${process.execPath}
    const { DuckDBInstance } = require(${JSON.stringify(api)});
    (async () => (await (await DuckDBInstance.create()).connect()).run(process.argv.at(-1)))();`;
  writeFileSync(join(home, "duckdb"), command);
  chmodSync(join(home, "duckdb"), 0o755);
  const run = (script: string) =>
    finished(spawn("sh", ["-ec", script], { cwd: home, env: { ...env, PATH: `${home}:${env.PATH}` } }));
  const rows =
    "(1, 'ann@larch-and-oak.com', NULL), (2, 'x@mailinator.com', 0.5), (3, 'ann@larch-and-oak.com', 1.5), (4, NULL, 2.5)";
  const make = `duckdb -c "COPY (FROM (VALUES ${rows}) AS list(id, email, share)) TO 'list.parquet'"`;
  const read = `duckdb -c "COPY (FROM 'checked.parquet' ORDER BY id) TO 'checked.csv' (HEADER)"`;
  expect(await run([make, linesOf('duckdb -c "COPY (SELECT DISTINCT'), read].join("\n"))).toMatchObject({
    code: 0,
    stderr: "",
  });
  expect(readFileSync(join(home, "checked.csv"), "utf8")).toBe(checked);
  expect(await used()).toBe(2);
});

test.skipIf(!areInstalled({ '/usr/bin/python3 -c "import pandas"': "python3-pandas" }))(
  "pandas joins statuses to a frame",
  async () => {
    const { home, env, used } = await homeWithQuota(3);
    const script = `import pandas as pd, subprocess
frame = pd.DataFrame({"id": [1, 2, 3, 4], "email": ["ann@larch-and-oak.com", "x@mailinator.com", "ann@larch-and-oak.com", None], "share": [None, 0.5, 1.5, 2.5]})
${linesOf('frame[["email"]]')}
checked.to_csv("checked.csv", index=False)
`;
    writeFileSync(join(home, "script.py"), script);
    const { code, stderr } = await finished(spawn("/usr/bin/python3", ["script.py"], { cwd: home, env }));
    expect([code, stderr]).toEqual([0, ""]);
    expect(readFileSync(join(home, "checked.csv"), "utf8")).toBe(checked);
    expect(await used()).toBe(2);
  },
);
