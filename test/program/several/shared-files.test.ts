/** Covers files that several programs use at once: no row is lost and no process hangs. */
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { lockStore } from "../../support/lock-store.js";
import { finished, idv, startIdv } from "../../support/run-idv.js";
import { createKey, post, request, serve } from "../../support/service.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { some } from "../../support/tier.js";

const rows = (count: number, name = "ann") =>
  Array.from({ length: count }, (_, i) => `${name}${i}@larch-and-oak.com\n`).join("");

test("--split keeps the rows of one of several runs at once, and refuses the others", async () => {
  const home = temporaryFolder();
  const names = some(["a", "b", "c", "d", "e", "f"], 3);
  for (const name of names) writeFileSync(join(home, name), `email\n${rows(2000, name)}${name}@mailinator.com\n`);
  const outcomes = await Promise.all(names.map((name) => idv(["emails", "-q", name, "--split", "out"], { home })));
  const winner = outcomes.findIndex(({ code }) => code === 0);
  expect(readFileSync(join(home, "out/ok.csv"), "utf8")).toContain(`\n${names[winner]}0@larch-and-oak.com,ok\n`);
  expect(readFileSync(join(home, "out/disposable.csv"), "utf8")).toBe(
    `email,status\n${names[winner]}@mailinator.com,disposable\n`,
  );
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
    const exited = once(service.child, "exit");
    service.child.kill("SIGTERM");
    expect((await answer).status).toBe(503);
    expect(await exited).toEqual([0, null]);
    await release();
  });

  test("does not stop SIGINT from ending a run", async () => {
    const home = temporaryFolder();
    expect((await idv(["quota", "set", "--limit", "9"], { home })).code).toBe(0);
    writeFileSync(join(home, "list.csv"), `email\n${rows(3)}`);
    const release = await lockStore(join(home, "state/idv/quota.db"));
    const child = startIdv(["emails", "list.csv", "-o", "out.csv"], { home });
    const outcome = finished(child);
    await expect.poll(() => readdirSync(home).some((name) => name.endsWith(".tmp"))).toBe(true);
    child.kill("SIGINT");
    expect(await outcome).toMatchObject({
      code: 130,
      stderr:
        "idv: stopped by SIGINT; out.csv was not written; no units are used; to start again, run: idv emails list.csv -o out.csv\n",
    });
    await release();
  });
});

describe("a file that is replaced", () => {
  test.skipIf(process.getuid?.() !== 0)("keeps its owner, group and mode, and so does its backup", async () => {
    const home = temporaryFolder();
    const path = join(home, "list.csv");
    writeFileSync(path, `email\n${rows(3)}`, { mode: 0o660 });
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
      const home = temporaryFolder();
      const path = join(home, "list.csv");
      writeFileSync(path, "email\nann@larch-and-oak.com\n");
      for (const each of [home, path]) chmodSync(each, 0o777);
      chownSync(path, 1000, 2000);
      const { code, stderr } = await idv(["emails", "-q", "-I", "list.csv"], { home, uid: 65_534 });
      expect({ code, stderr }).toEqual({
        code: 6,
        stderr:
          "idv: list.csv: it belongs to user 1000; only that user or root can replace it without changing its owner; write elsewhere with -o\n",
      });
      expect(statSync(path).uid).toBe(1000);
      expect(readFileSync(path, "utf8")).toBe("email\nann@larch-and-oak.com\n");
    },
  );

  test("must not be read-only with -o", async () => {
    const home = temporaryFolder();
    writeFileSync(join(home, "list.csv"), "email\nann@larch-and-oak.com\n");
    writeFileSync(join(home, "out.csv"), "old", { mode: 0o444 });
    chmodSync(home, 0o777);
    // Root may write anywhere, so run as another user.
    const asSomebody = process.getuid?.() === 0 ? { uid: 65_534 } : {};
    const { code, stderr } = await idv(["emails", "-q", "list.csv", "-o", "out.csv"], { home, ...asSomebody });
    expect({ code, stderr }).toEqual({
      code: 6,
      stderr: "idv: out.csv: is read-only; make it writable, or write elsewhere with -o\n",
    });
    expect(readFileSync(join(home, "out.csv"), "utf8")).toBe("old");
  });

  test.each([
    ["-o", ["-o", "link"]],
    ["the file of bad rows", ["--bad-rows", "skip:link"]],
  ])("cannot be a link to the quota file with %s", async (_, args) => {
    const home = temporaryFolder();
    writeFileSync(join(home, "list.csv"), "email\nann@larch-and-oak.com\n");
    expect((await idv(["quota", "set", "--limit", "9"], { home })).code).toBe(0);
    symlinkSync(join("state", "idv", "quota.db"), join(home, "link"));
    const { code, stderr } = await idv(["emails", "-q", "list.csv", ...args], { home });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^idv: link: cannot be the (output|file of bad rows) and the quota file at once\n$/);
    expect((await idv(["quota", "show"], { home })).stdout).toContain("limit:   9");
  });
});

test("the next run in a folder removes the temporary file of a killed run", async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, "list.csv"), "email\nann@larch-and-oak.com\n");
  const temporary = () => readdirSync(home).filter((name) => name.endsWith(".tmp"));
  const kill = async () => {
    const child = startIdv(["emails", "-o", "out.csv"], { home });
    child.stdin?.on("error", () => {});
    child.stdin?.write(rows(20_000));
    const before = temporary().length;
    await expect.poll(() => temporary().length).toBe(before + 1);
    return child;
  };
  const killed = await kill();
  killed.kill("SIGKILL");
  await once(killed, "exit");
  expect(temporary()).toHaveLength(1);
  const running = startIdv(["emails", "-o", "other.csv"], { home });
  running.stdin?.on("error", () => {});
  running.stdin?.write(rows(20_000));
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
