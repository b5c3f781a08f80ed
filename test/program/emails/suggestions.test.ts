/** Covers the commands that a run suggests: each is run as it is printed, and loses and charges nothing. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { pathWithIdv } from "../../support/processes.js";
import { readQuota, setQuota } from "../../support/quota.js";
import { idv as idvHere } from "../../support/run-here.js";
import { idv } from "../../support/run-idv.js";
import { folderOf } from "../../support/temporary-folder.js";
import { isFull, some } from "../../support/tier.js";

const execute = promisify(execFile);

/** Returns a folder with files, and `idv` on its path. */
function homeOf(files: Readonly<Record<string, string | Uint8Array>>): string {
  const home = folderOf(files);
  pathWithIdv(home);
  return home;
}

/**
 * Runs a command line without quotes as on a terminal. Returns what it prints, and the commands that it suggests. In the quick
 * tier, the first of the file has a terminal, and those after it run in this process.
 */
async function run(home: string, command: string): Promise<{ output: string; suggested: string[] }> {
  const output = await (isFull || !hadTerminal ? runOnTerminal(home, command) : runHere(home, command));
  hadTerminal = true;
  const suggested = Array.from(output.matchAll(/^.*Next: (idv .*?)(?:\u001b.*)?$/gm), ([, words]) => words!);
  return { output, suggested };
}

let hadTerminal = false;

async function runHere(home: string, command: string): Promise<string> {
  const words = command.replace(" > /dev/null", "").split(" ").slice(1);
  // Without a progress line, which needs more of a terminal.
  const env = { TERM: "xterm", CI: "true" };
  return (await idvHere(words, { home, env, columns: 80 })).stderr;
}

async function runOnTerminal(home: string, command: string): Promise<string> {
  const path = `${join(home, "bin")}:${process.env["PATH"]}`;
  const env = { PATH: path, HOME: home, TERM: "xterm", XDG_STATE_HOME: join(home, "state") };
  const args = ["-qec", `${command} || true`, "/dev/null"];
  const { stdout } = await execute("script", args, { cwd: home, env, encoding: "utf8" });
  return stdout.replaceAll("\r", "");
}

/** Validates as much as a quota has, then the rest with the suggested command. Returns that command, and the file then. */
async function resumed(home: string, command: string, output: string, limit = 2) {
  await setQuota(home, { limit, period: "day" });
  const { suggested, output: first } = await run(home, command);
  await setQuota(home, { limit: 100 });
  for (const each of suggested) await run(home, each);
  const { used } = await readQuota(home);
  return { suggested, first, used, output: readFileSync(join(home, output), "latin1") };
}

const good = (name: string) => `${name}@larch-and-oak.com`;
const list = `id,email\n${["a", "b", "c", "d"].map((name, i) => `${i},${good(name)}\n`).join("")}`;

