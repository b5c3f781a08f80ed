/** Covers the limit of the offline engine, which is exact within a run, between processes and across kill -9. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { readQuota, setQuota } from "../../support/quota.js";
import { finished, idv, startIdv } from "../../support/run-idv.js";
import { jsonLines } from "../../support/states.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { some, times } from "../../support/tier.js";

const reserver = fileURLToPath(new URL("../../support/reserve-until-killed.mjs", import.meta.url));
const addresses = (count: number, name = "user") =>
  Array.from({ length: count }, (_, i) => `${name}${i}@larch-and-oak.com`);
const statusOf = (line: string) => line.slice(line.lastIndexOf(",") + 1);
const statusesOf = (stdout: string) => stdout.trimEnd().split("\n").map(statusOf);

async function withLimit(limit: number): Promise<string> {
  const home = temporaryFolder();
  await setQuota(home, { limit });
  return home;
}

const used = async (home: string): Promise<number> => (await readQuota(home)).used;

describe("a limit", () => {
  test("that leaves rows in an output names the command that does them, which works", async () => {
    const home = await withLimit(2);
    const stdin = ["e-mail", ...addresses(4), ""].join("\n");
    const args = ["emails", "-c", "e-mail", "--explain", "--set", "statusColumn=v", "-o", "my out.csv", "-q"];
    const { code, stderr } = await idv(args, { home, stdin });
    expect(code).toBe(4);
    const command = "idv emails -c e-mail --explain --set statusColumn=v -I --update 'my out.csv'";
    // A limit without a period does not renew, so there is nothing to wait for.
    expect(stderr).not.toContain("then run");
    expect((await idv([...args, "--wait"], { home, stdin })).code).toBe(4);
    await setQuota(home, { limit: 2, period: "hour" });
    const again = await idv(args, { home, stdin, env: { TZ: "Asia/Kolkata" } });
    expect(again.stderr.trimEnd()).toMatch(/the quota renews in \d+ min \(.*\), at .*; then run: idv emails -c .*/);
    expect(again.stderr.trimEnd().split("then run: ")[1]).toBe(command);
    writeFileSync(join(home, "own.txt"), "larch-and-oak.com\n");
    const own = await idv([...args, "--allow", "own.txt"], { home, stdin });
    expect(own.stderr).toContain("--allow own.txt -I --update");
    // A command that would judge differently is not suggested.
    const first = await idv([...args, "--set", "cell=first"], { home, stdin });
    expect([first.code, first.stderr.includes("then run")]).toEqual([4, false]);
    await setQuota(home, { limit: 4 });
    const words = [...command.replace("'my out.csv'", "").trim().split(" ").slice(1), "my out.csv", "-q"];
    expect(await idv(words, { home })).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(readFileSync(join(home, "my out.csv"), "utf8")).not.toContain("quota_exceeded");
  });

  test("can run out in the middle of a file", async () => {
    const home = temporaryFolder();
    await idv(["quota", "set", "--limit", "3", "--period", "month"], { home });
    const [a, b, c, d] = addresses(4);
    const stdin = ["email", a, a?.toUpperCase(), "", b, c, d, a, d, "x@mailinator.com", ""].join("\n");
    const env = { TZ: "Asia/Kolkata" };
    const args = ["emails", "--explain", "--log", "json"];
    const { code, stdout, stderr } = await idv(args, { home, stdin, env });
    const gone = "quota_exceeded,,";
    expect(stdout).toBe(
      `email,status,reason,suggestion\n${a},ok,,\n${a?.toUpperCase()},ok,,\n\n${b},ok,,\n${c},ok,,\n` +
        `${d},${gone}\n${a},ok,,\n${d},${gone}\nx@mailinator.com,${gone}\n`,
    );
    expect(code).toBe(4);
    const [summary, note] = jsonLines(stderr);
    expect(summary).toMatchObject({
      ...{ rows: 9, distinct: 5, distinctStatuses: { ok: 3, quota_exceeded: 2 } },
      ...{ statuses: { ok: 5, quota_exceeded: 3 } },
      units: { used: 3, left: 0, renews: expect.stringMatching(/-01T00:00:00.000Z$/) },
    });
    const message =
      /^quota exhausted: 3 rows not checked \(quota_exceeded\); the quota renews in .+ \(.*\d\d:\d\d\), at \d{4}-\d\d-01T00:00Z$/;
    expect(note).toMatchObject({ type: "note", message: expect.stringMatching(message) });
    expect(await used(home)).toBe(3);
  });

  test("gives every row with an item quota_exceeded if it is 0, and says so with -q", async () => {
    const home = await withLimit(0);
    const stdin = "email\na@larch-and-oak.com\n\nbroken\n";
    const stdout = "email,status\na@larch-and-oak.com,quota_exceeded\n\nbroken,quota_exceeded\n";
    const advice = "the quota does not renew; raise its limit with idv quota set --limit N";
    const stderr = `idv: quota exhausted: 2 rows not checked (quota_exceeded); ${advice}\n`;
    expect(await idv(["emails", "-q", "--fail-on", "fake"], { home, stdin })).toEqual({ code: 4, stdout, stderr });
  });

  test("counts the statuses of all columns that wait", async () => {
    const home = await withLimit(1);
    const stdin = "a,b\na@larch-and-oak.com,x@mailinator.com\n,a@larch-and-oak.com\nbroken,\n";
    const { code, stderr } = await idv(["emails", "-q", "-c", "a", "-c", "b"], { home, stdin });
    expect(stderr).toContain("idv: quota exhausted: 2 items not checked (quota_exceeded); ");
    expect(code).toBe(4);
  });

  test("ends no run for which it is exactly enough", async () => {
    const home = await withLimit(2);
    const outcome = await idv(["emails"], { home, stdin: "a@larch-and-oak.com\nb@larch-and-oak.com\n" });
    expect(outcome).toMatchObject({ code: 0, stderr: expect.stringContaining("2 units used, 0 left") });
  });

  test("grants exactly its units over many batches, to the first items of the input", async () => {
    const home = await withLimit(34_567);
    const stdin = `${addresses(60_000).join("\n")}\n`;
    const { code, stdout } = await idv(["emails", "-q"], { home, stdin });
    const expected = [...Array(34_567).fill("ok"), ...Array(60_000 - 34_567).fill("quota_exceeded")];
    expect([code, statusesOf(stdout)]).toEqual([4, expected]);
    expect(await used(home)).toBe(34_567);
  });
});

