/** Covers files that several programs use at once: no row is lost and no process hangs. */
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { lockStore } from "../../support/lock-store.js";
import { asSomebody, endedBy, killedWhen } from "../../support/processes.js";
import { idv, startIdv } from "../../support/run-idv.js";
import { createKey, post, request, serve } from "../../support/service.js";
import { folderOf, temporaryFolder } from "../../support/temporary-folder.js";
import { some } from "../../support/tier.js";

const rows = (count: number, name = "ann") =>
  Array.from({ length: count }, (_, i) => `${name}${i}@larch-and-oak.com\n`).join("");
const list = { "list.csv": "email\nann@larch-and-oak.com\n" };
const temporaryIn = (home: string) => readdirSync(home).filter((name) => name.endsWith(".tmp"));

/** Starts a run over an input that stays open. */
function startOpen(home: string, output: string) {
  const child = startIdv(["emails", "-o", output], { home });
  child.stdin?.on("error", () => {});
  child.stdin?.write(rows(20_000));
  return child;
}

test("--split keeps the rows of one of several runs at once, and refuses the others", async () => {
  const names = some(["a", "b", "c", "d", "e", "f"], 3);
  const files = names.map((name) => [name, `email\n${rows(2000, name)}${name}@mailinator.com\n`]);
  const home = folderOf(Object.fromEntries(files));
  const outcomes = await Promise.all(names.map((name) => idv(["emails", "-q", name, "--split", "out"], { home })));
  const winner = outcomes.findIndex(({ code }) => code === 0);
  expect(readFileSync(join(home, "out/ok.csv"), "utf8")).toContain(`\n${names[winner]}0@larch-and-oak.com,ok\n`);
  const disposable = readFileSync(join(home, "out/disposable.csv"), "utf8");
  expect(disposable).toBe(`email,status\n${names[winner]}@mailinator.com,disposable\n`);
  outcomes.splice(winner, 1);
  for (const { stderr } of outcomes) expect(stderr).toMatch(/^idv: out\/\w+.csv: .*another run.*folder.*\n$/);
  expect(readdirSync(join(home, "out")).sort()).toEqual(["disposable.csv", "ok.csv"]);
});

describe("a process that holds the state's write lock", () => {
  test("does not fail health checks, and requests soon get 503", async () => {
    const home = temporaryFolder();
    const service = await serve(home, "-q");
    const [key, sandboxKey] = [await createKey(home), await createKey(home, { isSandbox: true })];
    const release = await lockStore(join(home, "state/idv/service.db"));
    const domains = { domains: ["larch-and-oak.com"] };
    const refused = Array.from({ length: 20 }, () => post(`${service.url}/domains/validate`, key, domains));
    expect((await request(`${service.url}/healthz`)).status).toBe(200);
    expect((await post(`${service.url}/domains/validate`, sandboxKey, domains)).status).toBe(200);
    for (const { status, headers } of await Promise.all(refused)) {
      expect({ status, retryAfter: headers.get("retry-after") }).toEqual({ status: 503, retryAfter: "1" });
    }
    expect((await request(`${service.url}/readyz`)).status).toBe(503);
    await release();
    expect((await post(`${service.url}/domains/validate`, key, domains)).status).toBe(200);
    expect((await request(`${service.url}/readyz`)).status).toBe(200);
  });

  test("does not stop SIGTERM from ending the service", async () => {
    const home = temporaryFolder();
    const [service, key] = [await serve(home, "-q"), await createKey(home)];
    const release = await lockStore(join(home, "state/idv/service.db"));
    const answer = post(`${service.url}/domains/validate`, key, { domains: ["a.com"] });
    await request(`${service.url}/healthz`);
    const exited = endedBy(service.child, "SIGTERM");
    expect((await answer).status).toBe(503);
    expect(await exited).toEqual([0, null]);
    await release();
  });

  test("does not stop SIGINT from ending a run", async () => {
    const home = folderOf(list);
    expect((await idv(["quota", "set", "--limit", "9"], { home })).code).toBe(0);
    const release = await lockStore(join(home, "state/idv/quota.db"));
    const child = startIdv(["emails", "list.csv", "-o", "out.csv"], { home });
    const outcome = await killedWhen(child, () => temporaryIn(home).length > 0, "SIGINT");
    const advice = "no units are used; to start again, run: idv emails list.csv -o out.csv";
    const stderr = `idv: stopped by SIGINT; out.csv was not written; ${advice}\n`;
    expect(outcome).toMatchObject({ code: 130, stderr });
    await release();
  });
});

