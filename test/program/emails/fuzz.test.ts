/** Covers hostile tables of fixed seeds, offline and with the same rules as a service; `node test/fuzz/fuzz.mjs` goes on with others. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { finished } from "../../support/run-idv.js";
import { isFull } from "../../support/tier.js";

const script = fileURLToPath(new URL("../../fuzz/fuzz.mjs", import.meta.url));

test("hostile tables give the same output, counts and charges with the kernel and in batches", async () => {
  const { code, stdout, stderr } = await finished(
    spawn(process.execPath, [script, "--seeds", isFull ? "31-60" : "33-34"]),
  );
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^\d+ tables, \d+ rows\n$/);
});