describe("several processes", () => {
  test("share one limit to the unit", async () => {
    const [names, items] = [some(["a", "b", "c", "d"], 3), times(20_000, 10_000)];
    const units = 0.6 * names.length * items;
    const home = await withLimit(units);
    const outcomes = await Promise.all(
      names.map((name) => idv(["emails", "-q"], { home, stdin: `${addresses(items, name).join("\n")}\n` })),
    );
    const granted = outcomes.flatMap(({ stdout }) => statusesOf(stdout)).filter((status) => status === "ok");
    expect(granted).toHaveLength(units);
    expect(await used(home)).toBe(units);
  });

  test("create one quota file together and lose no unit", async () => {
    const path = join(temporaryFolder(), "quota.db");
    const count = times(4, 2);
    const children = Array.from({ length: count }, () =>
      spawn(process.execPath, ["--no-warnings", reserver, path, "1"]),
    );
    const outcomes = children.map(finished);
    await Promise.all(children.map((child) => linesOf(child, 30)));
    // Without a limit, they would never end.
    for (const child of children) child.kill("SIGKILL");
    const granted = await sumOfGrants(outcomes);
    const { used } = JSON.parse((await idv(["quota", "show", "--json", "--quota", path])).stdout);
    expect(granted).toBeGreaterThanOrEqual(30 * count);
    expect(used).toBeGreaterThanOrEqual(granted);
    // Each may have been killed after its commit and before its output.
    expect(used).toBeLessThanOrEqual(granted + count);
  });

  test("lose no committed unit to kill -9 at random moments", async () => {
    const path = join(temporaryFolder(), "quota.db");
    const units = 7;
    let granted = 0;
    for (let round = 0; round < times(20, 2); round++) {
      const children = [1, 2].map(() => spawn(process.execPath, ["--no-warnings", reserver, path, String(units)]));
      const outcomes = children.map(finished);
      // Every other round while they grant, however slow the machine is; the others while they start, of which they say nothing.
      if (round % 2 === 0) await linesOf(children[0]!, Math.ceil(20 * Math.random()));
      else await new Promise((resolve) => setTimeout(resolve, 20 + 120 * Math.random()));
      for (const child of children) child.kill("SIGKILL");
      granted += await sumOfGrants(outcomes);
    }
    const { used } = JSON.parse((await idv(["quota", "show", "--json", "--quota", path])).stdout);
    expect(granted).toBeGreaterThan(0);
    expect(used).toBeGreaterThanOrEqual(granted);
    expect(used).toBeLessThanOrEqual(granted + times(20, 2) * 2 * units);
  });
});

/** Resolves when a process has written `count` lines, however slow the machine is. */
async function linesOf(child: ChildProcess, count: number): Promise<void> {
  let lines = 0;
  while (lines < count) {
    const [written] = (await once(child.stdout!, "data")) as [Buffer];
    lines += written.toString().split("\n").length - 1;
  }
}

async function sumOfGrants(outcomes: readonly Promise<{ stdout: string; stderr: string }>[]): Promise<number> {
  const ended = await Promise.all(outcomes);
  expect(ended.map(({ stderr }) => stderr).join("")).toBe("");
  // A line that the kill cut off has no line end.
  const lines = ended.flatMap(({ stdout }) => stdout.split("\n").slice(0, -1));
  return lines.reduce((sum, line) => sum + Number(line), 0);
}

test("a quota file that is removed during a run ends it at the next charge", async () => {
  const home = temporaryFolder();
  await setQuota(home, { limit: 99_999 });
  const child = startIdv(["emails", "-q"], { home });
  const outcome = finished(child);
  child.stdin!.write(`email\n${addresses(5000).join("\n")}\n`);
  await once(child.stdout!, "data");
  for (const end of ["", "-wal", "-shm"]) rmSync(join(home, `state/idv/quota.db${end}`), { force: true });
  child.stdin!.end("bob@larch-and-oak.com\n");
  const fault =
    /quota\.db: the quota file was removed during the run; put it back, or run again(; [\d,]+ units used)?\n$/;
  expect(await outcome).toMatchObject({ code: 6, stderr: expect.stringMatching(fault) });
});