describe("a file that is replaced", () => {
  test.skipIf(process.getuid?.() !== 0)("keeps its owner, group and mode, and so does its backup", async () => {
    const home = folderOf(list);
    const path = join(home, "list.csv");
    chownSync(path, 1000, 2000);
    chmodSync(path, 0o660);
    expect((await idv(["emails", "-q", "-I.bak", "list.csv"], { home })).code).toBe(0);
    for (const name of ["list.csv", "list.csv.bak"]) {
      const { uid, gid, mode } = statSync(join(home, name));
      expect({ name, uid, gid, mode: mode & 0o7777 }).toEqual({ name, uid: 1000, gid: 2000, mode: 0o660 });
    }
  });

  test.skipIf(process.getuid?.() !== 0)(
    "ends the run if it would get another owner, before any unit is charged",
    async () => {
      const home = folderOf(list);
      const path = join(home, "list.csv");
      for (const each of [home, path]) chmodSync(each, 0o777);
      chownSync(path, 1000, 2000);
      const outcome = await idv(["emails", "-q", "-I", "list.csv"], { home, uid: 65_534 });
      const reason = "only that user or root can replace it without changing its owner; write elsewhere with -o";
      const stderr = `idv: list.csv: it belongs to user 1000; ${reason}\n`;
      expect(outcome).toMatchObject({ code: 6, stderr });
      expect(statSync(path).uid).toBe(1000);
      expect(readFileSync(path, "utf8")).toBe(list["list.csv"]);
    },
  );

  test("must not be read-only with -o", async () => {
    const home = folderOf({ ...list, "out.csv": "old" }, 0o444);
    chmodSync(home, 0o777);
    const outcome = await idv(["emails", "-q", "list.csv", "-o", "out.csv"], { home, ...asSomebody });
    const stderr = "idv: out.csv: is read-only; make it writable, or write elsewhere with -o\n";
    expect(outcome).toMatchObject({ code: 6, stderr });
    expect(readFileSync(join(home, "out.csv"), "utf8")).toBe("old");
  });

  test.each([
    ["-o", ["-o", "link"]],
    ["the file of bad rows", ["--bad-rows", "skip:link"]],
  ])("cannot be a link to the quota file with %s", async (_, args) => {
    const home = folderOf(list);
    expect((await idv(["quota", "set", "--limit", "9"], { home })).code).toBe(0);
    symlinkSync(join("state", "idv", "quota.db"), join(home, "link"));
    const outcome = await idv(["emails", "-q", "list.csv", ...args], { home });
    const reason = /^idv: link: cannot be the (output|file of bad rows) and the quota file at once\n$/;
    expect(outcome).toMatchObject({ code: 2, stderr: expect.stringMatching(reason) });
    expect((await idv(["quota", "show"], { home })).stdout).toContain("limit:   9");
  });
});

test("the next run in a folder removes the temporary file of a killed run", async () => {
  const home = folderOf(list);
  const temporary = () => temporaryIn(home);
  await killedWhen(startOpen(home, "out.csv"), () => temporary().length === 1);
  expect(temporary()).toHaveLength(1);
  const running = startOpen(home, "other.csv");
  // Its own file takes the place of the abandoned one.
  await expect.poll(() => temporary().join().includes(`-${running.pid}-`)).toBe(true);
  expect((await idv(["emails", "-q", "list.csv", "-o", "out.csv"], { home })).code).toBe(0);
  // The file of the live run stays.
  expect(temporary()).toHaveLength(1);
  running.stdin?.end();
  await once(running, "exit");
  expect(temporary()).toEqual([]);
  expect(existsSync(join(home, "other.csv"))).toBe(true);
});
