/** Covers idv state: what is exported is imported whole, and a key works after the move. */
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, test } from "vitest";
import { hasPostgres, startPostgres } from "../../support/postgres.js";
import { idv } from "../../support/run-idv.js";
import { post, serve } from "../../support/service.js";
import { createKeyIn, jsonOf, usageIn } from "../../support/states.js";
import { folderOf, temporaryFolder } from "../../support/temporary-folder.js";
import { isFull, times } from "../../support/tier.js";

const validate = (url: string, key: string) =>
  post(`${url}/emails/validate`, key, { emails: ["ann@larch-and-oak.com"] }, { "idempotency-key": "k" });

test("a state is moved, with its usage and stored answers, in a file for its owner only", async () => {
  const home = temporaryFolder();
  const [from, to] = [join(home, "a.db"), join(home, "b.db")];
  const key = await createKeyIn(from, "--limit", "10");
  const [{ id }] = await jsonOf(["keys", "list", "--state", from]);
  await idv(["keys", "rotate", id, "--grace", "24h", "--state", from], { home });
  const before = await serve(home, "-q", "--state", from);
  expect((await validate(before.url, key)).status).toBe(200);
  await before.kill();
  const file = join(home, "state.jsonl");
  const parts = "1 key, 1 quota, 1 line of usage, 1 stored answer, 2 lines of the audit";
  const exported = await idv(["state", "export", "--state", from, "-o", file], { home });
  expect(exported).toEqual({ code: 0, stdout: "", stderr: `idv: exported ${parts}\n` });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).not.toContain(key);
  const imported = await idv(["state", "import", file, "--state", to], { home });
  expect(imported.stderr).toBe(`idv: imported ${parts}\n`);
  const after = await serve(home, "-q", "--state", to);
  expect((await validate(after.url, key)).status).toBe(200);
  await after.kill();
  // The Idempotency-Key was stored: nothing was charged again.
  expect(await jsonOf(["keys", "list", "--state", to])).toMatchObject([{ used: 1 }]);
  const again = await idv(["state", "export", "--state", to], { home });
  expect(again.stdout).toBe(readFileSync(file, "latin1"));
});

test("a state whose numbers agree passes its check, and each damage of them is named", async () => {
  const home = temporaryFolder();
  const state = join(home, "a.db");
  const key = await createKeyIn(state, "--name", "shop", "--limit", "10");
  const { url, kill } = await serve(home, "-q", "--state", state);
  expect((await validate(url, key)).status).toBe(200);
  await kill();
  const check = () => idv(["state", "check", "--state", state], { home });
  const agree = "idv: quotas, usage and stored answers agree\n";
  expect(await check()).toMatchObject({ code: 0, stderr: agree });
  const [{ id }] = await jsonOf(["keys", "list", "--state", state]);
  const database = new DatabaseSync(state);
  database.exec("UPDATE quota SET used = 2");
  expect(await check()).toMatchObject({
    code: 6,
    stderr: `idv: the quota of key ${id} has counted 2 units, and the usage has 1; was its period changed?
idv: the numbers of the state disagree; restore a backup, or report it\n`,
  });
  database.exec("UPDATE quota SET used = 0; DELETE FROM usage");
  expect((await check()).stderr).toContain(`the stored answers of ${id} have 1 units, and its usage of a day only 0`);
  const day = Math.floor(Date.now() / 86_400_000) * 86_400_000;
  database.exec(`INSERT INTO usage_sum VALUES (86400000, ${day}, '${id}', 'email', 'ok', 5)`);
  expect((await check()).stderr).toMatch(/the sums of \S+ have 5 units, and its hours 0/);
  database.close();
  const file = join(home, "state.jsonl");
  await idv(["state", "export", "--state", state, "-o", file], { home });
  const checkFile = () => idv(["state", "check", file], { home });
  expect(await checkFile()).toMatchObject({ code: 0, stderr: expect.stringContaining("the file is whole: 1 key") });
  writeFileSync(file, readFileSync(file, "utf8").replace('"shop"', '"Shop"'));
  const changed = expect.stringContaining("the last line does not match the rows above it");
  expect(await checkFile()).toMatchObject({ code: 6, stderr: changed });
});