describe("the command that goes on where the quota has ended", () => {
  const commands = [
    ["emails list.csv -o o.csv", "o.csv", "idv emails -I --update o.csv"],
    ["emails -I list.csv", "list.csv", "idv emails -I --update list.csv"],
    ["emails -I.bak list.csv", "list.csv", "idv emails -I --update list.csv"],
    ["emails -o -o.csv -- list.csv", "-o.csv", "idv emails -I --update ./-o.csv"],
    ["emails -d , -I list.csv", "list.csv", "idv emails -d , -I --update list.csv"],
    ["emails --drop fake -I list.csv", "list.csv", "idv emails --drop fake -I --update list.csv"],
    ["emails --bad-rows keep:b.csv -I list.csv", "list.csv", "idv emails --bad-rows keep -I --update list.csv"],
  ] as const;
  test.each(some(commands, 3))("completes the output of `idv %s`", async (command, output, expected) => {
    const home = homeOf({ "list.csv": list });
    const { suggested, used, output: text } = await resumed(home, `idv ${command}`, output);
    expect(suggested).toEqual([expected]);
    expect(text).toBe(list.replaceAll("\n", ",ok\n").replace("email,ok", "email,status"));
    expect(used).toBe(2);
  });

  test("keeps the file with the rows that were skipped", async () => {
    const home = homeOf({ "list.csv": `${list}9,${good("x")},y,z\n` });
    const { suggested } = await resumed(home, "idv emails --bad-rows skip:bad.csv -I list.csv", "list.csv");
    expect(suggested).toEqual(["idv emails -I --update list.csv"]);
    expect(readFileSync(join(home, "bad.csv"), "utf8")).toContain(good("x"));
  });

  test("escapes formulas again", async () => {
    const home = homeOf({ "list.csv": `email\n${good("a")}\n=a.b@gmail.com\n` });
    const command = "idv emails --add canonical --set escapeFormulas=true list.csv -o o.csv";
    const { suggested, output } = await resumed(home, command, "o.csv", 1);
    expect(suggested).toHaveLength(1);
    expect(output).toContain(",'=ab@gmail.com");
  });

  test("keeps a backup where addresses are repaired, unless there is one", async () => {
    const home = homeOf({
      "list.csv": `email\n${["a", "b", "c"].map((name) => `${name}.leemann@gmial.com\n`).join("")}`,
    });
    const command = "idv emails --fix list.csv -o o.csv";
    const { suggested, output } = await resumed(home, command, "o.csv");
    expect(suggested).toEqual(["idv emails --fix=typos -I.bak --update o.csv"]);
    expect(output.match(/@gmail\.com,ok,/g)).toHaveLength(3);
    await setQuota(home, { limit: 2, period: "day" });
    const { output: again, suggested: others } = await run(home, command);
    expect([again.includes("quota exhausted"), others]).toEqual([true, []]);
  });

  test.each([
    ["an encoding: the file is UTF-8 now", "emails --encoding latin1 -I list.csv"],
    ["another format", "emails -d , --format tsv -I list.txt"],
    ["no header", "emails -n -I list.csv"],
    ["members of objects that CSV has no columns for", "emails -c user.email list.jsonl -o o.csv"],
  ])("does not appear with %s", async (_, command) => {
    const members = ["a", "b", "c"].map((name) => `{"user":{"email":"${good(name)}"}}\n`).join("");
    const home = homeOf({ "list.csv": list, "list.txt": list, "list.jsonl": members });
    await setQuota(home, { limit: 2, period: "day" });
    const { output, suggested } = await run(home, `idv ${command}`);
    expect(output).toContain("quota exhausted");
    expect([suggested, output.includes("then run")]).toEqual([[], false]);
  });

  test("does not appear for a workbook, whose backup it would replace", async () => {
    const home = homeOf({ "list.csv": list });
    await run(home, "idv emails -q list.csv -o list.xlsx");
    await setQuota(home, { limit: 2, period: "day" });
    const { output, suggested } = await run(home, "idv emails -I.bak --set statusColumn=again list.xlsx");
    expect(output).toContain("quota exhausted");
    expect([suggested, output.includes("then run")]).toEqual([[], false]);
  });
});

test("a list that is longer than the quota is worked off with the command that the run says", async () => {
  const home = folderOf({ "l.csv": "email\na@mailinator.com\nb@mailinator.com\nc@mailinator.com\n" });
  await setQuota(home, { limit: 2, period: "day" });
  const first = await idv(["emails", "-I", "l.csv"], { home, env: { TZ: "Asia/Kolkata" } });
  const renewal = /renews in \d+ (min|h) \((tomorrow )?\d\d:\d\d\), at .*; then run: idv emails -I --update l\.csv\n$/;
  expect(first).toMatchObject({ code: 4, stderr: expect.stringMatching(renewal) });
  const elsewhere = await idv(["emails", "-I", "--update", "l.csv"], { home, env: { TZ: "UTC" } });
  expect(elsewhere.stderr).toMatch(/ \((tomorrow )?\d\d:\d\d UTC\); then run: /);
  await setQuota(home, {});
  expect((await idv(["emails", "-I", "--update", "l.csv"], { home })).code).toBe(0);
  const rows = ["a", "b", "c"].map((name) => `${name}@mailinator.com,disposable\n`);
  expect(readFileSync(join(home, "l.csv"), "utf8")).toBe(`email,status\n${rows.join("")}`);
});

