/** Covers what kill -9 may do, in random order, for half a minute; `npm run chaos -- --minutes 30` does it for longer. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { hasPostgres, startPostgres } from "../support/postgres.js";
import { finished } from "../support/run-idv.js";

const postgres = hasPostgres ? await startPostgres() : undefined;
const script = fileURLToPath(new URL("../chaos/chaos.mjs", import.meta.url));

test("no row is lost and no unit is charged twice, whatever is killed", async () => {
  const url = postgres ? ["--postgres", await postgres.create()] : [];
  const child = spawn(process.execPath, [script, "--minutes", "0.5", ...url], { stdio: "pipe" });
  const { code, stdout, stderr } = await finished(child);
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("the books agree");
  // Something was killed.
  expect(stdout).toMatch(/servers killed: [1-9]/);
}, 180_000);