test("an export under load restores to the exact units of one moment", async () => {
  const home = temporaryFolder();
  const state = join(home, "service.db");
  const secret = await createKeyIn(state);
  const { url } = await serve(home, "-q", "--state", state);
  let [sent, told, isOver] = [0, 0, false];
  const clients = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const emails = Array.from({ length: 5 }, () => `n${sent++}@larch-and-oak.com`);
      if ((await post(`${url}/emails/validate`, secret, { emails })).status === 200) told += emails.length;
    }
  });
  const usedIn = async (path: string) => (await jsonOf(["keys", "list", "--state", path], { home }))[0].used;
  for (let nth = 0; nth < times(20, 3); nth++) {
    await expect.poll(() => told).toBeGreaterThan(100 * (nth + 1));
    const [before, file, restored] = [told, join(home, `${nth}.jsonl`), join(home, `${nth}.db`)];
    expect((await idv(["state", "export", "--state", state, "-o", file], { home })).code).toBe(0);
    const after = sent;
    expect((await idv(["state", "check", file], { home })).code).toBe(0);
    expect((await idv(["state", "import", file, "--state", restored], { home })).code).toBe(0);
    expect((await idv(["state", "check", "--state", restored], { home })).code).toBe(0);
    const used = await usedIn(restored);
    expect(used % 5).toBe(0);
    expect(used).toBeGreaterThanOrEqual(before);
    expect(used).toBeLessThanOrEqual(after);
    expect(await usageIn(restored)).toBe(used);
  }
  isOver = true;
  await Promise.all(clients);
  expect(await usedIn(state)).toBe(told);
});

test("an export that was cut anywhere is refused, and nothing is imported", async () => {
  const home = temporaryFolder();
  for (const name of ["a", "b", "c"]) await idv(["keys", "create", "--name", name], { home });
  const { stdout } = await idv(["state", "export"], { home });
  const lines = stdout.split("\n");
  for (const count of [1, 4, lines.length - 2]) {
    const stdin = lines.slice(0, count).join("\n");
    const cut = await idv(["state", "import", "--state", "new.db"], { home, stdin });
    expect(cut).toMatchObject({ code: 6, stderr: expect.stringContaining("is cut off") });
    expect((await idv(["keys", "list", "--state", "new.db"], { home })).stdout).toBe("");
  }
  const whole = await idv(["state", "import", "--state", "new.db"], { home, stdin: stdout });
  expect(whole.stderr).toContain("imported 3 keys, 3 quotas, 0 lines of usage, 0 stored answers, 3 lines of the audit");
});

test("a state in use, and a file that is not there, are refused in one line", async () => {
  const home = temporaryFolder();
  await idv(["keys", "create", "--name", "shop"], { home });
  await idv(["state", "export", "-o", "state.jsonl"], { home });
  const used = await idv(["state", "import", "state.jsonl"], { home });
  expect(used.stderr).toContain("the state has keys or quotas already; import into a new one\n");
  const absent = await idv(["state", "import", "none.jsonl", "--state", "new.db"], { home });
  expect(absent.stderr).toMatch(/^idv: none\.jsonl: cannot be read: .*\n$/);
});

describe("a command that reads or changes a state", () => {
  const commands = [
    ...["usage", "audit", "dashboard", "dashboard --sign-out-all", "state check", "state export"],
    ...["keys list", "keys set 1 --limit 2", "keys revoke 1", "keys rotate 1"],
  ];

  test("creates none", async () => {
    const home = folderOf({ "empty.db": "" });
    for (const command of commands) {
      for (const path of ["none/a.db", "empty.db"]) {
        const outcome = await idv([...command.split(" "), "--state", path], { home });
        const advice = "idv serve and idv keys create make one";
        const stderr = `idv: ${path}: there is no such file; ${advice}\n`;
        expect(outcome, command).toEqual({ code: 6, stdout: "", stderr });
      }
    }
    expect(existsSync(join(home, "none"))).toBe(false);
    expect(statSync(join(home, "empty.db")).size).toBe(0);
  });

  test.skipIf(!hasPostgres || !isFull)("creates no tables", async () => {
    const postgres = await startPostgres();
    const state = await postgres.create();
    for (const command of ["usage", "keys list"]) {
      const stderr = expect.stringContaining("there is no state in this database; idv serve and idv keys create");
      expect(await idv([...command.split(" "), "--state", state]), command).toMatchObject({ code: 6, stderr });
    }
    await createKeyIn(state);
    expect((await idv(["keys", "list", "--state", state])).code).toBe(0);
  });
});
