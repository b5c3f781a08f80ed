/** Covers what may go wrong, in random order, for 20 seconds; `node test/chaos/chaos.mjs --minutes 30` does it for longer. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { hasPostgres, startPostgres } from "../../support/postgres.js";
import { finished } from "../../support/run-idv.js";
import { testFull } from "../../support/tier.js";

const script = fileURLToPath(new URL("../../chaos/chaos.mjs", import.meta.url));

testFull("no row is lost and no unit is charged twice, whatever happens", async () => {
  // Without a URL, it has a server of its own, which it kills.
  const isGiven = hasPostgres && process.env["IDV_TEST_POSTGRES"] !== undefined;
  const url = isGiven ? ["--postgres", await (await startPostgres()).create()] : [];
  const child = spawn(process.execPath, [script, "--minutes", "0.33", ...url], { stdio: "pipe" });
  const { code, stdout, stderr } = await finished(child);
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("the books agree");
  // Something has gone wrong.
  expect(stdout).toMatch(/servers killed: [1-9]/);
  expect(stdout).toMatch(/proxy: answer lost: [1-9]/);
  if (hasPostgres) expect(stdout).toContain("PostgreSQL:");
  if (hasPostgres && !isGiven) expect(stdout).toMatch(/database killed: [1-9]/);
});