test("an update of a table without a header is refused, since it would be charged again", async () => {
  const home = homeOf({ "plain.txt": `${good("a")}\n${good("b")}\n` });
  const advice = "add a header, or leave --update out";
  const stderr = `idv: plain.txt: has no header, so --update cannot tell the column of an earlier run; ${advice}\n`;
  expect(await idv(["emails", "-I", "--update", "plain.txt"], { home })).toMatchObject({ code: 2, stderr });
});

test("an update with the columns in another order is refused, since the statuses are about other columns", async () => {
  const home = homeOf({ "l.csv": `a;b\n${good("a")};x@mailinator.com\n` });
  expect((await idv(["emails", "l.csv", "-c", "a", "-c", "b", "-I.bak", "-q"], { home })).code).toBe(0);
  const advice = "name the columns with -c in the order of that run";
  const stderr = `idv: l.csv: "status_b" is from a run in which "b" was not the first column; ${advice}\n`;
  for (const columns of [
    ["-c", "b", "-c", "a"],
    ["-c", "b"],
  ]) {
    expect(await idv(["emails", "l.csv", ...columns, "--update", "-q"], { home })).toMatchObject({ code: 2, stderr });
  }
  const { stdout } = await idv(["emails", "l.csv", "-c", "a", "-c", "b", "--update", "-q"], { home });
  expect(stdout).toBe(readFileSync(join(home, "l.csv"), "utf8"));
});

describe("the command that drops useless rows", () => {
  const mixed = `email\n${good("a")}\nx@mailinator.com\n`;

  test("drops rows without an item too, and gives way to the command that does what the quota has left", async () => {
    const files = { "l.csv": `email,n\n${good("a")},1\nx@mailinator.com,2\n,3\n` };
    const all = await run(homeOf(files), "idv emails l.csv -o o.csv");
    expect(all.suggested).toEqual(["idv emails --update o.csv --drop disposable,empty -o o-clean.csv"]);
    const home = homeOf(files);
    await setQuota(home, { limit: 1 });
    const part = await run(home, "idv emails l.csv -o o.csv");
    expect(part.suggested).toEqual(["idv emails -I --update o.csv"]);
    expect(part.output).not.toContain("--drop");
  });

  test("reads the outputs, each into a file of its own, and charges nothing", async () => {
    const home = homeOf({ "a.csv": mixed, "b.csv": mixed.replace("x@", "y@") });
    await setQuota(home, { limit: 10, period: "day" });
    const { suggested } = await run(home, "idv emails a.csv b.csv -o out/");
    expect(suggested).toEqual([
      "idv emails --update out/a.csv --drop disposable -o out/a-clean.csv",
      "idv emails --update out/b.csv --drop disposable -o out/b-clean.csv",
    ]);
    const { used } = await readQuota(home);
    for (const command of suggested) await run(home, command);
    expect(readFileSync(join(home, "out/b-clean.csv"), "utf8")).toBe(`email,status\n${good("a")},ok\n`);
    expect((await readQuota(home)).used).toBe(used);
  });

  test("reads the input if there is no output and no limit", async () => {
    const home = homeOf({ "list.csv": mixed });
    const { suggested } = await run(home, "idv emails list.csv > /dev/null");
    expect(suggested).toEqual(["idv emails list.csv --drop disposable -o list-clean.csv"]);
    await run(home, suggested[0]!);
    expect(readFileSync(join(home, "list-clean.csv"), "utf8")).toContain("ok");
    // It would replace that file.
    expect((await run(home, "idv emails list.csv > /dev/null")).suggested).toEqual([]);
    await setQuota(home, { limit: 10 });
    writeFileSync(join(home, "other.csv"), mixed);
    expect((await run(home, "idv emails other.csv > /dev/null")).suggested).toEqual([]);
  });
});
