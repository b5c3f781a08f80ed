/** Covers idv state: what is exported is imported whole, and a key works after the move. */
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, test } from "vitest";
import { hasPostgres, startPostgres } from "../../support/postgres.js";
import { idv } from "../../support/run-idv.js";
import { serve } from "../../support/service.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { isFull } from "../../support/tier.js";

async function validate(url: string, key: string): Promise<Response> {
  return fetch(`${url}/emails/validate`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "idempotency-key": "k" },
    body: JSON.stringify({ emails: ["ann@larch-and-oak.com"] }),
  });
}

test("a state is moved, with its usage and stored answers, in a file for its owner only", async () => {
  const home = temporaryFolder();
  const [from, to] = [join(home, "a.db"), join(home, "b.db")];
  const created = await idv(["keys", "create", "--name", "shop", "--limit", "10", "--state", from], { home });
  const key = created.stdout.trim();
  const { id } = JSON.parse((await idv(["keys", "list", "--json", "--state", from], { home })).stdout);
  await idv(["keys", "rotate", id, "--grace", "24h", "--state", from], { home });
  const before = await serve(home, "-q", "--state", from);
  expect((await validate(before.url, key)).status).toBe(200);
  await before.kill();
  const file = join(home, "state.jsonl");
  const exported = await idv(["state", "export", "--state", from, "-o", file], { home });
  expect(exported).toEqual({
    ...{ code: 0, stdout: "" },
    stderr: "idv: exported 1 key, 1 quota, 1 line of usage, 1 stored answer, 2 lines of the audit\n",
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).not.toContain(key);
  const imported = await idv(["state", "import", file, "--state", to], { home });
  expect(imported.stderr).toBe(
    "idv: imported 1 key, 1 quota, 1 line of usage, 1 stored answer, 2 lines of the audit\n",
  );
  const after = await serve(home, "-q", "--state", to);
  expect((await validate(after.url, key)).status).toBe(200);
  await after.kill();
  // The Idempotency-Key was stored: nothing was charged again.
  expect((await idv(["keys", "list", "--json", "--state", to], { home })).stdout).toContain('"used":1');
  const again = await idv(["state", "export", "--state", to], { home });
  expect(again.stdout).toBe(readFileSync(file, "latin1"));
});

const first = '{"idv":"state","version":3}';

test("a state whose numbers agree passes its check, and each damage of them is named", async () => {
  const home = temporaryFolder();
  const state = join(home, "a.db");
  const created = await idv(["keys", "create", "--name", "shop", "--limit", "10", "--state", state], { home });
  const { url, kill } = await serve(home, "-q", "--state", state);
  expect((await validate(url, created.stdout.trim())).status).toBe(200);
  await kill();
  const check = async () => {
    const { code, stderr } = await idv(["state", "check", "--state", state], { home });
    return { code, stderr };
  };
  expect(await check()).toEqual({ code: 0, stderr: "idv: quotas, usage and stored answers agree\n" });
  const { id } = JSON.parse((await idv(["keys", "list", "--json", "--state", state], { home })).stdout);
  const database = new DatabaseSync(state);
  database.exec("UPDATE quota SET used = 2");
  expect(await check()).toEqual({
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
  const whole = await idv(["state", "check", file], { home });
  expect([whole.code, whole.stderr]).toEqual([0, expect.stringContaining("the file is whole: 1 key")]);
  writeFileSync(file, readFileSync(file, "utf8").replace('"shop"', '"Shop"'));
  const changed = await idv(["state", "check", file], { home });
  expect([changed.code, changed.stderr]).toEqual([
    6,
    expect.stringContaining("its last line is not that of these rows"),
  ]);
});

test("an export that was cut anywhere is refused, and nothing is imported", async () => {
  const home = temporaryFolder();
  for (const name of ["a", "b", "c"]) await idv(["keys", "create", "--name", name], { home });
  const { stdout } = await idv(["state", "export"], { home });
  const lines = stdout.split("\n").length - 1;
  for (const count of [1, 4, lines - 1]) {
    const stdin = stdout.split("\n").slice(0, count).join("\n");
    const cut = await idv(["state", "import", "--state", "new.db"], { home, stdin });
    expect([cut.code, cut.stderr]).toEqual([6, expect.stringContaining("is cut off")]);
    expect((await idv(["keys", "list", "--state", "new.db"], { home })).stdout).toBe("");
  }
  const whole = await idv(["state", "import", "--state", "new.db"], { home, stdin: stdout });
  expect(whole.stderr).toContain("imported 3 keys, 3 quotas, 0 lines of usage, 0 stored answers, 3 lines of the audit");
});

test("a state in use, and a file that is not there, are refused in one line", async () => {
  const home = temporaryFolder();
  await idv(["keys", "create", "--name", "shop"], { home });
  writeFileSync(join(home, "state.jsonl"), `${first}\n`);
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
    const home = temporaryFolder();
    writeFileSync(join(home, "empty.db"), "");
    for (const command of commands) {
      for (const path of ["none/a.db", "empty.db"]) {
        const { code, stdout, stderr } = await idv([...command.split(" "), "--state", path], { home });
        expect([code, stdout, stderr], command).toEqual([
          ...[2, ""],
          `idv: ${path}: there is no such file; idv serve, idv keys create and idv quota set create one\n`,
        ]);
      }
    }
    expect(existsSync(join(home, "none"))).toBe(false);
    expect(statSync(join(home, "empty.db")).size).toBe(0);
  });

  test.skipIf(!hasPostgres || !isFull)("creates no tables", async () => {
    const postgres = await startPostgres();
    const state = await postgres.create();
    for (const command of ["usage", "keys list"]) {
      const { code, stderr } = await idv([...command.split(" "), "--state", state]);
      expect([code, stderr], command).toEqual([
        6,
        expect.stringContaining("there is no state in this database; idv serve, idv keys create"),
      ]);
    }
    expect((await idv(["keys", "create", "--name", "a", "--state", state])).code).toBe(0);
    expect((await idv(["keys", "list", "--state", state])).code).toBe(0);
  });
});
